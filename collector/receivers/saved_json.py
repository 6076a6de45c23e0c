"""The JSON values in a file: one, one a line, or several written one after the other over many lines.

Goes in: the bytes. Comes out: each value with its place, or what is wrong there. Which of the three it is, is seen from
the bytes; a value that is broken costs itself alone.  Numbers that are none (NaN, as tables written by Python have it
in empty cells) are null.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from dataclasses import dataclass

from collector.json_text import JsonTextError, read_json

_NO_NUMBER = re.compile(rb'("[^"\\]*+(?:\\.[^"\\]*+)*+")|-?\b(?:NaN|Infinity)\b', re.DOTALL)
# Writers that indent end a value with a bracket at the beginning of a line, and nothing inside it begins like that.
_END_OF_VALUE = re.compile(rb"^[}\]][ \t\r]*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class JsonValue:
    """A value. `position` is empty where it is the whole file, else such as `line 3`."""

    position: str
    value: object


@dataclass(frozen=True, slots=True)
class JsonFault:
    """Something that is no JSON, and where."""

    position: str
    message: str


def json_values(content: bytes, *, as_lines: bool) -> Iterator[JsonValue | JsonFault]:
    """The values, in order.

    Args:
        content: the file.
        as_lines: whether the file says of itself that it has one value a line.
    """
    try:
        value = _read(content)
    except JsonTextError as error:
        if as_lines or _starts_with_a_line(content):
            yield from _lines(content)
        elif _starts_with_a_value(content):
            yield from _one_after_the_other(content)
        else:
            yield JsonFault(f"line {error.line}, column {error.column}", str(error))
    else:
        del content
        yield JsonValue("", value)


def _starts_with_a_line(content: bytes) -> bool:
    """Whether the first line alone is JSON, in a file that as a whole isn't."""
    return _is_json(next((line for line in io.BytesIO(content) if line.strip()), b""))


def _starts_with_a_value(content: bytes) -> bool:
    end = _END_OF_VALUE.search(content)
    return end is not None and _is_json(content[: end.end()])


def _is_json(text: bytes) -> bool:
    try:
        _read(text)
    except JsonTextError:
        return False
    return True


def _lines(content: bytes) -> Iterator[JsonValue | JsonFault]:
    for number, line in enumerate(io.BytesIO(content), start=1):
        if not line.strip():
            continue
        try:
            yield JsonValue(f"line {number}", _read(line))
        except JsonTextError as error:
            yield JsonFault(f"line {number}, column {error.column}", str(error))


def _one_after_the_other(content: bytes) -> Iterator[JsonValue | JsonFault]:
    at, line = 0, 1
    while at < len(content):
        end = _END_OF_VALUE.search(content, at)
        before = line
        piece = content[at : end.end() if end is not None else len(content)]
        begins = line + piece[: len(piece) - len(piece.lstrip())].count(b"\n")
        at += max(len(piece), 1)
        line += piece.count(b"\n")
        if not piece.strip():
            continue
        try:
            yield JsonValue(f"line {begins}", _read(piece))
        except JsonTextError as error:
            yield JsonFault(f"line {before + error.line - 1}, column {error.column}", str(error))


def _read(text: bytes) -> object:
    try:
        return read_json(text)
    except JsonTextError:
        if b"NaN" not in text and b"Infinity" not in text:
            raise
        return read_json(_NO_NUMBER.sub(lambda found: found[1] or b"null", text))
