"""How the values of OTLP JSON become the bytes of protobuf fields: one function per kind of field.

The rules are those of proto3's JSON mapping with OTLP's exceptions: ids are hexadecimal, enums are numbers (names are
taken as well). A 64-bit integer never passes through a float.
"""

from __future__ import annotations

import base64
import binascii
import re
import struct
from collections.abc import Callable, Mapping

from google.protobuf.descriptor import FieldDescriptor

ToBytes = Callable[[object], bytes]

_INTEGER = re.compile(r"-?[0-9]{1,20}")
_DECIMAL = re.compile(r"-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_NOT_FINITE = {"NaN": float("nan"), "Infinity": float("inf"), "-Infinity": float("-inf")}
_EXACT_FLOATS = 1 << 53
_URL_SAFE = str.maketrans("-_", "+/")

_DOUBLE = struct.Struct("<d").pack
_FIXED32 = struct.Struct("<I").pack
_FIXED64 = struct.Struct("<Q").pack
_SFIXED64 = struct.Struct("<q").pack


class WrongValueError(Exception):
    """A value doesn't fit its field. `path` grows from the inside out while the error travels up."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.path: list[str] = []


def kind_of(value: object) -> str:
    """What a JSON value is, in words that tell nothing of its content."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "a boolean"
    if isinstance(value, int | float):
        return "a number"
    if isinstance(value, str):
        return "a string"
    return "an array" if isinstance(value, list) else "an object"


def varint(number: int) -> bytes:
    """A non-negative integer below 2**64 in base 128."""
    if number < 0x80:
        return _ONE_BYTE[number]
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


_ONE_BYTE = [bytes([number]) for number in range(0x80)]


def _integer(value: object, low: int, high: int) -> int:
    if type(value) is int:
        number = value
    elif type(value) is str:
        if not _INTEGER.fullmatch(value):
            raise WrongValueError("an integer is due, and this text is none")
        number = int(value)
    elif type(value) is float:
        if not value.is_integer() or abs(value) >= _EXACT_FLOATS:
            raise WrongValueError("an integer is due, and this number is none, or has more than 64 bits")
        number = int(value)
    else:
        raise WrongValueError(f"an integer is due, not {kind_of(value)}")
    if not low <= number <= high:
        raise WrongValueError(f"an integer from {low} to {high} is due")
    return number


def _int32(value: object) -> bytes:
    return varint(_integer(value, -(1 << 31), (1 << 31) - 1) & 0xFFFF_FFFF_FFFF_FFFF)


def _int64(value: object) -> bytes:
    return varint(_integer(value, -(1 << 63), (1 << 63) - 1) & 0xFFFF_FFFF_FFFF_FFFF)


def _uint32(value: object) -> bytes:
    return varint(_integer(value, 0, (1 << 32) - 1))


def _uint64(value: object) -> bytes:
    return varint(_integer(value, 0, (1 << 64) - 1))


def _sint32(value: object) -> bytes:
    number = _integer(value, -(1 << 31), (1 << 31) - 1)
    return varint(number << 1 if number >= 0 else (-number << 1) - 1)


def _fixed32(value: object) -> bytes:
    return _FIXED32(_integer(value, 0, (1 << 32) - 1))


def _fixed64(value: object) -> bytes:
    return _FIXED64(_integer(value, 0, (1 << 64) - 1))


def _sfixed64(value: object) -> bytes:
    return _SFIXED64(_integer(value, -(1 << 63), (1 << 63) - 1))


def _double(value: object) -> bytes:
    if type(value) is float or type(value) is int:
        return _DOUBLE(value)
    if type(value) is str:
        if value in _NOT_FINITE:
            return _DOUBLE(_NOT_FINITE[value])
        if _DECIMAL.fullmatch(value):
            return _DOUBLE(float(value))
        raise WrongValueError("a number is due, and this text is none")
    raise WrongValueError(f"a number is due, not {kind_of(value)}")


def _bool(value: object) -> bytes:
    if type(value) is not bool:
        raise WrongValueError(f"true or false is due, not {kind_of(value)}")
    return b"\x01" if value else b"\x00"


def _string(value: object) -> bytes:
    if type(value) is not str:
        raise WrongValueError(f"a string is due, not {kind_of(value)}")
    return value.encode()


def _base64(value: object) -> bytes:
    if type(value) is not str:
        raise WrongValueError(f"base64 text is due, not {kind_of(value)}")
    text = value.translate(_URL_SAFE).rstrip("=")
    try:
        return base64.b64decode(text + "=" * (-len(text) % 4), validate=True)
    except (binascii.Error, ValueError):
        raise WrongValueError("base64 text is due, and this is none") from None


def hex_id(length_bytes: int) -> ToBytes:
    """For ids: hexadecimal in either case, or empty."""

    def to_bytes(value: object) -> bytes:
        if type(value) is not str:
            raise WrongValueError(f"hexadecimal text is due, not {kind_of(value)}")
        if not value:
            return b""
        try:
            data = bytes.fromhex(value)
        except ValueError:
            data = b""
        if len(data) != length_bytes or len(value) != 2 * length_bytes:
            raise WrongValueError(f"{2 * length_bytes} hexadecimal digits are due")
        return data

    return to_bytes


def enum(numbers: Mapping[str, int]) -> ToBytes:
    """For enums: a number, known or not, or one of these names."""

    def to_bytes(value: object) -> bytes:
        if type(value) is str:
            if value not in numbers:
                raise WrongValueError("a number or a name of this enum is due, and this text is none")
            return varint(numbers[value])
        return _int32(value)

    return to_bytes


_VARINT, _EIGHT_BYTES, _LENGTH_DELIMITED, _FOUR_BYTES = 0, 1, 2, 5

# By the field's type in its descriptor: the wire type, and the conversion.
SCALARS: Mapping[int, tuple[int, ToBytes]] = {
    FieldDescriptor.TYPE_BOOL: (_VARINT, _bool),
    FieldDescriptor.TYPE_BYTES: (_LENGTH_DELIMITED, _base64),
    FieldDescriptor.TYPE_DOUBLE: (_EIGHT_BYTES, _double),
    FieldDescriptor.TYPE_FIXED32: (_FOUR_BYTES, _fixed32),
    FieldDescriptor.TYPE_FIXED64: (_EIGHT_BYTES, _fixed64),
    FieldDescriptor.TYPE_INT32: (_VARINT, _int32),
    FieldDescriptor.TYPE_INT64: (_VARINT, _int64),
    FieldDescriptor.TYPE_SFIXED64: (_EIGHT_BYTES, _sfixed64),
    FieldDescriptor.TYPE_SINT32: (_VARINT, _sint32),
    FieldDescriptor.TYPE_STRING: (_LENGTH_DELIMITED, _string),
    FieldDescriptor.TYPE_UINT32: (_VARINT, _uint32),
    FieldDescriptor.TYPE_UINT64: (_VARINT, _uint64),
}
