"""What the verdicts on a run's steps amount to: per evaluator a summary on the run's span, never a verdict itself.

In: the steps of a trace and the marks of what was said about them.  Out: `RollUp`s by run.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase

from evaluators.cases import CallsCase, Case, DecisionCase, ResponseCase
from evaluators.evaluator import EvaluatorSettings
from evaluators.step_settings import StepSettings
from evaluators.verdict import Level, Status
from processors.cases.spans import Placed
from processors.verdicts.marks import Marks


@dataclass(frozen=True, slots=True, kw_only=True)
class StepOutcome:
    """What became of one step; `score` and `passed` are None where there is no score.

    `weight` is what it counts in the mean; `critical`: it has to pass.
    """

    evaluator: str
    score: float | None
    passed: bool | None
    weight: float = 1.0
    critical: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class RollUp:
    """The steps of one run that one evaluator looked at.

    `mean`, `lowest` and `all_passed` are None when nothing was judged.  `critical_passed` is None unless a critical
    step failed, or all that there are were judged and passed.
    """

    evaluator: str
    judged: int
    unscored: int
    mean: float | None = None
    lowest: float | None = None
    all_passed: bool | None = None
    critical_passed: bool | None = None


def roll_up(outcomes: Iterable[StepOutcome]) -> list[RollUp]:
    """One `RollUp` per evaluator, in order of first appearance."""
    grouped: dict[str, list[StepOutcome]] = {}
    for outcome in outcomes:
        grouped.setdefault(outcome.evaluator, []).append(outcome)
    rolled = []
    for evaluator, steps in grouped.items():
        scores = [(step.weight, step.score) for step in steps if step.score is not None]
        grades = [step.passed for step in steps if step.passed is not None]
        rolled.append(
            RollUp(
                evaluator=evaluator,
                judged=len(scores),
                unscored=len(steps) - len(scores),
                mean=sum(w * score for w, score in scores) / sum(w for w, _ in scores) if scores else None,
                lowest=min(score for _, score in scores) if scores else None,
                all_passed=all(grades) if grades else None,
                critical_passed=_all_of([step.passed for step in steps if step.critical]),
            )
        )
    return rolled


def roll_ups_of_runs(
    placed: Iterable[Placed], marks: Marks, settings: Mapping[str, EvaluatorSettings]
) -> dict[str, list[RollUp]]:
    """By run span: the roll-ups over the steps of which something was said, other than that they don't apply.

    Args:
        placed: all cases of the trace.
        marks: what was said about them.
        settings: those of the evaluators, by name.
    """
    steps: dict[str, dict[tuple[str, str], StepOutcome]] = {}
    for one in placed:
        said = marks.get((one.span_id, one.evaluator))
        if one.level is not Level.SPAN or not one.case.run.ref or not said or said.status == Status.NOT_APPLICABLE:
            continue
        of_run = steps.setdefault(one.case.run.ref, {})
        before = of_run.get((one.span_id, one.evaluator))
        weight, critical = _standing(one.case, settings.get(one.evaluator))
        of_run[one.span_id, one.evaluator] = StepOutcome(
            evaluator=one.evaluator,
            score=said.score,
            passed=said.passed,
            # several cases on one span are one step
            weight=weight if before is None else max(weight, before.weight),
            critical=critical or (before is not None and before.critical),
        )
    return {run_id: roll_up(outcomes.values()) for run_id, outcomes in steps.items()}


def _all_of(passed: list[bool | None]) -> bool | None:
    if False in passed:
        return False
    return True if passed and None not in passed else None


def _standing(case: Case, settings: EvaluatorSettings | None) -> tuple[float, bool]:
    """What a step counts and whether it is critical: as its weightiest tool, and as soon as one of its tools is."""
    if not isinstance(settings, StepSettings) or not (settings.tool_weights or settings.critical_tools):
        return 1.0, False
    names = _tools(case)
    critical = any(fnmatchcase(name, pattern) for name in names for pattern in settings.critical_tools)
    return max((_weight(name, settings.tool_weights) for name in names), default=1.0), critical


def _weight(name: str, weights: Mapping[str, float]) -> float:
    return next((weight for pattern, weight in weights.items() if fnmatchcase(name, pattern)), 1.0)


def _tools(case: Case) -> frozenset[str]:
    match case:
        case DecisionCase(turn=turn):
            return frozenset(call.name for call in turn.calls)
        case CallsCase(calls=calls) | ResponseCase(calls=calls):
            return frozenset(call.name for call in calls)
        case _:
            return frozenset()
