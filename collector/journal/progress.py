"""What became of records, as it is kept on disk: who is done with what, and what is owed to nobody.

Everything in it makes less owed and nothing more, in whatever order it is read and however often it stands there.  So
a part that is lost leads to repeats and never to losses, two files say what both say, and an old one can be replaced
by a shorter one at any moment.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from collector.journal.coding import Parts, UnreadableBodyError, decode_named_numbers, encode_named_numbers
from collector.journal.framing import Kind, Record
from collector.records import PLACE_BITS

# What is damaged is lost record by record, so none is large.
_NUMBERS_AT_ONCE = 4096


def _numbers() -> array[int]:
    return array("Q")


@dataclass(slots=True)
class Progress:
    """What is known.

    `done`: per destination numbers of parcels, or of arrivals that went as they came.  `settled`: per group of
    destinations the places that are owed to them no more; the empty group is everybody.  `released`: numbers of
    records that nobody needs.  `crashed`: how often taking an arrival again has ended the process.
    """

    done: dict[str, array[int]] = field(default_factory=dict)
    settled: dict[tuple[str, ...], array[int]] = field(default_factory=dict)
    released: array[int] = field(default_factory=_numbers)
    crashed: dict[int, int] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.done or self.settled or self.released or self.crashed)

    @property
    def size_bytes(self) -> int:
        """How much of a file it takes, about."""
        numbers = [*self.done.values(), *self.settled.values(), self.released]
        return 8 * sum(map(len, numbers)) + 64 * (len(numbers) + len(self.crashed))

    def add_done(self, destination: str, number: int) -> None:
        """A destination has a record."""
        self.done.setdefault(destination, array("Q")).append(number)

    def add_settled(self, destinations: tuple[str, ...], places: Iterable[int]) -> None:
        """These destinations, or all, are owed these items no more."""
        self.settled.setdefault(destinations, array("Q")).extend(places)

    def add_crashed(self, number: int, times: int) -> None:
        """Taking this arrival has ended the process that often."""
        self.crashed[number] = max(times, self.crashed.get(number, 0))

    def add(self, other: Progress) -> None:
        """Know what the other knows too."""
        for destination, numbers in other.done.items():
            self.done.setdefault(destination, array("Q")).extend(numbers)
        for destinations, places in other.settled.items():
            self.settled.setdefault(destinations, array("Q")).extend(places)
        self.released.extend(other.released)
        for number, times in other.crashed.items():
            self.add_crashed(number, times)

    def restricted(self, present: set[int], gone: set[int]) -> Progress:
        """The same about records that are present; of those that are gone only that they are."""
        live = present - gone
        released = array("Q", sorted(gone & present | present.intersection(self.released)))
        live.difference_update(released)
        done = {
            destination: array("Q", sorted(live.intersection(numbers))) for destination, numbers in self.done.items()
        }
        settled = {
            destinations: array("Q", sorted({place for place in places if place >> PLACE_BITS in live}))
            for destinations, places in self.settled.items()
        }
        crashed = {number: times for number, times in self.crashed.items() if number in live}
        return Progress(
            {destination: numbers for destination, numbers in done.items() if numbers},
            {destinations: places for destinations, places in settled.items() if places},
            released,
            crashed,
        )

    def highest_number(self) -> int:
        """The highest number of a record that is mentioned."""
        numbers = [max(numbers, default=0) for numbers in (*self.done.values(), self.released)]
        places = [max(places, default=0) >> PLACE_BITS for places in self.settled.values()]
        return max([*numbers, *places, *self.crashed], default=0)

    def records(self) -> Iterator[tuple[Kind, int, Parts]]:
        """All of it as records."""
        for destination, numbers in self.done.items():
            for part in _parts(numbers):
                yield Kind.DONE, 0, encode_named_numbers([destination], part)
        for destinations, places in self.settled.items():
            for part in _parts(places):
                yield Kind.SETTLED, 0, encode_named_numbers(destinations, part)
        for part in _parts(self.released):
            yield Kind.RELEASED, 0, encode_named_numbers((), part)
        for number, times in self.crashed.items():
            yield Kind.CRASHED, number, encode_named_numbers((), [times])

    def read(self, record: Record) -> None:
        """Add what a record says.

        Raises:
            UnreadableBodyError: nothing that belongs here.
        """
        if record.kind not in (Kind.DONE, Kind.SETTLED, Kind.RELEASED, Kind.CRASHED):
            raise UnreadableBodyError(f"a record of kind {record.kind}")
        names, numbers = decode_named_numbers(record.body)
        if record.kind == Kind.RELEASED:
            self.released.extend(numbers)
        elif record.kind == Kind.SETTLED:
            self.add_settled(tuple(names), numbers)
        elif record.kind == Kind.CRASHED:
            self.add_crashed(record.number, max(numbers, default=0))
        else:
            for name in names:
                self.done.setdefault(name, array("Q")).extend(numbers)


def _parts(numbers: array[int]) -> Iterator[Sequence[int]]:
    for start in range(0, len(numbers), _NUMBERS_AT_ONCE):
        yield numbers[start : start + _NUMBERS_AT_ONCE]
