"""From visible plans to the verdict on them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from evaluators.cases import Plan, PlanSource, PlanStep, Reference, RunCase, Tool, ToolCall, Turn
from evaluators.issues import IssueCode, Severity
from evaluators.judge.question import JudgeAnswer
from evaluators.plan_quality import PlanQuality, PlanQualitySettings
from evaluators.plan_quality.answer import PlanQualityAnswer
from evaluators.plan_quality.worth import DEDUCTIONS, Fault, plan_score
from evaluators.verdict import Method, Status, Verdict
from tests.evaluators.runs import call, run_of

EVALUATOR = PlanQuality()
STEPS = ("Look the order up.", "Refund it.", "Tell the user.")


def plan(*steps: str, source: PlanSource = PlanSource.TEXT, **more: Any) -> Plan:
    return Plan(**{"steps": tuple(PlanStep(text=s) for s in steps), "source": source, "turn": 0, "ref": "t0"} | more)


def case(*plans: Plan, calls: tuple[ToolCall, ...] = (), tools: tuple[str, ...] | None = None, **more: Any) -> RunCase:
    made = run_of(*(calls or (call("get_order", {"id": 1}, "ok"),)), plans=plans, **more)
    if tools is None:
        return made
    offered = tuple(Tool(name=name) for name in tools)
    return replace(made, run=replace(made.run, turns=tuple(replace(turn, tools=offered) for turn in made.run.turns)))


def screened(made: RunCase, **settings: Any) -> Verdict:
    evaluator = PlanQuality(PlanQualitySettings(**settings))
    return evaluator.conclude_by_rules(evaluator.screen(made))


def concluded(
    made: RunCase, *faults: tuple[str, int | None], task: str = "several_steps", cut: bool = False
) -> Verdict:
    content = PlanQualityAnswer.model_validate(
        {
            "task": task,
            "faults": [
                {"plan": 1, "step": step, "why": f"it has {code}", "evidence": ["t0"], "fault": code}
                for code, step in faults
            ],
            "explanation": "Something is amiss.",
        }
    )
    return EVALUATOR.conclude(made, EVALUATOR.screen(made), JudgeAnswer(content=content, model="m", input_cut=cut))


UNJUDGED = [
    pytest.param(case(), Status.NOT_APPLICABLE, id="no plan"),
    pytest.param(case(plan("Do it.")), Status.NOT_APPLICABLE, id="a plan of one step"),
    pytest.param(case(plan(*STEPS, source=PlanSource.REASONING)), Status.NOT_APPLICABLE, id="only thought"),
    pytest.param(case(plan(*STEPS), user_inputs=None), Status.MISSING_INPUT, id="no user input"),
    pytest.param(case(turns=(Turn(index=0),)), Status.MISSING_INPUT, id="nothing of what was said"),
    pytest.param(case(plan(*STEPS)), Status.NEEDS_JUDGE, id="a plan, and nobody to judge it"),
]


@pytest.mark.parametrize(("made", "status"), UNJUDGED)
def test_without_a_visible_plan_and_a_judge_there_is_no_score(made: RunCase, status: Status) -> None:
    verdict = screened(made)
    assert (verdict.status, verdict.score) == (status, None)


def test_reasoning_counts_where_it_is_said_to() -> None:
    made = case(plan(*STEPS, source=PlanSource.REASONING))
    assert screened(made, use_reasoning=True).status is Status.NEEDS_JUDGE


def test_a_task_from_a_reference_stands_in_for_the_users_words() -> None:
    made = replace(case(plan(*STEPS), user_inputs=None), reference=Reference(task="Refund order 1."))
    assert screened(made).status is Status.NEEDS_JUDGE
    assert "given from outside the run: Refund order 1." in EVALUATOR.question(made, EVALUATOR.screen(made)).subject


def test_a_task_of_one_step_needs_no_plan() -> None:
    verdict = concluded(case(plan(*STEPS)), task="one_step")
    assert (verdict.status, verdict.score) == (Status.NOT_APPLICABLE, None)


def test_a_plan_without_faults_is_sound() -> None:
    verdict = concluded(case(plan(*STEPS)))
    assert (verdict.score, verdict.label, verdict.method, verdict.issues) == (1.0, "pass", Method.JUDGE, ())


def test_faults_cost_what_they_are_listed_with() -> None:
    verdict = concluded(case(plan(*STEPS)), ("missing_step", None), ("no_verification", 2), ("overcomplicated", 3))
    assert verdict.score == pytest.approx(0.45)
    assert (verdict.label, verdict.passed) == ("fail", False)
    assert [(one.code, one.severity) for one in verdict.issues] == [
        (IssueCode.MISSING_STEP, Severity.MAJOR),
        (IssueCode.NO_VERIFICATION, Severity.MINOR),
        (IssueCode.OVERCOMPLICATED, Severity.MINOR),
    ]
    assert verdict.evidence == ("t0",)


@pytest.mark.parametrize(
    ("faults", "score"),
    [
        ([], 1.0),
        ([Fault(IssueCode.MISSING_STEP, 1, 1), Fault(IssueCode.MISSING_STEP, 1, 1)], 0.7),
        ([Fault(IssueCode.MISSING_STEP, 1, 1), Fault(IssueCode.MISSING_STEP, 1, 2)], 0.4),
        ([Fault(IssueCode.MISSING_STEP, 1, 1), Fault(IssueCode.MISSING_STEP, 2, 3)], 0.7),
        ([Fault(code, 1, 0) for code in DEDUCTIONS], 0.0),
    ],
)
def test_a_fault_costs_once_per_step_and_once_for_all_versions_of_a_plan(faults: list[Fault], score: float) -> None:
    assert plan_score(faults) == pytest.approx(score)


def test_faults_of_steps_that_are_not_there_are_dropped() -> None:
    assert concluded(case(plan(*STEPS)), ("missing_step", 9)).score == 1.0


def test_what_was_cut_makes_less_sure() -> None:
    whole, cut = concluded(case(plan(*STEPS))), concluded(case(plan(*STEPS)), cut=True)
    assert whole.confidence is not None and cut.confidence is not None and cut.confidence < whole.confidence


def test_all_versions_of_a_plan_are_shown_with_their_turns() -> None:
    made = case(plan(*STEPS), plan("Try again.", "Give up.", turn=1, revises=True))
    subject = EVALUATOR.question(made, EVALUATOR.screen(made)).subject
    assert "Plan 1, announced at turn 1:\n1. Look the order up." in subject
    assert "Plan 2, announced at turn 2, in place of the one before:\n1. Try again." in subject


def suspicions(made: RunCase) -> list[tuple[str, bool]]:
    return [(str(one.code), one.conclusive) for one in EVALUATOR.screen(made).issues]


def test_a_tool_that_nobody_was_offered_is_suspected() -> None:
    assert suspicions(case(plan("Use the fetch_order tool.", "Reply."), tools=("get_order",))) == [
        ("unavailable_tool", False)
    ]
    assert suspicions(case(plan("使用工具 fetch_order 查询", "回复"), tools=("get_order",))) == [
        ("unavailable_tool", False)
    ]


@pytest.mark.parametrize(
    ("step", "tools"),
    [
        ("Use the get_order tool.", ("get_order",)),
        ("Use the get_order tool.", ("shop__get_order",)),
        ("Use the getOrder tool.", ("get_order",)),
        ("Use the web_search tool.", ("get_order", "web_search_preview")),
        ("Use the fetch_order tool.", None),
        ("Read user_id from the file.", ("get_order",)),
        ("Refactor parse_config().", ("get_order",)),
        ("Use the right tool.", ("get_order",)),
    ],
)
def test_what_may_be_available_is_not_suspected(step: str, tools: tuple[str, ...] | None) -> None:
    assert suspicions(case(plan(step, "Reply."), tools=tools)) == []


def test_a_tool_that_turned_out_not_to_exist_is_certain() -> None:
    failed = call("fetch_order", {}, error="unknown tool fetch_order")
    made = case(plan("Use the fetch_order tool.", "Reply."), calls=(failed,), tools=("get_order",))
    assert suspicions(made) == [("unavailable_tool", True)]
    assert screened(made).status is Status.NEEDS_JUDGE, "one fault alone leaves the score to the judge"
    assert screened(made, threshold=0.8).label == "fail"
    assert concluded(made).score == pytest.approx(0.7)


@pytest.mark.parametrize(
    ("steps", "user", "suspected"),
    [
        (("Look the records up.", "Delete the records."), "Clean up.", True),
        (("Look the records up.", "Call delete_records."), "Clean up.", True),
        (("Ask the user.", "Delete the records."), "Clean up.", False),
        (("Back up the records.", "Delete the records."), "Clean up.", False),
        (("备份数据", "delete_records"), "清理", False),
        (("Look the records up.", "Delete the records."), "Delete them all.", False),
        (("Look the records up.", "Describe the records."), "Clean up.", False),
    ],
)
def test_what_cannot_be_undone_is_suspected_where_nobody_is_asked(
    steps: tuple[str, ...], user: str, suspected: bool
) -> None:
    made = case(plan(*steps), tools=("delete_records", "describe_records"), user_inputs=(user,))
    assert suspicions(made) == ([("no_confirmation_or_rollback", False)] if suspected else [])
