"""Reading JSON bytes that strangers sent: strict JSON fast, and the two flaws of text that must not cost a request.

Invalid UTF-8 and lone surrogate escapes come out of cut-off strings and old libraries. Each becomes U+FFFD; everything
else that isn't JSON is an error that says where.
"""

from __future__ import annotations

import re

import orjson

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_BACKSLASH = 0x5C
_MAX_SURROGATES = 500_000

_STRING = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)
# Many strings with what stands before each: a piece that is looked at in one go.
_PIECE = re.compile(rb'(?:[^"]*+' + _STRING.pattern + rb"){1,5000}", re.DOTALL)
_SURROGATE = re.compile(rb"\\u[dD]([89a-fA-F])[0-9a-fA-F]{2}")
_SECOND_HALF = re.compile(rb"\\u[dD][c-fC-F][0-9a-fA-F]{2}")
_FIRST_HALVES = b"89abAB"


class JsonTextError(Exception):
    """These bytes are no JSON text; the message says what is wrong, `line` and `column` where, from 1."""

    def __init__(self, message: str, line: int, column: int) -> None:
        super().__init__(message)
        self.line = line
        self.column = column


def read_json(text: bytes) -> object:
    """The value of a JSON text in UTF-8; of equal keys in one object the last counts.

    Numbers keep 64 bits; nesting is limited to 1024.

    Raises:
        JsonTextError: it is none.
    """
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError as error:
        # Only these flaws are repaired, so that other errors cost no second look at the text.
        if "surrogate" not in error.msg and "UTF-8" not in error.msg:
            raise _described(error) from None
        flaw = error
    repaired = _without_lone_surrogates(_in_utf8(text))
    if repaired is None:
        raise _described(flaw)
    try:
        return orjson.loads(repaired)
    except orjson.JSONDecodeError as error:
        raise _described(error) from None


def has_more_values(text: bytes, limit: int) -> bool:
    """Whether a JSON text holds more than `limit` values, counted by the marks before them: what it would take in
    memory, known before it is read.
    """
    if _marks(text) <= limit:
        return False
    # Marks within strings are none. Piece by piece, so that other threads get their turns.
    total = at = 0
    while total <= limit and (piece := _PIECE.match(text, at)):
        total += _marks(_STRING.sub(b"", piece[0]))
        at = piece.end()
    return total + _marks(text[at:]) > limit


def _marks(text: bytes) -> int:
    return text.count(b",") + text.count(b"{") + text.count(b"[")


def _in_utf8(text: bytes) -> bytes:
    return text.removeprefix(_BYTE_ORDER_MARK).decode("utf-8", "replace").encode()


def _without_lone_surrogates(text: bytes) -> bytes | None:
    """None if there is so much to look at that the text is hardly an honest one."""
    parts: list[bytes] = []
    done = end_of_pair = 0
    for number, match in enumerate(_SURROGATE.finditer(text)):
        if number > _MAX_SURROGATES:
            return None
        start, end = match.span()
        if start < end_of_pair or _is_escaped(text, start):
            continue
        if match[1] in _FIRST_HALVES and _SECOND_HALF.match(text, end):
            end_of_pair = end + len(match[0])
            continue
        parts += (text[done:start], rb"\ufffd")
        done = end
    return b"".join((*parts, text[done:]))


def _is_escaped(text: bytes, at: int) -> bool:
    """Whether the backslash there is the second of a pair: an odd number of them stands before it."""
    before = at
    while before and text[before - 1] == _BACKSLASH:
        before -= 1
    return (at - before) % 2 == 1


def _described(error: orjson.JSONDecodeError) -> JsonTextError:
    return JsonTextError(error.msg, error.lineno, error.colno)
