"""What the claims keep of each record and of each segment: where it is, and who still lacks what of it."""

from __future__ import annotations

from array import array
from dataclasses import dataclass, field
from typing import NamedTuple

from collector.journal.entries import MAX_NUMBER


class Location(NamedTuple):
    """Where a record is: the segment's number in the sequence, and its bytes in there."""

    segment: int
    offset: int
    size_bytes: int


@dataclass(slots=True)
class ArrivalClaims:
    """Who still lacks what of an arrival.

    `remaining`: per destination the bits of the items that it is owed and that are in no parcel.  `needed`: how many
    parcels that are owed to somebody take bytes from it.  `untouched`: somebody has all of it, as it came.
    """

    location: Location
    destinations: tuple[str, ...]
    remaining: list[int]
    wall_ns: int
    needed: int = 0
    untouched: bool = False

    @property
    def over(self) -> bool:
        """Whether nobody needs it any more."""
        return not self.needed and not any(self.remaining)


@dataclass(slots=True)
class ParcelClaims:
    """Who still lacks a parcel, and from which arrivals it takes its bytes.

    `location`: None while it is written nowhere.  `settles`: items of arrivals are in it, wherever its bytes are.
    `whole`: the record at its location has its bytes, and needs no arrival.
    """

    location: Location | None
    destinations: tuple[str, ...]
    arrivals: array[int]
    items: int
    size_bytes: int
    wall_ns: int
    settles: bool
    whole: bool


@dataclass(slots=True)
class SegmentClaims:
    """What is in a segment.

    `numbers`: of all records in it.  `gone`: of those that nobody needs any more.  `finished`: offsets of the parcels
    among these in which items of arrivals were.  `closed`: nothing more is written to it.  `kept`: it must not be
    deleted, whatever is owed.  `least`: the lowest of the numbers.
    """

    size_bytes: int = 0
    live: int = 0
    live_bytes: int = 0
    closed: bool = False
    kept: bool = False
    least: int = MAX_NUMBER
    numbers: array[int] = field(default_factory=lambda: array("Q"))
    gone: array[int] = field(default_factory=lambda: array("Q"))
    finished: array[int] = field(default_factory=lambda: array("Q"))
