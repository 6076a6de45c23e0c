"""What is kept in the journal: arrivals and parcels, and what of them is still owed to whom.

A *place* is one item (span, log record) of one arrival: `number << 24 | index`, where the index counts all items of the
request in the order in which they stand in it, rejected ones too.
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from collector.records import PLACE_BITS, Signal

Headers = tuple[tuple[str, str], ...]

INDEX_MASK = (1 << PLACE_BITS) - 1
MAX_NUMBER = (1 << 40) - 1


def place_of(number: int, index: int) -> int:
    """The place of the item at `index` of arrival `number`."""
    return number << PLACE_BITS | index


@dataclass(frozen=True, slots=True)
class ArrivalEntry:
    """A request as it was accepted.

    `arrived_wall_ns`: when, in nanoseconds since 1970 by the wall clock.  `request`: the protobuf bytes as received.
    `items`: how many were accepted; `rejected`: indexes of those that weren't.  The request has `items +
    len(rejected)` items, fewer than 2**24.
    """

    signal: Signal
    receiver: str
    arrived_wall_ns: int
    headers: Headers
    request: bytes
    items: int
    rejected: Sequence[int] = ()


@dataclass(frozen=True, slots=True)
class ParcelEntry:
    """What leaves together, as it is sent to everybody however often.

    `places`: the items of arrivals that are in it; none for what came in no request.  Its bytes are either those of
    the spans at these places, each with one of `tails` appended (mostly an empty one), or whole in `request`.
    `items`: how many spans, log records or data points it has.  `size_bytes`: of the request, built.
    """

    signal: Signal
    headers: Headers
    destinations: tuple[str, ...]
    items: int
    size_bytes: int
    places: array[int] = field(default_factory=lambda: array("Q"))
    tails: Sequence[bytes] = ()
    request: bytes = b""


@dataclass(frozen=True, slots=True)
class OwedParcel:
    """Something frozen that `destinations` still lack.

    `untouched`: it is an arrival that another destination took as it came, and is read by `read_arrival`; else it is
    a parcel, and is read by `read_parcel`.
    """

    number: int
    destinations: tuple[str, ...]
    signal: Signal
    headers: Headers
    items: int
    size_bytes: int
    untouched: bool = False


@dataclass(frozen=True, slots=True)
class OwedArrival:
    """An arrival of which items are in no parcel yet: they have to be taken again.

    `remaining`: per destination the indexes of the items that are owed to it directly; for destinations that lack the
    same items, the same object.  `trusted`: False if taking it again ended the process twice; then it is to be passed
    on without looking into it.
    """

    number: int
    signal: Signal
    receiver: str
    arrived_wall_ns: int
    headers: Headers
    size_bytes: int
    remaining: Mapping[str, Sequence[int]]
    trusted: bool = True


Owed = OwedParcel | OwedArrival
