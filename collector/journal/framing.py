"""Records in a file, and finding them again in whatever has become of the file. Pure functions on bytes.

A record is a header of 32 bytes and its body:

    marker 8 | kind 1 | zero 3 | length of body 4 | number 8 | CRC-32 of body 4 | CRC-32 of the header so far 4

all little-endian. The marker is random and each file's own, so that nothing a sender can put into a body is ever taken
for a record. After the last record a file is filled with zeros, or ends.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum
from zlib import crc32

MARKER_BYTES = 8
_HEADER = struct.Struct("<8sB3xIQI")
_CRC = struct.Struct("<I")
HEADER_BYTES = _HEADER.size + _CRC.size
MAX_BODY_BYTES = (1 << 32) - 1


class Kind(IntEnum):
    """What a record is about; see `coding` for the bodies."""

    FILE = 1
    END = 2
    ARRIVAL = 3
    PARCEL = 4
    DONE = 16
    SETTLED = 17
    RELEASED = 18
    CRASHED = 19


@dataclass(frozen=True, slots=True)
class Record:
    """A record that is whole: its bytes are from `offset` to `end`. `body` is a view on the scanned bytes."""

    kind: int
    number: int
    offset: int
    end: int
    body: memoryview


@dataclass(frozen=True, slots=True)
class Gap:
    """Bytes from `offset` to `end` that are no record, and not only the zeros at the end of a file.

    `torn`: no record follows, as when writing was interrupted.
    """

    offset: int
    end: int
    torn: bool


def header_of(marker: bytes, kind: Kind, number: int, body: Sequence[bytes | memoryview]) -> bytes:
    """The header of a record whose body is these parts one after the other."""
    checksum = length = 0
    for part in body:
        checksum = crc32(part, checksum)
        length += len(part)
    header = _HEADER.pack(marker, kind, length, number, checksum)
    return header + _CRC.pack(crc32(header))


def length_of(header: bytes, marker: bytes) -> int:
    """The length of the body that a header tells; 0 if it is none."""
    if len(header) < HEADER_BYTES or not header.startswith(marker):
        return 0
    length: int = _HEADER.unpack_from(header)[2]
    return length if _CRC.unpack_from(header, _HEADER.size)[0] == crc32(header[: _HEADER.size]) else 0


def record_at(data: bytes | bytearray, offset: int, marker: bytes) -> Record | None:
    """The record that begins at `offset`, if a whole one does."""
    body_at = offset + HEADER_BYTES
    if body_at > len(data) or not data.startswith(marker, offset):
        return None
    view = memoryview(data)
    (checksum,) = _CRC.unpack_from(data, offset + _HEADER.size)
    if crc32(view[offset : offset + _HEADER.size]) != checksum:
        return None
    _, kind, length, number, body_checksum = _HEADER.unpack_from(data, offset)
    end = body_at + length
    if end > len(data):
        return None
    body = view[body_at:end]
    if crc32(body) != body_checksum:
        return None
    return Record(kind, number, offset, end, body)


def scan(data: bytes | bytearray, marker: bytes) -> Iterator[Record | Gap]:
    """Everything in a file in its order: each whole record, and what between them is none.

    After damage it goes on at the next marker that begins a whole record, whatever lengths said.
    """
    position = 0
    while position < len(data):
        record = record_at(data, position, marker)
        if record is None:
            record = _next_record(data, position + 1, marker)
            stop = len(data) if record is None else record.offset
            if record is None:
                stop = position + len(data[position:].rstrip(b"\0"))
            if stop > position:
                yield Gap(position, stop, torn=record is None)
            if record is None:
                return
        yield record
        position = record.end


def _next_record(data: bytes | bytearray, start: int, marker: bytes) -> Record | None:
    while (start := data.find(marker, start)) >= 0:
        record = record_at(data, start, marker)
        if record is not None:
            return record
        start += 1
    return None
