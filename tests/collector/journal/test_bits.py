"""Sets of indexes as integers."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from collector.journal.bits import all_but, bits_by_number, bits_of, indexes_of
from collector.journal.entries import place_of

INDEXES = st.lists(st.integers(0, 3000), max_size=40)


@given(INDEXES)
def test_indexes_come_back_in_order_and_once(indexes: list[int]) -> None:
    assert list(indexes_of(bits_of(indexes))) == sorted(set(indexes))


@given(st.integers(0, 3000), INDEXES)
def test_all_but_some_are_the_others(count: int, excluded: list[int]) -> None:
    inside = [index for index in excluded if index < count]
    assert list(indexes_of(all_but(count, inside))) == sorted(set(range(count)) - set(inside))


@given(st.lists(st.tuples(st.integers(1, 5), st.integers(0, 2**24 - 1).filter(lambda one: one < 5000)), max_size=30))
def test_places_fall_to_their_arrivals_in_whatever_order_they_come(pairs: list[tuple[int, int]]) -> None:
    found = bits_by_number([place_of(number, index) for number, index in pairs])
    assert {number: set(indexes_of(bits)) for number, bits in found.items()} == {
        number: {index for of, index in pairs if of == number} for number, _ in pairs
    }
