"""Sums per destination, and the oldest record without looking through all of them."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from collector.journal.tally import _FEW, Tally


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 30)), max_size=200), st.integers(0, 3))
def test_the_oldest_is_the_first_that_is_still_owed(steps: list[tuple[bool, int]], asked_every: int) -> None:
    tally = Tally()
    owed: list[int] = []
    for number, (comes, which) in enumerate(steps):
        if comes or not owed:
            tally.add(number, 2, 10)
            owed.append(number)
        else:
            owed.pop(which % len(owed))
            tally.remove(2, 10)
        if asked_every and number % asked_every == 0:
            assert tally.oldest(owed.__contains__) == (owed[0] if owed else None)
    assert tally.oldest(owed.__contains__) == (owed[0] if owed else None)
    assert (tally.items, tally.size_bytes, tally.records) == (2 * len(owed), 10 * len(owed), len(owed))


def test_one_record_that_stays_does_not_keep_the_numbers_of_all_that_went() -> None:
    tally = Tally()
    tally.add(0, 1, 1)
    for number in range(1, 10 * _FEW):
        tally.add(number, 1, 1)
        tally.remove(1, 1)
        if tally.is_littered:
            assert tally.oldest(lambda one: one == 0) == 0
    assert len(tally._numbers) <= _FEW + 2
