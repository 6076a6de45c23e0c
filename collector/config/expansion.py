"""`${env:NAME}` and its relatives in configuration values, as in the Collector.

`${NAME}` and `${env:NAME}` stand for an environment variable, `${env:NAME:-default}` for one with a default,
`${file:PATH}` for the content of a file; `$$` is a dollar sign.  A value that is nothing but one expansion is read as
YAML, and keeps its text for fields that want text; within a longer text the expansion is text.  What comes out of a
variable or file is not expanded again.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path as FilePath

from collector.config.problems import ConfigError, Path, Problem, place_of
from collector.config.yaml_text import parse_yaml

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)


@dataclass(frozen=True, slots=True)
class Expanded:
    """A value that was nothing but one expansion: as YAML reads it, and as it was written. Never shown in messages."""

    value: object
    text: str = field(repr=False)


class _ExpansionError(Exception):
    def __init__(self, what: str, remedy: str) -> None:
        super().__init__(what)
        self.what = what
        self.remedy = remedy


class Expander:
    """Expands all values of a document, and keeps what went wrong or deserves a note.

    Args:
        environment: the environment variables.
        places: where keys were written, for messages.
        read_file: gives the text of a file; raises OSError.
    """

    def __init__(
        self,
        environment: Mapping[str, str],
        places: Mapping[Path, str],
        read_file: Callable[[str], str] = lambda name: FilePath(name).read_text(encoding="utf-8"),
    ) -> None:
        self._environment = environment
        self._places = places
        self._read_file = read_file
        self.problems: list[Problem] = []
        self.notes: list[str] = []

    def expand(self, value: object, path: Path = ()) -> object:
        """The same structure with every text expanded."""
        if isinstance(value, dict):
            return {key: self.expand(child, (*path, key)) for key, child in value.items()}
        if isinstance(value, list):
            return [self.expand(child, (*path, index)) for index, child in enumerate(value)]
        if not isinstance(value, str) or "$" not in value:
            return value
        try:
            return self._expand_text(value)
        except _ExpansionError as error:
            self.problems.append(Problem(path, error.what, error.remedy, place_of(self._places, path)))
            return None

    def _expand_text(self, text: str) -> object:
        end = _closing_brace(text, 0) if text.startswith("${") else -1
        if end == len(text) - 1 and end > 0:
            content = self._resolve(text[2:end])
            return Expanded(_as_yaml(content), content)
        return self._inline(text)

    def _inline(self, text: str) -> str:
        parts: list[str] = []
        position = 0
        while (dollar := text.find("$", position)) >= 0:
            parts.append(text[position:dollar])
            if text.startswith("$$", dollar):
                parts.append("$")
                position = dollar + 2
            elif text.startswith("${", dollar):
                end = _closing_brace(text, dollar)
                parts.append(self._resolve(text[dollar + 2 : end]))
                position = end + 1
            else:
                parts.append("$")
                position = dollar + 1
        return "".join(parts) + text[position:]

    def _resolve(self, expression: str) -> str:
        scheme, colon, rest = expression.partition(":")
        if colon and scheme == "file":
            name = self._inline(rest)
            try:
                return self._read_file(name).removesuffix("\n")
            except (OSError, UnicodeDecodeError) as error:
                reason = error.strerror if isinstance(error, OSError) else "not UTF-8 text"
                raise _ExpansionError(f"{name} can't be read: {reason}", "check the path and its permissions") from None
        if not colon or rest.startswith("-"):
            scheme, rest = "env", expression
        if scheme != "env":
            raise _ExpansionError(f"${{{scheme}:…}} is not known", "use ${env:NAME}, ${file:PATH}, or $$ for a dollar")
        name, has_default, default = rest.partition(":-")
        if not _NAME.fullmatch(name):
            raise _ExpansionError(
                f"{name!r} is not the name of an environment variable",
                "use letters, digits and underscores, or $$ for a dollar sign",
            )
        found = self._environment.get(name)
        if found is not None and (found or not has_default):
            return found
        if not has_default:
            self.notes.append(f"environment variable {name} is not set; it is read as empty")
            return ""
        return self._inline(default)


def _closing_brace(text: str, start: int) -> int:
    depth = 0
    position = start
    while position < len(text):
        if text.startswith("${", position):
            depth += 1
            position += 2
            continue
        if text[position] == "}":
            depth -= 1
            if depth == 0:
                return position
        position += 1
    raise _ExpansionError("an expansion that begins with ${ is not closed", "close it with }, or write $$ for a dollar")


def _as_yaml(content: str) -> object:
    try:
        return parse_yaml(content, "expansion").value
    except ConfigError:
        return content
