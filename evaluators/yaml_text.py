"""YAML text → plain values with the line of every key.

In: text.  Out: mappings, lists and scalars as the Collector's YAML reader types them (only true and false are booleans,
no base-60 numbers, no dates) and a table from key path to line.  Keys given twice, keys that aren't text and values
that contain themselves are faults; it never keeps the last of two silently.  What a text costs is bounded, whatever its
aliases multiply and however deep it nests.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import yaml

Path: TypeAlias = tuple[str | int, ...]
"""Where something is in a document: keys, and positions in lists."""

MOST_VALUES = 200_000
"""So many values, with those that aliases repeat, are one document."""

_MERGE_TAG = "tag:yaml.org,2002:merge"


class _CoreLoader(yaml.SafeLoader):
    """SafeLoader with the core schema of YAML 1.2."""


_CoreLoader.yaml_implicit_resolvers = {}
# A leading zero makes text, not an octal number: an id such as 0123 stays what was written.
_WHOLE = r"(?:0|[1-9][0-9]*)"
for _tag, _pattern, _first in (
    ("bool", r"(?:true|True|TRUE|false|False|FALSE)", "tTfF"),
    ("null", r"(?:~|null|Null|NULL|)", ["~", "n", "N", ""]),
    ("int", rf"[-+]?{_WHOLE}|0x[0-9a-fA-F]+", "-+0123456789"),
    ("float", rf"[-+]?(?:{_WHOLE}\.[0-9]*|\.[0-9]+|{_WHOLE}(?=[eE]))(?:[eE][-+]?[0-9]+)?", "-+.0123456789"),
    ("float", r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)", "-+."),
    ("merge", r"<<", "<"),
):
    _CoreLoader.add_implicit_resolver(f"tag:yaml.org,2002:{_tag}", re.compile(rf"^(?:{_pattern})$"), [*_first])


@dataclass(frozen=True, slots=True)
class YamlFault:
    """One thing that is wrong, half a sentence each with its remedy. `line` and `column` from 1, where known."""

    path: Path
    what: str
    remedy: str
    line: int | None = None
    column: int | None = None


class YamlError(Exception):
    """The text can't be read."""

    def __init__(self, faults: Sequence[YamlFault]) -> None:
        self.faults = tuple(faults)
        super().__init__("; ".join(fault.what for fault in faults))


@dataclass(frozen=True, slots=True)
class YamlDocument:
    """A value, and the line from 1 in which each of its keys was written."""

    value: object
    lines: dict[Path, int] = field(default_factory=dict)


def read_yaml(text: str) -> YamlDocument:
    """Read one YAML document; an empty one is null.

    Raises:
        YamlError: syntax errors with line and column, duplicate keys, keys that aren't text, too much of it.
    """
    try:
        loader = _CoreLoader(text)
    except yaml.reader.ReaderError as error:
        what = f"not valid YAML: a character that isn't allowed at position {error.position}"
        raise YamlError([YamlFault((), what, "remove it")]) from None
    try:
        node = loader.get_single_node()
        if node is None:
            return YamlDocument(None)
        reader = _Reader(loader)
        value = reader.read(node, ())
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = (mark.line + 1, mark.column + 1) if mark else (None, None)
        fault = YamlFault((), f"not valid YAML: {error.problem}", "correct the syntax", *where)
        raise YamlError([fault]) from None
    except RecursionError:
        raise YamlError([YamlFault((), "nests too deeply", "write it with fewer levels")]) from None
    finally:
        loader.dispose()
    if reader.faults:
        raise YamlError(reader.faults)
    return YamlDocument(value, reader.lines)


class _Reader:
    def __init__(self, loader: _CoreLoader) -> None:
        self._loader = loader
        self._open: set[int] = set()
        self._values = 0
        self.lines: dict[Path, int] = {}
        self.faults: list[YamlFault] = []

    def read(self, node: yaml.Node, path: Path) -> object:
        self.lines[path] = node.start_mark.line + 1
        self._values += 1
        if self._values > MOST_VALUES:
            what = f"has more than {MOST_VALUES:,} values once its aliases are written out"
            raise YamlError([YamlFault(path[:1], what, "shorten it", node.start_mark.line + 1)])
        if isinstance(node, yaml.ScalarNode):
            return self._scalar(node, path)
        if id(node) in self._open:
            self._fault(node, path, "this value contains itself", "write it out without the alias")
            return None
        self._open.add(id(node))
        try:
            if isinstance(node, yaml.MappingNode):
                return self._mapping(node, path)
            return [self.read(child, (*path, index)) for index, child in enumerate(node.value)]
        finally:
            self._open.discard(id(node))

    def _scalar(self, node: yaml.ScalarNode, path: Path) -> object:
        try:
            value: object = self._loader.construct_object(node)
        except (ValueError, LookupError, AttributeError):
            self._fault(node, path, "isn't what its type or form says, or a number too long to read", "correct it")
            return None
        return value

    def _mapping(self, node: yaml.MappingNode, path: Path) -> dict[str, object]:
        first_seen: dict[str, int] = {}
        for key_node, _ in node.value:
            if key_node.tag == _MERGE_TAG or not isinstance(key_node, yaml.ScalarNode):
                continue
            if key_node.value in first_seen:
                what = f"this key is already given in line {first_seen[key_node.value]}"
                self._fault(key_node, (*path, key_node.value), what, "keep one of the two")
            first_seen.setdefault(key_node.value, key_node.start_mark.line + 1)
        result = self._merged(node, path)
        for key_node, value_node in node.value:
            if key_node.tag == _MERGE_TAG:
                continue
            if not isinstance(key_node, yaml.ScalarNode):
                self._fault(key_node, path, "a key that isn't text", "use plain text as key")
                continue
            key = str(key_node.value)
            result[key] = self.read(value_node, (*path, key))
            self.lines[(*path, key)] = key_node.start_mark.line + 1
        return result

    def _merged(self, node: yaml.MappingNode, path: Path) -> dict[str, object]:
        """What `<<` brings in, of several maps the first that has a key."""
        result: dict[str, object] = {}
        for key_node, value_node in node.value:
            if key_node.tag != _MERGE_TAG:
                continue
            several = value_node.value if isinstance(value_node, yaml.SequenceNode) else [value_node]
            for one in several:
                if not isinstance(one, yaml.MappingNode):
                    self._fault(one, path, "<< merges something that is no map", "merge a map, or a list of maps")
                    continue
                found = self.read(one, path)
                assert isinstance(found, dict | None)
                result = {**(found or {}), **result}
        self.lines[path] = node.start_mark.line + 1
        return result

    def _fault(self, node: yaml.Node, path: Path, what: str, remedy: str) -> None:
        self.faults.append(YamlFault(path, what, remedy, node.start_mark.line + 1))
