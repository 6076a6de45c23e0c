"""What is owed to whom, and which segment may go, against sets that are kept the plain way."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, invariant, rule

from collector.journal.bits import bits_by_number, bits_of
from collector.journal.claimed import Location
from collector.journal.claims import Claims
from collector.journal.entries import ParcelEntry, place_of
from collector.records import Signal

NAMES = ("a", "b", "c")
ITEMS = 6
WALL_NS = 1000


def parcel_of(places: Sequence[int], destinations: tuple[str, ...]) -> ParcelEntry:
    tails = [b""] * len(places)
    return ParcelEntry(Signal.TRACES, (), destinations, max(len(places), 1), 100, array("Q", places), tails)


@dataclass
class Arrival:
    segment: int
    owed: dict[str, set[int]]
    whole_to: set[str] = field(default_factory=set)


@dataclass
class Parcel:
    segment: int | None
    owed: set[str]
    arrivals: set[int]
    needs: bool = True


class ClaimsMachine(RuleBasedStateMachine):
    """Records are written, moved, delivered, dropped, in whatever order and as often as anyone likes to say it."""

    numbers: Bundle[int] = Bundle("numbers")
    unwritten: Bundle[int] = Bundle("unwritten")

    def __init__(self) -> None:
        super().__init__()
        self.claims = Claims()
        self.segment = 1
        self.offset = 0
        self.next_number = 1
        self.arrivals: dict[int, Arrival] = {}
        self.parcels: dict[int, Parcel] = {}
        self.closed: set[int] = set()

    def place(self) -> Location:
        self.offset += 100
        return Location(self.segment, self.offset, 100)

    def number(self) -> int:
        self.next_number += 1
        return self.next_number

    @rule(target=numbers, destinations=st.sets(st.sampled_from(NAMES)), rejected=st.sets(st.integers(0, ITEMS - 1)))
    def arrive(self, destinations: set[str], rejected: set[int]) -> int:
        number = self.number()
        accepted = set(range(ITEMS)) - rejected
        to = tuple(sorted(destinations))
        self.claims.add_arrival(number, self.place(), to, [bits_of(sorted(accepted))] * len(to), WALL_NS + number)
        self.claims.sweep()
        self.arrivals[number] = Arrival(self.segment, {name: set(accepted) for name in to})
        return number

    @rule(
        target=unwritten,
        picks=st.lists(st.tuples(st.integers(2, 30), st.integers(0, ITEMS - 1)), max_size=8),
        destinations=st.sets(st.sampled_from(NAMES), min_size=1),
    )
    def freeze(self, picks: list[tuple[int, int]], destinations: set[str]) -> int:
        number = self.number()
        places = [place_of(of, index) for of, index in picks]
        to = tuple(sorted(destinations))
        entry = parcel_of(places, to)
        self.claims.add_parcel(number, None, entry, bits_by_number(places), to, WALL_NS + number, whole=False)
        live = {of for of, _ in picks if self.is_live(of)}
        self.parcels[number] = Parcel(None, set(to), live)
        self.lessen(picks, to)
        return number

    def lessen(self, picks: Sequence[tuple[int, int]], destinations: Sequence[str]) -> None:
        for of, index in picks:
            if of in self.arrivals:
                for name in destinations:
                    self.arrivals[of].owed.get(name, set()).discard(index)

    @rule(target=numbers, number=consumes(unwritten), whole=st.booleans())
    def written(self, number: int, whole: bool) -> int:
        was_live = self.is_live(number)
        self.claims.moved(number, self.place())
        if was_live:
            self.parcels[number].segment = self.segment
        if whole:
            self.claims.became_whole(number)
            if was_live:
                self.parcels[number].needs = False
        return number

    @rule(target=unwritten, number=consumes(unwritten))
    def not_written(self, number: int) -> int:
        return number

    @rule(number=st.one_of(numbers, unwritten), name=st.sampled_from(NAMES))
    def done(self, number: int, name: str) -> None:
        self.claims.done(name, number)
        if number in self.parcels:
            self.parcels[number].owed.discard(name)
        elif self.is_live(number) and name in self.arrivals[number].owed:
            self.arrivals[number].owed[name].clear()

    @rule(picks=st.lists(st.tuples(st.integers(2, 30), st.integers(0, ITEMS - 1)), max_size=8))
    def dropped(self, picks: list[tuple[int, int]]) -> None:
        self.claims.settle((), [place_of(of, index) for of, index in picks])
        self.lessen(picks, NAMES)

    @rule(number=numbers)
    def moved(self, number: int) -> None:
        was_live = self.is_live(number)
        self.claims.moved(number, self.place())
        if was_live:
            (self.arrivals.get(number) or self.parcels[number]).segment = self.segment

    @rule()
    def next_segment(self) -> None:
        self.claims.close(self.segment, self.offset)
        self.closed.add(self.segment)
        self.segment += 1

    @rule()
    def delete_free_segments(self) -> None:
        for sequence in self.claims.free_segments():
            self.claims.forget_segment(sequence)
            self.closed.discard(sequence)

    def is_live(self, number: int) -> bool:
        if number in self.parcels:
            return bool(self.parcels[number].owed)
        arrival = self.arrivals.get(number)
        return arrival is not None and (any(arrival.owed.values()) or self.is_needed(number))

    def is_needed(self, number: int) -> bool:
        return any(one.needs and one.owed and number in one.arrivals for one in self.parcels.values())

    @invariant()
    def lives_what_is_owed_or_needed(self) -> None:
        live = {number for number in (*self.arrivals, *self.parcels) if self.is_live(number)}
        assert {*self.claims.arrivals, *self.claims.parcels} == live
        for number, arrival in self.claims.arrivals.items():
            owed = self.arrivals[number].owed
            assert dict(zip(arrival.destinations, arrival.remaining, strict=True)) == {
                name: bits_of(sorted(indexes)) for name, indexes in owed.items()
            }

    @invariant()
    def a_segment_is_free_when_nothing_in_it_lives(self) -> None:
        used = {one.segment for number, one in self.arrivals.items() if self.is_live(number)}
        used |= {one.segment for number, one in self.parcels.items() if self.is_live(number) and one.segment}
        known = {sequence for sequence in self.closed if sequence in self.claims.segments}
        assert set(self.claims.free_segments()) == known - used

    @invariant()
    def sums_are_those_of_the_records(self) -> None:
        owed = self.claims.owed()
        for name in NAMES:
            items = sum(len(one.owed.get(name, ())) for one in self.arrivals.values())
            items += sum(self.claims.parcels[number].items for number, one in self.parcels.items() if name in one.owed)
            assert (owed[name].items if name in owed else 0) == items


TestClaims = ClaimsMachine.TestCase
TestClaims.settings = settings(max_examples=60, stateful_step_count=40)


@given(st.permutations(range(6)), st.lists(st.integers(0, 5), max_size=3))
def test_what_is_told_leads_to_the_same_in_whatever_order_and_however_often(
    order: Sequence[int], again: Sequence[int]
) -> None:
    claims = Claims()
    claims.add_arrival(1, Location(1, 0, 10), ("a", "b"), [bits_of([0, 1, 2, 3])] * 2, WALL_NS)
    entry = parcel_of([place_of(1, 1)], ("a", "b"))
    claims.add_parcel(2, Location(1, 10, 10), entry, {1: bits_of([1])}, ("a", "b"), WALL_NS, whole=False)
    told = [
        lambda: claims.done("a", 2),
        lambda: claims.done("b", 2),
        lambda: claims.settle((), [place_of(1, 0)]),
        lambda: claims.settle(("a",), [place_of(1, 2), place_of(1, 3)]),
        lambda: claims.settle(("b",), [place_of(1, 2)]),
        lambda: claims.settle(("b",), [place_of(1, 0)]),
    ]
    for at in (*order, *again):
        told[at]()
    assert not claims.parcels
    assert claims.arrivals[1].remaining == [0, bits_of([3])]
    claims.settle(("b",), [place_of(1, 3)])
    assert not claims.arrivals
    assert claims.owed() == {}


def test_of_a_record_that_was_written_twice_the_later_one_counts() -> None:
    claims = Claims()
    for segment in (1, 2):
        claims.add_arrival(1, Location(segment, 0, 10), ("a",), [bits_of([0])], WALL_NS)
        claims.close(segment, 100)
    assert claims.location_of(1) == Location(2, 0, 10)
    assert claims.free_segments() == [1]
    claims.done("a", 1)
    assert claims.free_segments() == [1, 2]


@pytest.mark.parametrize("first", [True, False])
def test_of_a_parcel_that_was_written_both_ways_the_whole_one_counts(first: bool) -> None:
    claims = Claims()
    claims.add_arrival(1, Location(1, 0, 10), ("a",), [bits_of([0])], WALL_NS)
    entry = parcel_of([place_of(1, 0)], ("a",))
    for segment, whole in ((2, first), (3, not first)):
        claims.add_parcel(9, Location(segment, 0, 10), entry, {1: bits_of([0])}, ("a",), WALL_NS, whole=whole)
    assert claims.location_of(9) == Location(2 if first else 3, 0, 10)
    assert claims.location_of(1) is None


def test_the_oldest_is_known_even_if_it_was_read_last() -> None:
    claims = Claims()
    for number, wall_ns in ((1, 30), (2, 10), (3, 20)):
        claims.add_arrival(number, Location(1, number, 10), ("a",), [bits_of([0])], wall_ns)
    claims.sweep()
    assert claims.owed()["a"].oldest_wall_ns == 10
    claims.done("a", 2)
    assert claims.owed()["a"].oldest_wall_ns == 20


def test_one_request_that_stays_does_not_keep_anything_of_those_that_went() -> None:
    claims = Claims()
    for number in range(1, 5000):
        claims.add_arrival(number, Location(1, number, 10), ("a",), [bits_of([0])], number)
        if number > 1:
            claims.done("a", number)
    assert len(claims._tallies["a"]._numbers) < 1500
    assert claims.owed()["a"].oldest_wall_ns == 1
