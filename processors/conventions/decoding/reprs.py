"""Python reprs of objects (`ChatMessage(role=..., blocks=[...])`), which some instrumentations write in place of data.

In goes a text, out comes plain data: an object becomes a plain object of its fields, an enumeration's member its value,
a class, function or address None.  The names of private fields lose their underscore.  The text is read token by token
in one pass and never evaluated, so that it may be of any size; what isn't a repr from its first to its last character
is no repr at all.
"""

from __future__ import annotations

import re

from evaluators.cases import JsonValue
from processors.conventions.decoding.values import literal

MAX_REPR_CHARS = 1_000_000
_MAX_DEPTH = 60
_STARTS = re.compile(r"[A-Za-z][\w.]*\(")
_FIELD = re.compile(r"([A-Za-z_]\w*)=")
_SPACE = re.compile(r"\s*")
_STRING = re.compile(r"[rbuRBU]{0,2}(?:'[^'\\]*(?:\\.[^'\\]*)*'|\"[^\"\\]*(?:\\.[^\"\\]*)*\")", re.DOTALL)
_NUMBER = re.compile(r"[-+]?(?:\d[\d_]*(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?")
_NAME = re.compile(r"[A-Za-z][\w.]*")
_WORDS: dict[str, JsonValue] = {"True": True, "False": False, "None": None, "null": None, "true": True, "false": False}
_MOST_DIGITS = 300


def from_repr(text: str) -> dict[str, JsonValue] | None:
    """The fields in the repr of an object; None when the text is none, or is too long to be looked at."""
    text = text.strip()
    if len(text) > MAX_REPR_CHARS or not text.endswith(")") or _STARTS.match(text) is None:
        return None
    return _fields(_whole(text))


def listed_in(text: str) -> list[JsonValue]:
    """The items in the repr of a list of data and objects; an empty list when the text is none."""
    if len(text) > MAX_REPR_CHARS or not text.startswith("["):
        return []
    found = _whole(text.strip())
    return found if isinstance(found, list) else []


def fields_of(text: str) -> dict[str, JsonValue] | None:
    """The fields in a text that lists them without a class round them, as pydantic's models print themselves.

    Those from the first that can't be read on (fields of foreign classes print as they like) are left out; None when
    none can be read.
    """
    if len(text) > MAX_REPR_CHARS:
        return None
    reader = _Reader(text)
    found: dict[str, JsonValue] = {}
    try:
        while (field := reader.take(_FIELD)) is not None:
            found[_public(field)] = reader.value(0)
            reader.skip()
    except _NoReprError:
        pass
    return found or None


def _whole(text: str) -> JsonValue:
    reader = _Reader(text)
    try:
        found = reader.value(0)
        reader.skip()
    except _NoReprError:
        return None
    return found if reader.at == len(text) else None


def _fields(value: JsonValue) -> dict[str, JsonValue] | None:
    return value if isinstance(value, dict) and value else None


def _public(name: str) -> str:
    return name.removesuffix("=").lstrip("_")


class _NoReprError(Exception):
    """The text isn't what Python's repr writes."""


class _Reader:
    """A place in a text, and what can be read from there."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0

    def skip(self) -> None:
        """Go on to the next character that isn't white space."""
        found = _SPACE.match(self.text, self.at)
        self.at = found.end() if found is not None else self.at

    def take(self, pattern: re.Pattern[str]) -> str | None:
        """The text that matches here, and go on behind it."""
        found = pattern.match(self.text, self.at)
        if found is None:
            return None
        self.at = found.end()
        return found.group()

    def value(self, depth: int) -> JsonValue:
        """The value that begins here."""
        self.skip()
        if depth > _MAX_DEPTH or self.at >= len(self.text):
            raise _NoReprError
        char = self.text[self.at]
        if char in "[(":
            return [item for _, item in self._items("]" if char == "[" else ")", depth)]
        if char == "{":
            return self._braces(depth)
        if char == "<":
            return self._angled(depth)
        literal = self.take(_STRING)
        if literal is not None:
            return _literal(literal)
        number = self.take(_NUMBER)
        if number is not None:
            return _literal(number) if len(number) <= _MOST_DIGITS else number
        name = self.take(_NAME)
        if name is None:
            raise _NoReprError
        if self.text.startswith("(", self.at):
            return self._called(depth)
        return _WORDS.get(name, name)

    def _called(self, depth: int) -> JsonValue:
        start = self.at
        items = self._items(")", depth)
        named = {_public(name): item for name, item in items if name is not None}
        if named:
            return named
        if len(items) == 1 or (items and isinstance(items[-1][1], dict)):
            return items[-1][1]
        return self.text[start + 1 : self.at - 1] if items else {}

    def _items(self, closing: str, depth: int) -> list[tuple[str | None, JsonValue]]:
        self.at += 1
        found: list[tuple[str | None, JsonValue]] = []
        while True:
            self.skip()
            if self.text.startswith(closing, self.at):
                self.at += 1
                return found
            name = self.take(_FIELD) if closing == ")" else None
            found.append((name, self.value(depth + 1)))
            self._comma(closing)

    def _braces(self, depth: int) -> JsonValue:
        self.at += 1
        keyed: dict[str, JsonValue] = {}
        listed: list[JsonValue] = []
        while True:
            self.skip()
            if self.text.startswith("}", self.at):
                self.at += 1
                return listed if listed else keyed
            key = self.value(depth + 1)
            self.skip()
            if self.text.startswith(":", self.at):
                self.at += 1
                keyed[str(key)] = self.value(depth + 1)
            else:
                listed.append(key)
            self._comma("}")

    def _comma(self, closing: str) -> None:
        self.skip()
        if self.text.startswith(",", self.at):
            self.at += 1
        elif not self.text.startswith(closing, self.at):
            raise _NoReprError

    def _angled(self, depth: int) -> JsonValue:
        """`<Role.USER: 'user'>` is its value, `<function f at 0x1f>` and the like are nothing that can be known."""
        name = _NAME.match(self.text, self.at + 1)
        if name is not None and self.text.startswith(": ", name.end()):
            self.at = name.end() + 2
            found = self.value(depth + 1)
            self.skip()
            if self.text.startswith(">", self.at):
                self.at += 1
                return found
            raise _NoReprError
        open_brackets = 0
        for at in range(self.at, min(len(self.text), self.at + 2000)):
            open_brackets += {"<": 1, ">": -1}.get(self.text[at], 0)
            if open_brackets == 0:
                self.at = at + 1
                return None
        raise _NoReprError


def _literal(text: str) -> JsonValue:
    try:
        return literal(text)
    except (ValueError, SyntaxError):
        raise _NoReprError from None
