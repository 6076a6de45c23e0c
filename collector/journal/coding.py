"""Entries to the bodies of records and back. Pure functions; little-endian whatever the machine.

What is decoded has passed a checksum, so that a body that can't be decoded was written by something else; it is an
`UnreadableBodyError` and nothing worse.
"""

from __future__ import annotations

import struct
import sys
from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise

from collector.journal.entries import ArrivalEntry, Headers, ParcelEntry
from collector.records import Signal

Parts = tuple[bytes | memoryview, ...]
_FILE = struct.Struct("<IQq")
_ARRIVAL = struct.Struct("<qIII")
_PARCEL = struct.Struct("<QIII?")
_COUNT = struct.Struct("<I")
_LENGTH = struct.Struct("<I")


class UnreadableBodyError(Exception):
    """A body isn't what its record's kind says."""


@dataclass(frozen=True, slots=True)
class FileHead:
    """What a file says of itself: the format, the least number that wasn't given yet, when it was begun."""

    format: int
    next_number: int
    created_wall_ns: int


@dataclass(frozen=True, slots=True)
class ArrivalHead:
    """An arrival without its bytes: `entry.request` is empty, the bytes are `request_bytes` at the body's end."""

    entry: ArrivalEntry
    destinations: tuple[str, ...]
    request_bytes: int


@dataclass(frozen=True, slots=True)
class ParcelHead:
    """A parcel without its bytes, which begin at `rest_at` of the body; `whole`: they are a request, and not tails."""

    entry: ParcelEntry
    rest_at: int
    whole: bool


def encode_file_head(head: FileHead) -> Parts:
    """The body of a `FILE` record."""
    return (_FILE.pack(head.format, head.next_number, head.created_wall_ns),)


def decode_file_head(body: memoryview) -> FileHead:
    """Raises UnreadableBodyError."""
    try:
        return FileHead(*_FILE.unpack(body))
    except struct.error as error:
        raise UnreadableBodyError(str(error)) from None


def encode_arrival(entry: ArrivalEntry, destinations: Sequence[str]) -> Parts:
    """The body of an `ARRIVAL` record. The request isn't copied."""
    texts = _texts((entry.signal, entry.receiver, *destinations)) + _texts(_flat(entry.headers))
    rejected = _octets("I", entry.rejected)
    head = _ARRIVAL.pack(entry.arrived_wall_ns, entry.items, len(entry.rejected), len(texts))
    return (head + texts + rejected, entry.request)


def decode_arrival_head(body: memoryview) -> ArrivalHead:
    """Raises UnreadableBodyError."""
    try:
        arrived_wall_ns, items, rejected_count, texts_bytes = _ARRIVAL.unpack_from(body)
        at = _ARRIVAL.size
        (signal, receiver, *destinations), headers = _names_and_headers(body[at : at + texts_bytes])
        at += texts_bytes
        rejected = tuple(_numbers("I", body, at, rejected_count))
        at += 4 * rejected_count
        entry = ArrivalEntry(Signal(signal), receiver, arrived_wall_ns, headers, b"", items, rejected)
    except (struct.error, ValueError) as error:
        raise UnreadableBodyError(str(error)) from None
    return ArrivalHead(entry, tuple(destinations), len(body) - at)


def decode_arrival(body: memoryview) -> ArrivalEntry:
    """Raises UnreadableBodyError."""
    head = decode_arrival_head(body)
    return replace(head.entry, request=bytes(body[len(body) - head.request_bytes :]))


def encode_parcel(entry: ParcelEntry) -> Parts:
    """The body of a `PARCEL` record. The request isn't copied.

    Raises:
        ValueError: it has neither a request nor one tail for each place, or both.
    """
    if len(entry.tails) != (0 if entry.request else len(entry.places)):
        raise ValueError(f"{len(entry.places)} places, {len(entry.tails)} tails, {len(entry.request)} bytes")
    texts = _texts((entry.signal, *entry.destinations)) + _texts(_flat(entry.headers))
    head = _PARCEL.pack(entry.size_bytes, entry.items, len(entry.places), len(texts), bool(entry.request))
    head += texts + _octets("Q", entry.places)
    if entry.request:
        return (head, entry.request)
    return (head + _octets("I", map(len, entry.tails)) + b"".join(entry.tails),)


