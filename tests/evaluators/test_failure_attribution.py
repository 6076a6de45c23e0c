"""Whose fault a failed run was, from the verdicts of others."""

from __future__ import annotations

import pytest

from evaluators.cases import SourceVerdict
from evaluators.evaluation import Item, derive
from evaluators.failure_attribution import FailureAttribution
from evaluators.verdict import Status, Verdict
from tests.evaluators.runs import run_of

HIGH, LOW, NA = True, False, None


def said(evaluator: str, passed: bool | None, status: Status | None = None) -> SourceVerdict:
    given = status or (Status.NOT_APPLICABLE if passed is None else Status.OK)
    score = None if passed is None else float(passed)
    return SourceVerdict(
        evaluator=evaluator, status=given, score=score, passed=passed, confidence=0.7, ref=f"at {evaluator}"
    )


def verdict(*sources: SourceVerdict) -> Verdict:
    return derive(Item(FailureAttribution(), run_of()), sources)


def of(plan: bool | None, adherence: bool | None, done: bool | None, *more: SourceVerdict) -> Verdict:
    return verdict(said("plan_quality", plan), said("plan_adherence", adherence), said("task_completion", done), *more)


@pytest.mark.parametrize(
    ("plan", "adherence", "done", "label"),
    [
        (HIGH, HIGH, HIGH, "none"),
        (HIGH, NA, HIGH, "none"),
        (HIGH, LOW, HIGH, "none"),
        (HIGH, HIGH, LOW, "execution"),
        (HIGH, LOW, LOW, "execution"),
        (HIGH, NA, LOW, "execution"),
        (LOW, HIGH, LOW, "planning"),
        (LOW, NA, LOW, "planning"),
        (LOW, LOW, LOW, "both"),
        (LOW, HIGH, HIGH, "lucky"),
        (LOW, LOW, HIGH, "lucky"),
        (LOW, NA, HIGH, "lucky"),
        (NA, NA, HIGH, "none"),
    ],
)
def test_the_label_is_looked_up_and_is_no_grade(
    plan: bool | None, adherence: bool | None, done: bool, label: str
) -> None:
    found = of(plan, adherence, done)
    assert (found.status, found.label, found.score, found.passed) == (Status.OK, label, None, None)


@pytest.mark.parametrize("tool", ["tool_selection", "tool_invocation", "tool_response_handling"])
def test_without_a_plan_a_failed_tool_verdict_puts_it_down_to_execution(tool: str) -> None:
    assert of(NA, NA, LOW, said(tool, HIGH), said(tool, LOW)).label == "execution"


@pytest.mark.parametrize("tools", [(), (said("tool_selection", HIGH),), (said("tool_selection", NA),)])
def test_without_a_plan_and_a_failed_tool_verdict_nothing_can_be_said(tools: tuple[SourceVerdict, ...]) -> None:
    found = of(NA, NA, LOW, *tools)
    assert (found.status, found.label) == (Status.NOT_APPLICABLE, None)
    assert found.explanation == "The task failed, but there is no visible plan, and no verdict on a tool failed."


@pytest.mark.parametrize("status", [Status.NEEDS_JUDGE, Status.JUDGE_ERROR, Status.MISSING_INPUT, Status.TIMED_OUT])
@pytest.mark.parametrize(
    ("sources", "lacks"),
    [
        ({"plan_quality": HIGH, "plan_adherence": HIGH, "task_completion": "?"}, "task_completion"),
        ({"plan_quality": "?", "plan_adherence": HIGH, "task_completion": LOW}, "plan_quality"),
        ({"plan_quality": "?", "plan_adherence": HIGH, "task_completion": HIGH}, "plan_quality"),
        ({"plan_quality": LOW, "plan_adherence": "?", "task_completion": LOW}, "plan_adherence"),
        ({"plan_quality": NA, "task_completion": LOW, "tool_invocation": "?"}, "the verdicts on tools"),
    ],
)
def test_what_would_decide_and_is_not_known_leaves_it_open_and_says_why(
    sources: dict[str, bool | str | None], lacks: str, status: Status
) -> None:
    given = [said(name, None, status) if of == "?" else said(name, of) for name, of in sources.items()]  # type: ignore[arg-type]
    found = verdict(*given)
    assert (found.status, found.label) == (status, None)
    assert found.explanation == f"It depends on {lacks}, which is {status}."


@pytest.mark.parametrize(
    ("sources", "label"),
    [
        ({"plan_quality": HIGH, "plan_adherence": "?", "task_completion": LOW}, "execution"),
        ({"plan_quality": LOW, "plan_adherence": "?", "task_completion": HIGH}, "lucky"),
        ({"plan_quality": NA, "task_completion": LOW, "tool_invocation": "?", "tool_selection": LOW}, "execution"),
    ],
)
def test_what_would_not_change_the_label_may_stay_open(sources: dict[str, bool | str | None], label: str) -> None:
    given = [
        said(name, None, Status.NEEDS_JUDGE) if of == "?" else said(name, of)  # type: ignore[arg-type]
        for name, of in sources.items()
    ]
    assert verdict(*given).label == label


def test_without_task_completion_there_is_nothing_to_attribute() -> None:
    found = verdict(said("plan_quality", LOW))
    assert (found.status, found.explanation) == (
        Status.MISSING_INPUT,
        "There is no verdict of task_completion on this run.",
    )


def test_a_success_that_left_its_plan_or_wasted_steps_is_told_as_such() -> None:
    found = of(HIGH, LOW, HIGH, said("step_efficiency", LOW))
    assert [str(one.code) for one in found.issues] == ["execution_deviated", "inefficient_execution"]
    assert "not the way it was planned" in found.explanation
    assert of(HIGH, HIGH, HIGH, said("step_efficiency", HIGH)).issues == ()


@pytest.mark.parametrize("done", [LOW, HIGH])
def test_a_poor_plan_is_not_told_as_waste(done: bool) -> None:
    assert of(LOW, LOW, done, said("step_efficiency", LOW)).issues == ()


@pytest.mark.parametrize(
    ("plan", "adherence", "done", "words"),
    [
        (HIGH, HIGH, LOW, ("tool schemas", "checks of arguments", "error")),
        (LOW, HIGH, LOW, ("prompt", "skills", "examples")),
        (LOW, LOW, LOW, ("prompt", "tool schemas")),
        (LOW, HIGH, HIGH, ("example", "prompt")),
    ],
)
def test_every_label_but_none_comes_with_advice(
    plan: bool, adherence: bool, done: bool, words: tuple[str, ...]
) -> None:
    found = of(plan, adherence, done)
    assert all(word in str(found.details["advice"]) for word in words)
    assert str(found.details["advice"]) in found.explanation
    assert of(HIGH, HIGH, HIGH).details["advice"] is None


def test_it_rests_on_the_verdicts_that_it_used() -> None:
    found = of(HIGH, NA, LOW)
    assert found.evidence == ("at plan_quality", "at task_completion")
    assert found.confidence == 0.7
