"""Runs as cases, and what the scores of a run's steps amount to."""

from __future__ import annotations

from evaluators.cases import Run
from evaluators.verdict import Level
from processors.traces import RollUp, StepOutcome, place_runs, roll_up
from processors.transcript import Transcript


def outcome(score: float | None, *, evaluator: str = "tool_invocation") -> StepOutcome:
    return StepOutcome(evaluator=evaluator, score=score, passed=None if score is None else score == 1.0)


def test_every_run_of_a_trace_is_a_case_on_its_own_span() -> None:
    transcript = Transcript(trace_id="", runs=(Run(ref="a", user_inputs=("Hi",)), Run(ref="b", final_answer="Ho")))
    cases = list(place_runs(transcript, "task_completion"))
    assert [(one.span_id, one.level, one.case.run.ref) for one in cases] == [
        ("a", Level.TRACE, "a"),
        ("b", Level.TRACE, "b"),
    ]


def test_a_span_round_nothing_that_says_nothing_is_no_run() -> None:
    assert list(place_runs(Transcript(trace_id="", runs=(Run(ref="a"),)), "task_completion")) == []


def test_a_run_that_was_seen_on_no_span_has_no_place_for_a_verdict() -> None:
    assert list(place_runs(Transcript(trace_id="", runs=(Run(final_answer="Ho"),)), "task_completion")) == []


def test_scores_are_summed_up_per_evaluator() -> None:
    outcomes = [outcome(1.0), outcome(0.5), outcome(None), outcome(1.0, evaluator="tool_selection")]
    assert roll_up(outcomes) == [
        RollUp(evaluator="tool_invocation", judged=2, unscored=1, mean=0.75, lowest=0.5, all_passed=False),
        RollUp(evaluator="tool_selection", judged=1, unscored=0, mean=1.0, lowest=1.0, all_passed=True),
    ]


def test_where_nothing_was_judged_nothing_has_passed() -> None:
    assert roll_up([outcome(None), outcome(None)]) == [RollUp(evaluator="tool_invocation", judged=0, unscored=2)]


def test_no_step_no_roll_up() -> None:
    assert roll_up([]) == []
