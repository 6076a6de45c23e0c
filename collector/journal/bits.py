"""Sets of indexes as integers, one bit each: small, compared and combined in one step. Pure functions."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping, Sequence

from collector.journal.entries import INDEX_MASK
from collector.records import PLACE_BITS

# Up to here shifting a one is quicker than filling bytes.
_SMALL = 512


def bits_of(indexes: Sequence[int]) -> int:
    """The set of these indexes."""
    if not indexes:
        return 0
    top = max(indexes)
    if top < _SMALL:
        bits = 0
        for index in indexes:
            bits |= 1 << index
        return bits
    octets = bytearray((top >> 3) + 1)
    for index in indexes:
        octets[index >> 3] |= 1 << (index & 7)
    return int.from_bytes(octets, "little")


def all_but(count: int, excluded: Sequence[int]) -> int:
    """The set of all indexes below `count` that aren't excluded."""
    return ((1 << count) - 1) & ~bits_of(excluded)


def indexes_of(bits: int) -> array[int]:
    """The members in ascending order."""
    found = array("I")
    octets = bits.to_bytes((bits.bit_length() + 7) >> 3, "little")
    for at, octet in enumerate(octets):
        if octet:
            start = at << 3
            found.extend(start + bit for bit in range(8) if octet >> bit & 1)
    return found


def bits_by_number(places: Iterable[int]) -> Mapping[int, int]:
    """Per arrival the set of the indexes that these places name."""
    indexes: dict[int, list[int]] = {}
    current = -1
    group: list[int] = []
    for place in places:
        number = place >> PLACE_BITS
        if number != current:
            current = number
            group = indexes.setdefault(number, [])
        group.append(place & INDEX_MASK)
    return {number: bits_of(group) for number, group in indexes.items()}
