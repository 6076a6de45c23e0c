"""Which item of one list belongs to which of another: the best one-to-one assignment, and the best in order.

In: how much each pair is worth, whole numbers so that sums are exact, 0 for a pair that can't be.  Out: pairs of
positions.  Both are optimal; there is no greedy choice whose result would hang on the order of the lists.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

Worth: TypeAlias = Sequence[Sequence[int]]
Pairs: TypeAlias = list[tuple[int, int]]
"""(row, column), in order of rows."""


def effort(rows: int, columns: int) -> int:
    """How much work an assignment is at worst, in steps of some 0.2 µs."""
    return min(rows, columns) ** 2 * max(rows, columns)


def best_assignment(worth: Worth) -> Pairs:
    """The pairs, each row and each column in one at most, that are worth the most together.

    The Hungarian method with potentials (Kuhn 1955, Munkres 1957), by shortest augmenting paths: `effort` steps.
    """
    if not worth or not worth[0]:
        return []
    if len(worth) > len(worth[0]):
        turned = [list(column) for column in zip(*worth, strict=True)]
        return sorted((row, column) for column, row in best_assignment(turned))
    rows, columns = len(worth), len(worth[0])
    row_price, column_price = [0] * rows, [0] * columns
    row_of: list[int | None] = [None] * columns
    for start in range(rows):
        _augment(start, worth, row_price, column_price, row_of)
    return sorted((row, column) for column, row in enumerate(row_of) if row is not None and worth[row][column] > 0)


def _augment(start: int, worth: Worth, row_price: list[int], column_price: list[int], row_of: list[int | None]) -> None:
    """Give one more row its column, along the cheapest path of changes; prices stay such that none is below zero."""
    columns = len(column_price)
    distance: list[int | None] = [None] * columns
    came_from: list[int | None] = [None] * columns
    done = [False] * columns
    row, column, reached = start, None, 0
    while True:
        nearest: int | None = None
        for at in range(columns):
            if done[at]:
                continue
            through = reached - worth[row][at] - row_price[row] - column_price[at]
            known = distance[at]
            if known is None or through < known:
                distance[at], known = through, through
                came_from[at] = column
            if nearest is None or known < _known(distance, nearest):
                nearest = at
        assert nearest is not None
        column, reached = nearest, _known(distance, nearest)
        done[column] = True
        owner = row_of[column]
        if owner is None:
            break
        row = owner
    row_price[start] += reached
    for at in range(columns):
        if done[at] and at != column:
            gained = reached - _known(distance, at)
            column_price[at] -= gained
            owner = row_of[at]
            assert owner is not None
            row_price[owner] += gained
    last: int | None = column
    while last is not None:
        before = came_from[last]
        row_of[last] = start if before is None else row_of[before]
        last = before


def _known(distance: Sequence[int | None], at: int) -> int:
    found = distance[at]
    assert found is not None
    return found


def best_sequence(worth: Worth) -> Pairs:
    """The pairs that are worth the most together and ascend in both lists: the heaviest common subsequence."""
    rows, columns = len(worth), len(worth[0]) if worth else 0
    best = [[0] * (columns + 1)]
    for values in worth:
        above, row = best[-1], [0]
        for at, value in enumerate(values):
            row.append(max(above[at + 1], row[-1], above[at] + value))
        best.append(row)
    pairs: Pairs = []
    at, column = rows, columns
    while at and column:
        if best[at][column] == best[at - 1][column]:
            at -= 1
        elif best[at][column] == best[at][column - 1]:
            column -= 1
        else:
            at, column = at - 1, column - 1
            pairs.append((at, column))
    return pairs[::-1]
