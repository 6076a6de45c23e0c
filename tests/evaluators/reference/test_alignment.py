"""The best pairs of two lists, held against trying all of them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, pairwise, permutations

from hypothesis import given
from hypothesis import strategies as st

from evaluators.reference.alignment import best_assignment, best_sequence


@st.composite
def tables(draw: st.DrawFn) -> list[list[int]]:
    rows, columns = draw(st.integers(0, 5)), draw(st.integers(1, 5))
    return [[draw(st.integers(0, 9)) for _ in range(columns)] for _ in range(rows)]


def total(worth: Sequence[Sequence[int]], pairs: Sequence[tuple[int, int]]) -> int:
    return sum(worth[row][column] for row, column in pairs)


def best_of_all(worth: Sequence[Sequence[int]], *, in_order: bool) -> int:
    """By trying every choice of as many rows as columns."""
    columns = len(worth[0]) if worth else 0
    most = 0
    for size in range(1, min(len(worth), columns) + 1):
        for rows in combinations(range(len(worth)), size):
            choices = combinations(range(columns), size) if in_order else permutations(range(columns), size)
            most = max(most, *(total(worth, list(zip(rows, chosen, strict=True))) for chosen in choices))
    return most


@given(tables())
def test_no_assignment_is_worth_more(worth: list[list[int]]) -> None:
    pairs = best_assignment(worth)
    assert total(worth, pairs) == best_of_all(worth, in_order=False)


@given(tables())
def test_no_sequence_is_worth_more(worth: list[list[int]]) -> None:
    pairs = best_sequence(worth)
    assert total(worth, pairs) == best_of_all(worth, in_order=True)
    assert all(before[0] < after[0] and before[1] < after[1] for before, after in pairwise(pairs))


@given(tables())
def test_nothing_is_paired_twice_or_with_what_it_can_t_be(worth: list[list[int]]) -> None:
    pairs = best_assignment(worth)
    rows, columns = [row for row, _ in pairs], [column for _, column in pairs]
    assert len(set(rows)) == len(rows)
    assert len(set(columns)) == len(columns)
    assert all(worth[row][column] > 0 for row, column in pairs)


def test_empty_lists_have_no_pairs() -> None:
    assert best_assignment([]) == best_assignment([[], []]) == best_sequence([]) == best_sequence([[], []]) == []
