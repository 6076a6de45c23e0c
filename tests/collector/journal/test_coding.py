"""Entries come back from their bytes as they were, and other bytes are refused."""

from __future__ import annotations

import contextlib
from array import array

import pytest
from hypothesis import given
from hypothesis import strategies as st

from collector.journal.coding import (
    FileHead,
    UnreadableBodyError,
    decode_arrival,
    decode_arrival_head,
    decode_file_head,
    decode_named_numbers,
    decode_parcel,
    decode_parcel_head,
    encode_arrival,
    encode_file_head,
    encode_named_numbers,
    encode_parcel,
)
from collector.journal.entries import ArrivalEntry, ParcelEntry
from collector.records import Signal

# Lone surrogates too: header values are whatever bytes a sender likes.
TEXTS = st.text(st.characters(), max_size=12)
HEADERS = st.lists(st.tuples(TEXTS, TEXTS), max_size=3).map(tuple)
NAMES = st.lists(TEXTS, max_size=4).map(tuple)
ARRIVALS = st.builds(
    ArrivalEntry,
    st.sampled_from(Signal),
    TEXTS,
    st.integers(-(2**63), 2**63 - 1),
    HEADERS,
    st.binary(max_size=100),
    st.integers(0, 2**24 - 1),
    st.lists(st.integers(0, 2**24 - 1), max_size=5).map(tuple),
)
PLACES = st.lists(st.integers(0, 2**64 - 1), max_size=6).map(lambda found: array("Q", found))


@st.composite
def parcels(draw: st.DrawFn) -> ParcelEntry:
    places = draw(PLACES)
    request = draw(st.binary(max_size=50))
    tails = [] if request else draw(st.lists(st.binary(max_size=9), min_size=len(places), max_size=len(places)))
    numbers = st.integers(0, 2**32 - 1)
    return ParcelEntry(
        draw(st.sampled_from(Signal)), draw(HEADERS), draw(NAMES), draw(numbers), draw(numbers), places, tails, request
    )


def body_of(parts: tuple[bytes | memoryview, ...]) -> memoryview:
    return memoryview(b"".join(parts))


@given(ARRIVALS, NAMES)
def test_arrivals_come_back(entry: ArrivalEntry, destinations: tuple[str, ...]) -> None:
    body = body_of(encode_arrival(entry, destinations))
    head = decode_arrival_head(body)
    assert head.destinations == destinations
    assert head.request_bytes == len(entry.request)
    assert decode_arrival(body) == entry


@given(parcels())
def test_parcels_come_back(entry: ParcelEntry) -> None:
    body = body_of(encode_parcel(entry))
    head = decode_parcel_head(body)
    assert head.whole == bool(entry.request)
    assert head.entry.places == entry.places
    assert head.entry.destinations == entry.destinations
    back = decode_parcel(body)
    assert (back.signal, back.headers, back.items, back.size_bytes) == (
        entry.signal,
        entry.headers,
        entry.items,
        entry.size_bytes,
    )
    assert list(back.tails) == list(entry.tails)
    assert back.request == entry.request


@given(NAMES, PLACES)
def test_what_is_said_of_numbers_comes_back(names: tuple[str, ...], numbers: array[int]) -> None:
    assert decode_named_numbers(body_of(encode_named_numbers(names, numbers))) == (list(names), numbers)


@given(st.integers(0, 2**32 - 1), st.integers(0, 2**64 - 1), st.integers(-(2**63), 2**63 - 1))
def test_the_head_of_a_file_comes_back(version: int, number: int, wall_ns: int) -> None:
    head = FileHead(version, number, wall_ns)
    assert decode_file_head(body_of(encode_file_head(head))) == head


@pytest.mark.parametrize(
    "decode",
    [decode_arrival, decode_arrival_head, decode_parcel, decode_parcel_head, decode_named_numbers, decode_file_head],
)
@given(data=st.data())
def test_bytes_that_are_something_else_are_read_or_refused_and_raise_nothing_else(
    decode: object, data: st.DataObject
) -> None:
    assert callable(decode)
    entry = data.draw(ARRIVALS)
    whole = bytearray(body_of(encode_arrival(entry, ("a", "b"))))
    parcel = bytearray(body_of(encode_parcel(data.draw(parcels()))))
    body = data.draw(st.sampled_from([whole, parcel])) if data.draw(st.booleans()) else data.draw(st.binary())
    mangled = bytearray(body)
    for _ in range(data.draw(st.integers(0, 3))):
        if mangled:
            mangled[data.draw(st.integers(0, len(mangled) - 1))] = data.draw(st.integers(0, 255))
    cut = data.draw(st.integers(0, len(mangled)))
    with contextlib.suppress(UnreadableBodyError):
        decode(memoryview(bytes(mangled[:cut])))


@pytest.mark.parametrize(
    ("places", "tails", "request_bytes"), [([1, 2], [b""], b""), ([1], [b""], b"whole"), ([], [b""], b"")]
)
def test_a_parcel_has_either_a_request_or_a_tail_for_each_place(
    places: list[int], tails: list[bytes], request_bytes: bytes
) -> None:
    entry = ParcelEntry(Signal.TRACES, (), ("a",), 1, 1, array("Q", places), tails, request_bytes)
    with pytest.raises(ValueError, match="places"):
        encode_parcel(entry)
