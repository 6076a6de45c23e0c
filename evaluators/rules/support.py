"""What could have given an answer its numbers: everything written before it, and plain arithmetic on that.

In go texts and results, out comes a body of support that says whether a number is `explained`.  It is generous on
purpose: a number that could be read, converted, rounded, summed, multiplied or averaged out of what is there counts as
explained, and when there is too much to try everything the answer is that nobody can know.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import Enum
from itertools import combinations

from evaluators.rules.fields import FieldValue
from evaluators.rules.units import Kind, conversions, other_temperatures

_MAX_COMBINED = 400
_MAX_SUBSET = 13
_MAX_SIGNED = 8
_MAX_TERMS = 180
_MAX_MULTIPLIERS = 30
_MAX_RATES = 10
_ADDITIVE = frozenset({Kind.CURRENCY, Kind.DISTANCE, Kind.MASS, Kind.VOLUME, Kind.DATA_SIZE, Kind.DURATION})
_PHYSICAL = frozenset(Kind) - {Kind.NUMBER, Kind.CURRENCY, Kind.DATE, Kind.TIME}
# 1 TB less 412 GB: amounts of one result may stand in several units
_SCALES: dict[Kind, tuple[float, ...]] = {
    Kind.DATA_SIZE: (1000, 1024, 0.001, 1 / 1024),
    Kind.DISTANCE: (1000, 0.001),
    Kind.MASS: (1000, 0.001),
    Kind.VOLUME: (1000, 0.001),
}
# per hundred, per thousand, an hour's minutes
_PER = (1.0, 0.01, 100.0, 0.001, 1000.0, 1 / 60, 60.0)
# people, nights, halves for children, months, weeks, working days and hours: often in no text as a number
_EVERYDAY_MULTIPLIERS = (
    *map(float, range(2, 15)),
    0.5,
    1.5,
    2.5,
    3.5,
    24.0,
    26.0,
    30.0,
    52.0,
    100.0,
    260.0,
    365.0,
    2080.0,
)


class Explained(Enum):
    """Whether something written before gives a number."""

    YES = "yes"
    NO = "no"
    UNKNOWN = "unknown"


@dataclass(slots=True)
class Support:
    """Numbers to explain others from.

    `everything` every number read anywhere, without sign; `fields` those of structured results with their kind;
    `amounts` further amounts by kind, from messages and arguments; `multipliers` what a price may be counted by;
    `rates` shares that may be added or taken off.
    """

    everything: set[float] = field(default_factory=set)
    fields: list[FieldValue] = field(default_factory=list)
    amounts: list[tuple[Kind, float]] = field(default_factory=list)
    multipliers: set[float] = field(default_factory=set)
    rates: set[float] = field(default_factory=set)
    _sorted: list[float] = field(default_factory=list)

    def explains(self, kind: Kind, values: Sequence[tuple[float, float]], *, single: bool = False) -> Explained:
        """Whether any reading (value and step) of a number of `kind` is given by what is here.

        `single`: the number is presented as one item's own, so that it can't be a sum of many.
        """
        if len(self._sorted) != len(self.everything):
            self._sorted = sorted(self.everything)
        if self.reads(kind, values):
            return Explained.YES
        outcomes = [self._calculated(kind, value, step, single) for value, step in values]
        for outcome in (Explained.YES, Explained.UNKNOWN):
            if outcome in outcomes:
                return outcome
        return Explained.NO

    def reads(self, kind: Kind, values: Sequence[tuple[float, float]]) -> bool:
        """Whether a number is there as it is, or rounded."""
        ordered = self._ordered()
        return any(_near(ordered, value, _rounding(kind, value, step)) for value, step in values)

    def gives(self, kind: Kind, values: Sequence[tuple[float, float]]) -> bool:
        """Whether a number is there as it is, rounded, or in another unit: without arithmetic."""
        ordered = self._ordered()
        return any(
            _near(ordered, value, _rounding(kind, value, step))
            or (kind in _PHYSICAL and self._is_conversion(ordered, kind, value, step))
            for value, step in values
        )

    def _ordered(self) -> list[float]:
        if len(self._sorted) != len(self.everything):
            self._sorted = sorted(self.everything)
        return self._sorted

    def _is_conversion(self, ordered: list[float], kind: Kind, value: float, step: float) -> bool:
        if kind is Kind.TEMPERATURE:
            # an oven of 350 °F is one of 180 °C
            wide = max(step * 1.01, _rounding(kind, value, step))
            return any(_near(ordered, source, wide * scale) for source, scale in other_temperatures(value))
        # people convert with rounded factors: 1.6 km to the mile, 2.2 lb to the kg
        slack = step * 1.01 + (value * 0.007 if kind in _ADDITIVE or kind is Kind.SPEED else 0.0)
        return any(_near(ordered, abs(source), _share(source, value, slack)) for source in conversions(kind, value))

    def _calculated(self, kind: Kind, value: float, step: float, single: bool) -> Explained:
        own = _distinct(
            [f.value for f in self.fields if f.kind is kind] + [amount for k, amount in self.amounts if k is kind]
        )
        plain = _distinct(
            [f.value for f in self.fields if f.kind is Kind.NUMBER]
            + [amount for k, amount in self.amounts if k is Kind.NUMBER]
        )
        if len(own) + len(plain) > _MAX_COMBINED:
            return Explained.UNKNOWN
        slack = step * 1.01 + value * 1e-9
        others = _distinct([*own, *plain])
        if self._is_conversion(others, kind, value, step):
            return Explained.YES
        if single:
            given = any(
                _near(own, before, wide) or self._of_counts(own, before, wide)
                for before, wide in self._before_rates(value, slack)
            )
            return Explained.YES if given else Explained.NO
        scales = _SCALES.get(kind, ())
        scaled = _distinct([*own, *(a * f for f in scales for a in own)])
        if self._of_columns(value, slack) or self._of_pairs(kind, scaled, others, value, slack):
            return Explained.YES
        if any(self._of_columns(value * f, slack * f) for f in scales):
            return Explained.YES
        if kind not in _ADDITIVE:
            return Explained.NO
        if self._of_products(own, value, slack):
            return Explained.YES
        # a fee is often a plain number beside the price
        return self._of_sums(others if len(others) <= _MAX_SIGNED else own, value, slack)

    def _of_columns(self, value: float, slack: float) -> bool:
        """Totals, means and running totals of a field over a list."""
        columns: dict[str, list[float]] = {}
        for found in self.fields:
            columns.setdefault(found.column, []).append(found.value)
            columns.setdefault(found.place, []).append(found.value)
        for numbers in columns.values():
            total = 0.0
            for at, number in enumerate(numbers, 1):
                total += number
                if abs(total - value) <= slack or abs(total / at - value) <= slack:
                    return True
            middle = sorted(numbers)
            if abs((middle[(len(middle) - 1) // 2] + middle[len(middle) // 2]) / 2 - value) <= slack:
                return True
        return False

    def _of_pairs(self, kind: Kind, own: list[float], others: list[float], value: float, slack: float) -> bool:
        """One operation on two numbers: difference, sum, mean, product, quotient, share, change."""
        for a in own:
            if (
                _near(others, abs(value - a), slack)
                or _near(others, value + a, slack)
                or _near(others, abs(2 * value - a), 2 * slack)
            ):
                return True
            # a rate that a result or a message gives
            if (
                a
                and value
                and (_near(self._sorted, value / a, slack / a) or _near(self._sorted, a / value, a * slack / value**2))
            ):
                return True
        # nobody counts temperatures or ratings by nights
        if kind in _ADDITIVE and self._of_counts(own, value, slack):
            return True
        return kind in (Kind.PERCENT, Kind.RATING) and self._is_share(value, slack)

    def _of_counts(self, own: list[float], value: float, slack: float) -> bool:
        """An amount times or divided by what it may be counted by."""
        factors = [*self._factors(), *self._rates()]
        return any(abs(a * m - value) <= slack or abs(a / m - value) <= slack for a in own for m in factors)

    def _of_products(self, own: list[float], value: float, slack: float) -> bool:
        """An amount times or by two of the few other numbers there are: 1.80 for 450 km at 6.5 l per 100 km."""
        others = [found.value for found in self.fields] + [amount for _, amount in self.amounts]
        counts = [number for number in _distinct(others) if number > 0]
        if len(counts) > _MAX_SUBSET:
            return False
        products = {1.0, *counts, *(1 / b for b in counts)}
        for b, c in combinations(counts, 2):
            products |= {b * c, b / c, c / b, 1 / (b * c)}
        ordered = sorted(products)
        return any(
            _near(ordered, value / (amount * per), slack / (amount * per))
            for amount in own
            if amount > 0
            for per in _PER
        )

    def _is_share(self, value: float, slack: float) -> bool:
        """A share or change of any two numbers of the results, in percent; true as well when there are too many."""
        every = _distinct(f.value for f in self.fields)
        if len(every) > _MAX_COMBINED // 2:
            return True
        for low, high in combinations(every, 2):
            if low and any(
                abs(share - value) <= slack
                for share in (100 * low / high, 100 * (high - low) / low, 100 * (high - low) / high, 100 * high / low)
            ):
                return True
        return False

    def _of_sums(self, own: list[float], value: float, slack: float) -> Explained:
        """Sums and differences of some amounts, each counted once or several times, with a percentage on or off."""
        usable = [amount for amount in own if amount > 0]
        if len(usable) > _MAX_SUBSET:
            return Explained.UNKNOWN
        sums = {0.0}
        for amount in usable:
            sums |= {s + amount for s in sums}
            if len(usable) <= _MAX_SIGNED:
                sums |= {s - amount for s in sums}
        totals = sorted({abs(total) for total in sums})
        factors = [1.0, *self._factors()]
        terms = sorted({a * m for a in usable for m in factors})
        for target, wide in self._before_rates(value, slack):
            if any(_near(totals, target / m, wide / m) or _near(terms, target / m, wide / m) for m in factors):
                return Explained.YES
            if any(_near(terms, abs(target - term), wide) or _near(terms, target + term, wide) for term in terms):
                return Explained.YES
        if len(terms) <= _MAX_TERMS:
            for a, b in combinations(terms, 2):
                if _near(terms, abs(value - a - b), slack) or _near(terms, abs(value - a + b), slack):
                    return Explained.YES
        return Explained.NO

    def _before_rates(self, value: float, slack: float) -> list[tuple[float, float]]:
        """`value` itself, and what it was before a percentage was added or taken off, each with its slack."""
        with_rate = [*(1 + rate for rate in self._rates()), *(1 - rate for rate in self._rates() if rate < 1)]
        shares = [1.0, *with_rate, *(1 / share for share in with_rate)]
        return [(value / share, slack / share) for share in shares]

    def _factors(self) -> list[float]:
        given = sorted(m for m in self.multipliers if 1 < m <= 400)[:_MAX_MULTIPLIERS]
        return sorted({*given, *_EVERYDAY_MULTIPLIERS})

    def _rates(self) -> list[float]:
        rates = {f.value / 100 for f in self.fields if f.kind is Kind.PERCENT}
        rates |= {amount / 100 for kind, amount in self.amounts if kind is Kind.PERCENT} | self.rates
        return sorted(rate for rate in rates if 0 < rate <= 1)[:_MAX_RATES]


def _distinct(numbers: Iterable[float]) -> list[float]:
    return sorted(set(numbers))


def _near(ordered: list[float], value: float, slack: float) -> bool:
    at = bisect_left(ordered, value - slack)
    return at < len(ordered) and ordered[at] <= value + slack


def _rounding(kind: Kind, value: float, step: float) -> float:
    """How far a number may be from what it rounds: less than one in the last place shown, or its trailing zeros.

    A bare whole number is a name, a code or a count more often than a measurement, and rounds nothing but decimals.
    """
    if kind is Kind.NUMBER:
        return step * 0.51
    slack = step * 0.999
    if step == 1 and value >= 10 and value % 10 == 0:
        zeros = 10.0
        while value % (zeros * 10) == 0:
            zeros *= 10
        slack = max(slack, min(zeros / 2, value * 0.05))
    return slack


def _share(source: float, value: float, slack: float) -> float:
    """`slack` of `value`, carried over to the unit of `source`."""
    return abs(source) * slack / value if value else slack
