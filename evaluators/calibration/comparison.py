"""Verdicts beside people's labels, grouped by what may make a difference.

In: what a person and an evaluator said of the same things.  Out: figures per evaluator, as a whole and by language and
source, with examples of where they differ.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from evaluators.calibration.agreement import Agreement, BetterThreshold, Pair, agreement_of, better_threshold
from evaluators.calibration.record import Measured
from evaluators.issues import CRITICAL_CODES, Severity
from evaluators.verdict import Method, Status, Verdict

ALL = "all"


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """One thing that a person labelled: its name, the label, and what an evaluator said. `threshold` is its setting."""

    name: str
    bad: bool
    verdict: Verdict
    threshold: float | None = None
    language: str = ""
    source: str = ""

    @property
    def pair(self) -> Pair | None:
        """Both judgements; None where there is no grade."""
        told_bad = _told_bad(self.verdict)
        if told_bad is None:
            return None
        critical = any(
            one.conclusive and (one.severity is Severity.CRITICAL or one.code in CRITICAL_CODES)
            for one in self.verdict.issues
        )
        return Pair(self.bad, told_bad, self.verdict.score, critical)


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """The figures of an evaluator over some things.

    `group` is "all", or names a language or source.  `agreement` is None where nothing had a grade.  `unscored` counts
    what had none, by status, and `by_judge` grades that a judge model gave.
    """

    evaluator: str
    group: str
    agreement: Agreement | None
    unscored: Counter[str]
    by_judge: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Differences:
    """Where an evaluator and people differ, and whether another threshold would help."""

    evaluator: str
    missed: Sequence[Compared]
    false_alarms: Sequence[Compared]
    better: BetterThreshold | None


def groups(compared: Sequence[Compared]) -> Iterator[Group]:
    """Figures per evaluator: of all, then of each language and each source where there are several."""
    for evaluator in dict.fromkeys(one.verdict.evaluator for one in compared):
        own = [one for one in compared if one.verdict.evaluator == evaluator]
        yield _group(evaluator, ALL, own)
        for what in ("language", "source"):
            values = sorted({getattr(one, what) for one in own} - {""})
            for value in values if len(values) > 1 else ():
                yield _group(evaluator, f"{what} {value}", [one for one in own if getattr(one, what) == value])


def differences(compared: Sequence[Compared], examples: int) -> Iterator[Differences]:
    """Per evaluator some of the cases in which it differs from people, the surest verdicts first."""
    for evaluator in dict.fromkeys(one.verdict.evaluator for one in compared):
        own = [one for one in compared if one.verdict.evaluator == evaluator]
        graded = [(one, pair) for one in own if (pair := one.pair) is not None]
        wrong = sorted(
            ((one, pair) for one, pair in graded if pair.bad is not pair.told_bad),
            key=lambda found: -(found[0].verdict.confidence or 0.0),
        )
        thresholds = {one.threshold for one in own if one.threshold is not None}
        pairs = [pair for _, pair in graded]
        yield Differences(
            evaluator=evaluator,
            missed=[one for one, pair in wrong if pair.bad][:examples],
            false_alarms=[one for one, pair in wrong if not pair.bad][:examples],
            better=better_threshold(pairs, thresholds.pop()) if len(thresholds) == 1 else None,
        )


def measured(compared: Iterable[Compared]) -> Iterator[Measured]:
    """What is to be remembered: the agreement of grades that judge models gave, by evaluator and revision."""
    by_revision: dict[tuple[str, str, str | None], list[Pair]] = {}
    for one in compared:
        verdict, pair = one.verdict, one.pair
        if pair is not None and verdict.method is Method.JUDGE:
            by_revision.setdefault((verdict.evaluator, verdict.revision, verdict.model), []).append(pair)
    for (evaluator, revision, model), pairs in by_revision.items():
        figures = agreement_of(pairs)
        if figures is not None:
            balanced, kappa = figures.balanced_accuracy, figures.kappa
            yield Measured(
                evaluator=evaluator,
                revision=revision,
                model=model,
                pairs=figures.pairs,
                base_rate=round(figures.base_rate, 4),
                agreement=round(figures.agreement.value, 4),
                balanced_accuracy=None if balanced is None else round(balanced.value, 4),
                kappa=None if kappa is None else round(kappa.value, 4),
                kappa_low=None if kappa is None else round(kappa.low, 4),
                kappa_high=None if kappa is None else round(kappa.high, 4),
            )


def _group(evaluator: str, group: str, compared: Sequence[Compared]) -> Group:
    pairs = [pair for one in compared if (pair := one.pair) is not None]
    unscored = Counter(str(one.verdict.status) for one in compared if one.pair is None)
    by_judge = sum(one.pair is not None and one.verdict.method is Method.JUDGE for one in compared)
    return Group(evaluator=evaluator, group=group, agreement=agreement_of(pairs), unscored=unscored, by_judge=by_judge)


def _told_bad(verdict: Verdict) -> bool | None:
    if verdict.status is not Status.OK:
        return None
    if verdict.passed is not None:
        return not verdict.passed
    return None if verdict.score is None else verdict.score < 0.5
