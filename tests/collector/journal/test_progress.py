"""Progress comes back from its records, and its shorter form says the same of what is still there."""

from __future__ import annotations

from array import array

import pytest
from hypothesis import given
from hypothesis import strategies as st

from collector.journal.coding import UnreadableBodyError
from collector.journal.entries import place_of
from collector.journal.framing import Kind, Record, header_of, scan
from collector.journal.progress import Progress
from collector.records import PLACE_BITS

MARKER = bytes(8)
NUMBERS = st.integers(1, 12)
PLACES = st.builds(place_of, NUMBERS, st.integers(0, 3))
NAMES = st.sampled_from(["a", "b"])


@st.composite
def progresses(draw: st.DrawFn) -> Progress:
    progress = Progress()
    for name, number in draw(st.lists(st.tuples(NAMES, NUMBERS), max_size=8)):
        progress.add_done(name, number)
    for names, places in draw(st.lists(st.tuples(st.lists(NAMES, unique=True), st.lists(PLACES)), max_size=4)):
        progress.add_settled(tuple(names), places)
    progress.released.extend(draw(st.lists(NUMBERS, max_size=4)))
    for number in draw(st.lists(NUMBERS, max_size=2)):
        progress.add_crashed(number, draw(st.integers(1, 3)))
    return progress


Said = tuple[bool, set[str], set[tuple[tuple[str, ...], int]], int | None]


def said_of(progress: Progress, number: int) -> Said:
    """Everything that is said of a record."""
    return (
        number in progress.released,
        {name for name, numbers in progress.done.items() if number in numbers},
        {
            (names, place)
            for names, places in progress.settled.items()
            for place in places
            if place >> PLACE_BITS == number
        },
        progress.crashed.get(number),
    )


@given(progresses())
def test_it_comes_back_from_its_records(progress: Progress) -> None:
    data = b""
    for kind, number, body in progress.records():
        data += header_of(MARKER, kind, number, body) + b"".join(body)
    back = Progress()
    for record in scan(data, MARKER):
        assert isinstance(record, Record)
        back.read(record)
    for number in range(1, 13):
        assert said_of(back, number) == said_of(progress, number)


@given(progresses(), st.sets(NUMBERS), st.sets(NUMBERS))
def test_the_shorter_form_says_the_same_of_what_is_there_and_nothing_of_the_rest(
    progress: Progress, present: set[int], gone: set[int]
) -> None:
    shorter = progress.restricted(present, gone)
    nothing: Said = (False, set(), set(), None)
    for number in range(1, 13):
        if number not in present:
            assert said_of(shorter, number) == nothing
        elif number in gone or number in progress.released:
            assert said_of(shorter, number) == (True, *nothing[1:])
        else:
            assert said_of(shorter, number) == said_of(progress, number)


@given(progresses(), progresses())
def test_two_say_together_what_both_say(one: Progress, other: Progress) -> None:
    highest = max(one.highest_number(), other.highest_number())
    before = [(said_of(one, number), said_of(other, number)) for number in range(1, 13)]
    one.add(other)
    assert one.highest_number() == highest
    for number, (first, second) in enumerate(before, 1):
        released, done, settled, crashed = said_of(one, number)
        assert released == (first[0] or second[0])
        assert done == first[1] | second[1]
        assert settled == first[2] | second[2]
        assert crashed == (max(first[3] or 0, second[3] or 0) or None)


def test_other_records_are_refused() -> None:
    with pytest.raises(UnreadableBodyError, match="kind 3"):
        Progress().read(Record(Kind.ARRIVAL, 1, 0, 40, memoryview(b"")))


def test_what_takes_room_is_numbers() -> None:
    progress = Progress(released=array("Q", range(1000)))
    assert 8000 <= progress.size_bytes < 9000
    assert bool(progress)
    assert not Progress()
