"""Trace level: the runs of a trace as cases, and what the scores of a run's steps amount to.

In: a `Transcript`; for roll-ups the outcomes of span-level evaluators.  Out: cases placed on each run's span, and
`RollUp`s.  A roll-up summarises verdicts and is never one itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from evaluators.cases import Run, RunCase
from evaluators.verdict import Level, Status
from processors.marks import Marks
from processors.reading.absent import open_calls
from processors.spans import Placed
from processors.transcript import Transcript


@dataclass(frozen=True, slots=True, kw_only=True)
class StepOutcome:
    """What became of one step; `score` and `passed` are None where there is no score."""

    evaluator: str
    score: float | None
    passed: bool | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RollUp:
    """The steps of one run that one evaluator looked at.

    `mean`, `lowest` and `all_passed` are None when nothing was judged.
    """

    evaluator: str
    judged: int
    unscored: int
    mean: float | None = None
    lowest: float | None = None
    all_passed: bool | None = None


def place_runs(transcript: Transcript, evaluator: str) -> Iterator[Placed]:
    """One case per run, for a trace that is complete. One that may go on in another trace is never settled.

    A span of an agent that encloses nothing and says nothing, as the making of an agent leaves one, is no run.
    """
    for run in transcript.runs:
        if run.ref is not None and (run.turns or run.loose_calls or run.user_inputs or run.final_answer):
            settled = not (transcript.headless and _is_left_open(run))
            yield Placed(
                evaluator=evaluator, level=Level.TRACE, span_id=run.ref, case=RunCase(run=run), settled=settled
            )


def _is_left_open(run: Run) -> bool:
    """Whether the last that is known of a run are calls, and nobody knows what came of them."""
    return run.answered is None and not run.aborted and bool(run.turns) and bool(open_calls(run.turns[-1]))


def roll_up(outcomes: Iterable[StepOutcome]) -> list[RollUp]:
    """One `RollUp` per evaluator, in order of first appearance."""
    grouped: dict[str, list[StepOutcome]] = {}
    for outcome in outcomes:
        grouped.setdefault(outcome.evaluator, []).append(outcome)
    rolled = []
    for evaluator, steps in grouped.items():
        scores = [step.score for step in steps if step.score is not None]
        if scores:
            rolled.append(
                RollUp(
                    evaluator=evaluator,
                    judged=len(scores),
                    unscored=len(steps) - len(scores),
                    mean=sum(scores) / len(scores),
                    lowest=min(scores),
                    all_passed=all(step.passed for step in steps if step.score is not None),
                )
            )
        else:
            rolled.append(RollUp(evaluator=evaluator, judged=0, unscored=len(steps)))
    return rolled


def roll_ups_of_runs(placed: Iterable[Placed], marks: Marks) -> dict[str, list[RollUp]]:
    """By run span: the roll-ups over the steps of which something was said, other than that they don't apply."""
    steps: dict[str, dict[tuple[str, str], StepOutcome]] = {}
    for one in placed:
        said = marks.get((one.span_id, one.evaluator))
        if one.level is Level.SPAN and one.case.run.ref and said and said.status != Status.NOT_APPLICABLE:
            outcome = StepOutcome(evaluator=one.evaluator, score=said.score, passed=said.passed)
            steps.setdefault(one.case.run.ref, {})[one.span_id, one.evaluator] = outcome
    return {run_id: roll_up(outcomes.values()) for run_id, outcomes in steps.items()}
