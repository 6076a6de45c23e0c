"""Reading JSON bytes that strangers sent: strict JSON fast, and the two flaws of text that must not cost a request.

Invalid UTF-8 and lone surrogate escapes come out of cut-off strings and old libraries. Each becomes U+FFFD; everything
else that isn't JSON is an error that says where.
"""

from __future__ import annotations

import re

import orjson

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"

# An odd number of backslashes starts an escape. A pair of surrogates is left alone, a single one is group 3.
_SURROGATE = re.compile(
    rb"(?<!\\)((?:\\\\)*)(?:"
    rb"(\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})"
    rb"|(\\u[dD][89a-fA-F][0-9a-fA-F]{2}))"
)


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
        repaired = _repaired(text)
        if repaired == text:
            raise _described(error) from None
    try:
        return orjson.loads(repaired)
    except orjson.JSONDecodeError as error:
        raise _described(error) from None


def _repaired(text: bytes) -> bytes:
    text = text.removeprefix(_BYTE_ORDER_MARK).decode("utf-8", "replace").encode()
    return _SURROGATE.sub(lambda match: match[1] + (match[2] or rb"\ufffd"), text)


def _described(error: orjson.JSONDecodeError) -> JsonTextError:
    return JsonTextError(error.msg, error.lineno, error.colno)
