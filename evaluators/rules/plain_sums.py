"""Sums that anybody can check: totals, means and differences of a list, an amount times a count or a rate.

In go the material before an answer, out comes whether one of them gives a number to the last place shown.  What stands
on such a sum isn't even suspected.  Much narrower than `support`, which is asked before anything is called a fault.
"""

from __future__ import annotations

import re
from functools import cached_property
from itertools import combinations

from evaluators.rules.fields import FieldValue
from evaluators.rules.material import Material
from evaluators.rules.mentions import said
from evaluators.rules.numbers import Quantity
from evaluators.rules.reading import reading_of
from evaluators.rules.structured import scalars
from evaluators.rules.units import Kind

_MOST_FIELDS = 60
_SHORT_LIST = 6
_MOST_COUNTED = 60
_MOST_ASKED = 40
_LONGEST_WISH = 500
_RATE = re.compile(r"rate|kurs|汇率|匯率|レート|환율", re.IGNORECASE)
_UNCOUNTED = frozenset({Kind.DATE, Kind.TIME, Kind.TEMPERATURE, Kind.RATING, Kind.PERCENT})


class PlainSums:
    """What the latest results give by one step of arithmetic, worked out when it is first asked for."""

    def __init__(self, material: Material) -> None:
        self._material = material

    def give(self, quantity: Quantity) -> bool:
        """Whether a sum comes to this number, as exactly as it is written."""
        if quantity.kind in _UNCOUNTED:
            return False
        return any(
            abs(total - value) <= step * 0.51
            for value, step in quantity.values
            if step < value
            for total in self._totals
        )

    @cached_property
    def _totals(self) -> frozenset[float]:
        columns: dict[str, list[float]] = {}
        for found in self._fields:
            columns.setdefault(found.column, []).append(found.value)
        every = [amount for numbers in columns.values() for amount in numbers]
        totals = {amount * count for amount in every for count in self._counts}
        totals |= {amount / 100 for amount in every if amount.is_integer()}  # cents
        for column, numbers in columns.items():
            if len(numbers) > 1:
                totals |= {sum(numbers), sum(numbers) / len(numbers)}
            if len(numbers) <= _SHORT_LIST:
                totals |= {abs(one - other) for one, other in combinations(numbers, 2)}
            if _RATE.search(column) is not None:
                totals |= {amount * rate for amount in self._asked for rate in numbers}
                totals |= {amount / rate for amount in self._asked for rate in numbers if rate}
        return frozenset(totals)

    @cached_property
    def _fields(self) -> list[FieldValue]:
        found: list[FieldValue] = []
        for call in reversed(self._material.calls):
            for text in said(call):
                read = reading_of(text)
                if read.value is not None:
                    found += read.fields(call.name)
            if len(found) > _MOST_FIELDS:
                return []
        return [field for field in found if field.kind not in _UNCOUNTED]

    @cached_property
    def _counts(self) -> frozenset[float]:
        """Nights, people, pieces: whole numbers that were asked for."""
        return frozenset(one for one in self._asked if 1 < one <= _MOST_COUNTED and one.is_integer())

    @cached_property
    def _asked(self) -> frozenset[float]:
        """The numbers that tools were given and users named."""
        given = {
            float(one)
            for arguments in self._material.arguments
            for one in scalars(arguments if isinstance(arguments, str) else dict(arguments or {}))
            if isinstance(one, int | float) and not isinstance(one, bool)
        }
        said_so = set().union(
            *(reading_of(text).numbers for text in self._material.texts if len(text) <= _LONGEST_WISH)
        )
        found = given | said_so
        return frozenset(found) if len(found) <= _MOST_ASKED else frozenset(given)
