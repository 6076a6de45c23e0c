"""Agreement of verdicts with people's labels, as figures.

In: pairs of a person's and an evaluator's judgement of the same thing.  Out: agreement, balanced accuracy and Cohen's
kappa with intervals, and which other threshold would serve better.  "Bad" is the positive class: incorrect, fail.

Sources: kappa and its standard error, J. Cohen, "A Coefficient of Agreement for Nominal Scales", Educational and
Psychological Measurement 20 (1960); the interval of a share, E. B. Wilson, "Probable Inference", JASA 22 (1927).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

Z_95 = 1.959964
_WORTH_TELLING = 0.02
_NEARLY_BEST = 0.005


@dataclass(frozen=True, slots=True)
class Pair:
    """What a person and an evaluator said of one thing.

    `score` is the evaluator's, 0..1 and higher is better, None where it gave none; `critical` says that the verdict is
    bad whatever the score.
    """

    bad: bool
    told_bad: bool
    score: float | None = None
    critical: bool = False


@dataclass(frozen=True, slots=True)
class Interval:
    """A figure with its 95 % interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """The figures of some pairs.

    Counts first: `caught` bad ones told bad, `missed` bad ones told good, `false_alarms` good ones told bad, `cleared`
    good ones told good.  `base_rate` is the share of bad ones; `balanced_accuracy` and `kappa` are None where all
    labels are the same, since nothing can be said then.
    """

    caught: int
    missed: int
    false_alarms: int
    cleared: int
    agreement: Interval
    base_rate: float
    balanced_accuracy: Interval | None
    kappa: Interval | None

    @property
    def pairs(self) -> int:
        """How many there were."""
        return self.caught + self.missed + self.false_alarms + self.cleared


def agreement_of(pairs: Iterable[Pair]) -> Agreement | None:
    """The figures; None where there are no pairs."""
    found = list(pairs)
    if not found:
        return None
    caught = sum(pair.bad and pair.told_bad for pair in found)
    missed = sum(pair.bad and not pair.told_bad for pair in found)
    false_alarms = sum(pair.told_bad and not pair.bad for pair in found)
    cleared = len(found) - caught - missed - false_alarms
    return Agreement(
        caught=caught,
        missed=missed,
        false_alarms=false_alarms,
        cleared=cleared,
        agreement=share(caught + cleared, len(found)),
        base_rate=(caught + missed) / len(found),
        balanced_accuracy=_balanced(caught, missed, false_alarms, cleared),
        kappa=_kappa(caught, missed, false_alarms, cleared),
    )


def share(part: int, whole: int) -> Interval:
    """`part` of `whole` (at least 1) with Wilson's score interval."""
    value, square = part / whole, Z_95 * Z_95
    middle = (value + square / (2 * whole)) / (1 + square / whole)
    spread = Z_95 / (1 + square / whole) * math.sqrt(value * (1 - value) / whole + square / (4 * whole * whole))
    return Interval(value, max(0.0, middle - spread), min(1.0, middle + spread))


@dataclass(frozen=True, slots=True)
class BetterThreshold:
    """A threshold that would serve better, with the balanced accuracy now and then."""

    threshold: float
    now: float
    then: float


def better_threshold(pairs: Sequence[Pair], threshold: float) -> BetterThreshold | None:
    """The nearest threshold that brings about as much as the best one; None if none brings anything worth telling.

    Args:
        pairs: those with a score count.
        threshold: the present one; a score passes at or above it.
    """
    scored = [pair for pair in pairs if pair.score is not None]
    now = _balanced_at(scored, threshold)
    if now is None:
        return None
    scores = sorted({pair.score for pair in scored if pair.score is not None})
    # Between two scores one threshold is as good as another; the upper score itself is the one that reads best.
    candidates = [(one, served) for one in scores if (served := _balanced_at(scored, one)) is not None]
    best = max(served for _, served in candidates)
    if best - now < _WORTH_TELLING:
        return None
    good = [(one, served) for one, served in candidates if served >= best - _NEARLY_BEST]
    nearest, then = min(good, key=lambda one: (abs(one[0] - threshold), one[0]))
    return BetterThreshold(nearest, now, then)


def _balanced_at(pairs: Sequence[Pair], threshold: float) -> float | None:
    told = [
        Pair(pair.bad, pair.critical or pair.score < threshold, pair.score) for pair in pairs if pair.score is not None
    ]
    figures = agreement_of(told)
    balanced = None if figures is None else figures.balanced_accuracy
    return None if balanced is None else balanced.value


def _balanced(caught: int, missed: int, false_alarms: int, cleared: int) -> Interval | None:
    bad, good = caught + missed, false_alarms + cleared
    if not bad or not good:
        return None
    recall, specificity = caught / bad, cleared / good
    value = (recall + specificity) / 2
    error = math.sqrt(_variance(caught, bad) + _variance(cleared, good)) / 2
    return Interval(value, max(0.0, value - Z_95 * error), min(1.0, value + Z_95 * error))


def _kappa(caught: int, missed: int, false_alarms: int, cleared: int) -> Interval | None:
    pairs = caught + missed + false_alarms + cleared
    seen = (caught + cleared) / pairs
    told_bad, bad = caught + false_alarms, caught + missed
    by_chance = (told_bad * bad + (pairs - told_bad) * (pairs - bad)) / (pairs * pairs)
    if by_chance == 1.0:
        return None
    value = (seen - by_chance) / (1 - by_chance)
    error = math.sqrt(_variance(caught + cleared, pairs)) / (1 - by_chance)
    return Interval(value, max(-1.0, value - Z_95 * error), min(1.0, value + Z_95 * error))


def _variance(part: int, whole: int) -> float:
    """Of a share, with one more of either kind, since few cases without a difference don't prove that there is none."""
    value = (part + 1) / (whole + 2)
    return value * (1 - value) / (whole + 2)
