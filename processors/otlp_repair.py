"""Makes an OTLP message that a strict parser refuses acceptable, with the least possible loss.

A protobuf parser refuses a whole span for one invalid UTF-8 byte or one value nested a hundred levels deep.  This walks
the wire format by the few shapes that matter, replaces invalid UTF-8 by U+FFFD, empties values that are nested too deep
and drops what follows a malformed field.  It is only run on what was refused; it never raises.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

MAX_DEPTH = 24
"""Levels of messages kept; a value in an attribute may be nested some seven levels deep."""

_FIELDS = 1 << 29
_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5


@dataclass(frozen=True, slots=True)
class Shape:
    """Which fields of a message are strings, and which are messages of what shape."""

    strings: frozenset[int] = frozenset()
    messages: Mapping[int, Shape] = field(default_factory=dict)


def _shapes() -> tuple[Shape, Shape]:
    any_fields: dict[int, Shape] = {}
    any_value = Shape(frozenset({1}), any_fields)
    key_value = Shape(frozenset({1}), {2: any_value})
    any_fields[5] = Shape(messages={1: any_value})
    any_fields[6] = Shape(messages={1: key_value})
    return any_value, key_value


_ANY_VALUE, _KEY_VALUE = _shapes()
_EVENT = Shape(frozenset({2}), {3: _KEY_VALUE})
_LINK = Shape(frozenset({3}), {4: _KEY_VALUE})
_STATUS = Shape(frozenset({2}))
SPAN = Shape(frozenset({3, 5}), {9: _KEY_VALUE, 11: _EVENT, 13: _LINK, 15: _STATUS})
LOG_RECORD = Shape(frozenset({3, 12}), {5: _ANY_VALUE, 6: _KEY_VALUE})
RESOURCE = Shape(messages={1: _KEY_VALUE})
SCOPE = Shape(frozenset({1, 2}), {3: _KEY_VALUE})


def repaired(data: bytes, shape: Shape) -> bytes:
    """`data` without what a strict parser of a message of this shape would refuse."""
    return _message(data, shape, 0)


def _message(data: bytes, shape: Shape, depth: int) -> bytes:
    if depth > MAX_DEPTH:
        return b""
    out = bytearray()
    at = 0
    while at < len(data):
        tag, value_at = _varint(data, at)
        number, wire_type = tag >> 3, tag & 7
        length = 0
        if wire_type == _VARINT:
            _, end = _varint(data, value_at)
        elif wire_type == _FIXED64:
            end = value_at + 8
        elif wire_type == _FIXED32:
            end = value_at + 4
        elif wire_type == _BYTES:
            length, value_at = _varint(data, value_at)
            end = value_at + length
        else:
            break
        if not 0 < number < _FIELDS or value_at <= at or end > len(data) or end < value_at:
            break
        if wire_type == _BYTES and number in shape.strings:
            text = data[value_at:end].decode(errors="replace").encode()
            out += _tagged(tag, text)
        elif wire_type == _BYTES and number in shape.messages:
            out += _tagged(tag, _message(data[value_at:end], shape.messages[number], depth + 1))
        else:
            out += data[at:end]
        at = end
    return bytes(out)


def _tagged(tag: int, payload: bytes) -> bytes:
    return _encoded(tag) + _encoded(len(payload)) + payload


def _encoded(number: int) -> bytes:
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """The number at `at` and the place after it; a place beyond the end when it is cut or longer than 10 bytes."""
    number = shift = 0
    while at < len(data) and shift < 70:
        byte = data[at]
        at += 1
        number |= (byte & 0x7F) << shift
        if byte < 0x80:
            return number, at
        shift += 7
    return 0, len(data) + 1
