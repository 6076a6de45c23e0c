"""The calls of a reference and those of a run, paired: in any order, or in the order of the reference.

In: how alike each pair of one name is.  Out: the pairs, and what their order costs.  Calls of different names are never
paired, so the best assignment is that of each name by itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from evaluators.reference.alignment import Pairs, Worth, best_assignment, best_sequence
from evaluators.reference.calls import Call
from evaluators.reference.comparator import Comparison

_STEPS = 1_000_000

CallTable: TypeAlias = Mapping[tuple[int, int], Comparison]
"""(place among the expected calls, place among those made) → how alike they are; pairs of other names are not in it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Alignment:
    """Pairs that count, and pairs that were made in another order than expected where order counts.

    `total` is the sum of likenesses; `order` the share of it that is left if order counts.
    """

    pairs: list[tuple[int, int, Comparison]]
    displaced: Pairs
    total: float
    order: float


Groups: TypeAlias = Mapping[str, tuple[list[int], list[int]]]
"""name → places of the expected calls of this name, and of those made"""


def aligned(table: CallTable, groups: Groups, *, in_order: bool) -> Alignment:
    """The best alignment. `in_order`: only pairs in the order of both lists count; the others are displaced."""
    anyhow = _assigned(table, groups)
    sequence = _in_sequence(table, groups)
    best, most = _total(table, sequence), _total(table, anyhow)
    chosen = sequence if in_order else anyhow
    displaced: Pairs = []
    if in_order:
        taken, used = {at for at, _ in sequence}, {there for _, there in sequence}
        left = {
            name: ([at for at in here if at not in taken], [at for at in there if at not in used])
            for name, (here, there) in groups.items()
        }
        displaced = _assigned(table, left)
    return Alignment(
        pairs=[(at, there, table[at, there]) for at, there in chosen],
        displaced=displaced,
        total=_total(table, chosen),
        order=best / most if most else 1.0,
    )


def _assigned(table: CallTable, groups: Groups) -> Pairs:
    pairs: Pairs = []
    for here, there in groups.values():
        worth = [[_worth(table[at, place]) for place in there] for at in here]
        pairs += [(here[row], there[column]) for row, column in best_assignment(worth)]
    return sorted(pairs)


def _in_sequence(table: CallTable, groups: Groups) -> Pairs:
    rows = sorted(at for here, _ in groups.values() for at in here)
    columns = sorted(at for _, there in groups.values() for at in there)
    worth: Worth = [[_worth(table.get((at, there))) for there in columns] for at in rows]
    return [(rows[row], columns[column]) for row, column in best_sequence(worth)]


def _worth(one: Comparison | None) -> int:
    """Likeness first; of equal sums the one with more pairs, so that a call with all arguments wrong isn't missing."""
    if one is None:
        return 0
    return round(one.likeness * _STEPS) * _STEPS + 1


def _total(table: CallTable, pairs: Pairs) -> float:
    # summed as whole numbers, so that the order of the calls makes no difference in the last place
    return sum(round(table[pair].likeness * _STEPS) for pair in pairs) / _STEPS


def by_name(made: Sequence[Call], expected: Sequence[Call]) -> Groups:
    """The places of calls of each name that is on both sides: only these can be pairs."""
    groups: dict[str, tuple[list[int], list[int]]] = {}
    for at, call in enumerate(expected):
        groups.setdefault(call.name, ([], []))[0].append(at)
    for at, call in enumerate(made):
        if call.name in groups:
            groups[call.name][1].append(at)
    return {name: both for name, both in groups.items() if both[1]}
