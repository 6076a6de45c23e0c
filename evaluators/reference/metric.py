"""The one shape of metrics that compare what was called with something from outside the run. No model is asked.

A metric implements `measure`; this base takes the calls out of the case, says what is missing, and makes the verdict.
Scores keep the published meaning of each metric, so label and `passed` are there only with a threshold.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar

from pydantic import Field

from evaluators.cases import CaseKind, JsonValue, Reference, Run, RunCase
from evaluators.computed import ComputedEvaluator, ComputedSettings
from evaluators.evaluator import Screening
from evaluators.reference.calls import Call, expected_calls, made_calls, too_large
from evaluators.verdict import Issue, Level, Method, Status, Verdict

FROM_ATTRIBUTES = "attributes"
_MOST_NAMED = 4
_LESS_WHEN_CUT = 0.8


class ReferenceSettings(ComputedSettings):
    """What every metric against a reference can be told."""

    threshold: float | None = Field(
        default=None, ge=0.0, le=1.0, description="Lowest score that passes; without one there is a score alone."
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """What came of a comparison: a score in 0..1 and why, in one sentence."""

    score: float
    reason: str
    issues: tuple[Issue, ...] = ()
    details: Mapping[str, JsonValue] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Unmeasured:
    """That a metric is not defined on these calls, and why."""

    reason: str
    status: Status = Status.MISSING_INPUT


class CallMetric(ComputedEvaluator[RunCase]):
    """A metric over the calls of a run."""

    judges = CaseKind.RUN
    level = Level.TRACE
    good_label = "pass"
    bad_label = "fail"
    code_version = "1"
    takes_options = True
    method: ClassVar[Method] = Method.REFERENCE

    def conclude_by_rules(self, screening: Screening) -> Verdict:
        """The verdict on what was measured; it says what came of the comparison before it names single calls."""
        verdict = super().conclude_by_rules(screening)
        if verdict.status is not Status.OK:
            return verdict
        named = [found.detail for found in screening.issues[:_MOST_NAMED]]
        return replace(verdict, method=self.method, explanation=" ".join((screening.reason, *named)))


class ReferenceMetric(CallMetric):
    """A metric that compares the calls of a run with those that were expected."""

    @property
    def compares_arguments(self) -> bool:
        """Whether arguments make a difference, as this is configured."""
        return True

    @abstractmethod
    def measure(self, made: Sequence[Call], expected: Sequence[Call]) -> Measured | Unmeasured:
        """Compare what was called with what was expected; either may be empty. Pure, and never raises."""

    def screen(self, case: RunCase) -> Screening:
        """The score, or what is missing for one."""
        lacking = lacking_calls(case)
        if lacking is not None:
            return lacking
        reference = case.reference
        if reference is None:
            return missing("It isn't known which calls were expected: there is no reference for this run.")
        if reference.tool_calls is None:
            return missing(f"The reference of this run ({reference.source}) has no tool_calls that can be read.")
        made, expected = made_calls(case.run, reference.tool_calls), expected_calls(reference.tool_calls)
        if self.compares_arguments and _are_cut(made, case.run):
            return missing("Arguments of calls were cut off or not captured.")
        reason = too_large(made, expected)
        if reason is not None:
            return Screening(status=Status.TOO_LARGE, reason=reason)
        return screening(self.measure(made, expected), case, reference)


def _are_cut(made: Sequence[Call], run: Run) -> bool:
    """Whether arguments are known to have been lost. Null, where nothing says that it was lost, is what was called."""
    return any(call.truncated or (call.arguments is None and "arguments" in run.missing) for call in made)


def screening(measured: Measured | Unmeasured, case: RunCase, reference: Reference | None = None) -> Screening:
    """What was measured, with where the reference is from: one that the judged side wrote itself is said to be that."""
    told: dict[str, JsonValue] = {} if reference is None else {"reference": reference.source}
    if isinstance(measured, Unmeasured):
        return Screening(status=measured.status, reason=measured.reason, details=told)
    own = reference is not None and reference.source == FROM_ATTRIBUTES
    source = " The expected calls are from the run's own attributes." if own else ""
    return Screening(
        status=Status.OK,
        score=measured.score,
        confidence=_LESS_WHEN_CUT if case.run.truncated else 1.0,
        issues=measured.issues,
        evidence=(case.run.ref,) if case.run.ref else (),
        reason=measured.reason + source,
        details={**told, **measured.details},
    )


def lacking_calls(case: RunCase) -> Screening | None:
    """What to say of a run whose calls aren't all known; None when they are."""
    if case.run.partial:
        return missing("Part of the trace never arrived.")
    # Where models' answers weren't captured at all, executions tell of all calls; some of many may be lost for good.
    told = any(turn.calls for turn in case.run.turns)
    if "tool_calls" in case.run.missing and (told or not case.run.calls):
        return missing("Tool calls were not captured.")
    return None


def missing(reason: str) -> Screening:
    """That an input is missing."""
    return Screening(status=Status.MISSING_INPUT, reason=reason)


def harmonic(precision: float, recall: float) -> float:
    """F1; 0 where both are."""
    return 2 * precision * recall / (precision + recall) if precision + recall > 0 else 0.0


def counted(made: int, expected: int) -> str:
    """How many calls there are on both sides, for a reason."""
    return f"{made} made, {expected} expected"