def decode_parcel_head(body: memoryview) -> ParcelHead:
    """Raises UnreadableBodyError."""
    try:
        size_bytes, items, count, texts_bytes, whole = _PARCEL.unpack_from(body)
        at = _PARCEL.size
        (signal, *destinations), headers = _names_and_headers(body[at : at + texts_bytes])
        at += texts_bytes
        places = _numbers("Q", body, at, count)
        entry = ParcelEntry(Signal(signal), headers, tuple(destinations), items, size_bytes, places)
    except (struct.error, ValueError) as error:
        raise UnreadableBodyError(str(error)) from None
    return ParcelHead(entry, at + 8 * count, whole)


def decode_parcel(body: memoryview) -> ParcelEntry:
    """Raises UnreadableBodyError."""
    head = decode_parcel_head(body)
    if head.whole:
        return replace(head.entry, request=bytes(body[head.rest_at :]))
    count = len(head.entry.places)
    try:
        lengths = _numbers("I", body, head.rest_at, count)
    except ValueError as error:
        raise UnreadableBodyError(str(error)) from None
    rest = bytes(body[head.rest_at + 4 * count :])
    ends = list(accumulate(lengths, initial=0))
    if ends[-1] != len(rest):
        raise UnreadableBodyError(f"tails of {ends[-1]} bytes in {len(rest)}")
    return replace(head.entry, tails=[rest[start:end] for start, end in pairwise(ends)])


def encode_named_numbers(names: Sequence[str], numbers: Iterable[int]) -> Parts:
    """The body of what is said of records or places: `DONE`, `SETTLED` (no name: everybody), `RELEASED`."""
    texts = _texts(names)
    return (_LENGTH.pack(len(texts)) + texts + _octets("Q", numbers),)


def decode_named_numbers(body: memoryview) -> tuple[list[str], array[int]]:
    """Raises UnreadableBodyError."""
    try:
        (texts_bytes,) = _LENGTH.unpack_from(body)
        at = _LENGTH.size
        names, rest = _split_texts(body[at : at + texts_bytes])
        if rest:
            raise ValueError("bytes after the last name")
        at += texts_bytes
        count, odd = divmod(len(body) - at, 8)
        if odd:
            raise ValueError("not a whole number of numbers")
        return names, _numbers("Q", body, at, count)
    except (struct.error, ValueError) as error:
        raise UnreadableBodyError(str(error)) from None


def _flat(headers: Headers) -> list[str]:
    return [text for pair in headers for text in pair]


def _texts(texts: Sequence[str]) -> bytes:
    encoded = [text.encode("utf-8", "surrogatepass") for text in texts]
    return _COUNT.pack(len(encoded)) + b"".join(_LENGTH.pack(len(one)) + one for one in encoded)


def _split_texts(data: memoryview) -> tuple[list[str], memoryview]:
    (count,) = _COUNT.unpack_from(data)
    at = _COUNT.size
    found = []
    for _ in range(count):
        (length,) = _LENGTH.unpack_from(data, at)
        at += _LENGTH.size
        if at + length > len(data):
            raise ValueError("a text is cut off")
        found.append(str(data[at : at + length], "utf-8", "surrogatepass"))
        at += length
    return found, data[at:]


def _names_and_headers(data: memoryview) -> tuple[list[str], Headers]:
    names, rest = _split_texts(data)
    flat, rest = _split_texts(rest)
    if rest or len(flat) % 2:
        raise ValueError("the headers are no pairs")
    return names, tuple(zip(flat[::2], flat[1::2], strict=True))


def _octets(code: str, numbers: Iterable[int]) -> bytes:
    packed = numbers if isinstance(numbers, array) and numbers.typecode == code else array(code, numbers)
    if sys.byteorder == "big":
        packed = packed[:]
        packed.byteswap()
    return packed.tobytes()


def _numbers(code: str, body: memoryview, at: int, count: int) -> array[int]:
    found = array(code)
    end = at + count * found.itemsize
    if end > len(body):
        raise ValueError("numbers are cut off")
    found.frombytes(body[at:end])
    if sys.byteorder == "big":
        found.byteswap()
    return found
