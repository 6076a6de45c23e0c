"""YAML text → plain values with the line of every key.

In: text and the name it goes by in messages.  Out: mappings, lists and scalars as the Collector's YAML reader types
them (only true and false are booleans, no base-60 numbers, no dates) and a table from key path to place.  Keys given
twice, keys that aren't text and values that contain themselves are problems; it never keeps the last of two silently.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

import yaml

from collector.config.problems import ConfigError, Path, Problem

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
class Document:
    """A value read from one or several sources, and where each of its keys was written."""

    value: object
    places: dict[Path, str] = field(default_factory=dict)


def parse_yaml(text: str, name: str) -> Document:
    """Read one YAML document; an empty one is null.

    Raises:
        ConfigError: syntax errors with line and column, duplicate keys, keys that aren't text.
    """
    try:
        loader = _CoreLoader(text)
    except yaml.reader.ReaderError as error:
        what = f"not valid YAML: a character that isn't allowed at position {error.position}"
        raise ConfigError([Problem((), what, "remove it", name)]) from None
    try:
        node = loader.get_single_node()
        if node is None:
            return Document(None)
        reader = _Reader(loader, name)
        value = reader.read(node, ())
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = f"{name}, line {mark.line + 1}, column {mark.column + 1}" if mark else name
        raise ConfigError([Problem((), f"not valid YAML: {error.problem}", "correct the syntax", place)]) from None
    finally:
        loader.dispose()
    if reader.problems:
        raise ConfigError(reader.problems)
    return Document(value, reader.places)


class _Reader:
    def __init__(self, loader: _CoreLoader, name: str) -> None:
        self._loader = loader
        self._name = name
        self._open: set[int] = set()
        self.places: dict[Path, str] = {}
        self.problems: list[Problem] = []

    def read(self, node: yaml.Node, path: Path) -> object:
        self.places[path] = self._place(node)
        if isinstance(node, yaml.ScalarNode):
            value: object = self._loader.construct_object(node)
            return value
        if id(node) in self._open:
            self._problem(node, path, "this value contains itself", "write it out without the alias")
            return None
        self._open.add(id(node))
        try:
            if isinstance(node, yaml.MappingNode):
                return self._mapping(node, path)
            return [self.read(child, (*path, index)) for index, child in enumerate(node.value)]
        finally:
            self._open.discard(id(node))

    def _mapping(self, node: yaml.MappingNode, path: Path) -> dict[str, object]:
        first_seen: dict[str, int] = {}
        for key_node, _ in node.value:
            if key_node.tag == _MERGE_TAG or not isinstance(key_node, yaml.ScalarNode):
                continue
            if key_node.value in first_seen:
                what = f"this key is already given in line {first_seen[key_node.value]}"
                self._problem(key_node, (*path, key_node.value), what, "keep one of the two")
            first_seen.setdefault(key_node.value, key_node.start_mark.line + 1)
        self._loader.flatten_mapping(node)
        result: dict[str, object] = {}
        for key_node, value_node in node.value:
            if not isinstance(key_node, yaml.ScalarNode):
                self._problem(key_node, path, "a key that isn't text", "use plain text as key")
                continue
            key = str(key_node.value)
            result[key] = self.read(value_node, (*path, key))
            self.places[(*path, key)] = self._place(key_node)
        return result

    def _place(self, node: yaml.Node) -> str:
        return f"{self._name}, line {node.start_mark.line + 1}"

    def _problem(self, node: yaml.Node, path: Path, what: str, remedy: str) -> None:
        self.problems.append(Problem(path, what, remedy, self._place(node)))
