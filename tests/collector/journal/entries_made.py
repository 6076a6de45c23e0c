"""Entries for tests."""

from __future__ import annotations

from array import array
from collections.abc import Sequence

from collector.journal import ArrivalEntry, ParcelEntry, place_of
from collector.records import Signal

A, B = "otlp/a", "otlp/b"
TO = {Signal.TRACES: [A, B], Signal.LOGS: [A]}


def arrival(
    request: bytes = b"request", *, items: int = 3, rejected: Sequence[int] = (), signal: Signal = Signal.TRACES
) -> ArrivalEntry:
    """A request of that many accepted items."""
    headers = (("x-project-name", "shop"),)
    return ArrivalEntry(signal, "otlp", 1_700_000_000_000_000_000, headers, request, items, tuple(rejected))


def by_reference(number: int, indexes: Sequence[int], to: Sequence[str] = (A, B)) -> ParcelEntry:
    """A parcel of items of one arrival."""
    places = array("Q", [place_of(number, index) for index in indexes])
    tails = [b"tail %d" % index for index in indexes]
    return ParcelEntry(Signal.TRACES, (), tuple(to), len(indexes), 100, places, tails)


def whole(request: bytes, places: Sequence[int] = (), to: Sequence[str] = (A, B)) -> ParcelEntry:
    """A parcel that has its bytes itself."""
    return ParcelEntry(Signal.TRACES, (), tuple(to), max(len(places), 1), len(request), array("Q", places), (), request)
