"""From a plan and what was done to the verdict on how it was followed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from pydantic import ValidationError

from evaluators.cases import Plan, PlanSource, PlanState, PlanStep, RunCase, Tool, ToolCall, ToolResult, Turn
from evaluators.issues import IssueCode
from evaluators.judge.question import JudgeAnswer
from evaluators.plan_adherence import PlanAdherence, PlanAdherenceSettings
from evaluators.plan_adherence.answer import StepOutcome, answer_for
from evaluators.plan_adherence.evaluator import adherence_score
from evaluators.verdict import Method, Status, Verdict
from tests.evaluators.runs import call, run_of

EVALUATOR = PlanAdherence()
STEPS = ("Check the weather.", "Search flights.", "Search hotels.")
TOOLS = ("get_weather", "search_flights", "search_hotels")
ASKED = "Plan a weekend in Lisbon: weather, a flight and a hotel."
WEATHER = call("get_weather", {"city": "Lisbon"}, "21 degrees", id="w")
FLIGHTS = call("search_flights", {"to": "LIS"}, "TP1", id="f")
HOTELS = call("search_hotels", {"city": "Lisbon"}, "Aurora", id="h")


def plan(*steps: str, states: tuple[PlanState | None, ...] = (), **more: Any) -> Plan:
    planned = tuple(
        PlanStep(text=text, state=states[at] if at < len(states) else None) for at, text in enumerate(steps or STEPS)
    )
    return Plan(**{"steps": planned, "source": PlanSource.TEXT, "turn": 0, "ref": "t0"} | more)


def case(*calls: ToolCall, plans: tuple[Plan, ...] | None = None, user: str = ASKED, **more: Any) -> RunCase:
    made = run_of(*calls, user=user, **{"answer": "It is warm in Lisbon.", "plans": plans or (plan(),)} | more)
    offered = tuple(Tool(name=name) for name in TOOLS)
    return replace(made, run=replace(made.run, turns=tuple(replace(turn, tools=offered) for turn in made.run.turns)))


def by_rules(made: RunCase, **settings: Any) -> Verdict:
    evaluator = PlanAdherence(PlanAdherenceSettings(**settings))
    return evaluator.conclude_by_rules(evaluator.screen(made))


def concluded(made: RunCase, *outcomes: str, added: tuple[str, ...] = (), cut: bool = False) -> Verdict:
    content = answer_for(len(outcomes)).model_validate(
        {
            "steps": [
                {"step": at, "why": f"it was {outcome}", "evidence": [f"t{at}"], "outcome": outcome}
                for at, outcome in enumerate(outcomes, 1)
            ],
            "added": [{"call_id": id, "why": "nobody asked", "evidence": []} for id in added],
            "explanation": "As told.",
        }
    )
    return EVALUATOR.conclude(made, EVALUATOR.screen(made), JudgeAnswer(content=content, model="m", input_cut=cut))


@pytest.mark.parametrize(
    ("made", "status"),
    [
        pytest.param(run_of(WEATHER), Status.NOT_APPLICABLE, id="no plan"),
        pytest.param(case(WEATHER, plans=(plan("Go."),)), Status.NOT_APPLICABLE, id="one step"),
        pytest.param(case(plans=(plan(source=PlanSource.DELEGATION),)), Status.NOT_APPLICABLE, id="only delegations"),
        pytest.param(case(WEATHER, user_inputs=None), Status.MISSING_INPUT, id="no user input"),
        pytest.param(case(WEATHER, partial=True), Status.MISSING_INPUT, id="partial"),
        pytest.param(case(WEATHER, FLIGHTS, HOTELS), Status.NEEDS_JUDGE, id="followed, as far as rules know"),
    ],
)
def test_without_plan_and_judge_there_is_no_score(made: RunCase, status: Status) -> None:
    verdict = by_rules(made)
    assert (verdict.status, verdict.score) == (status, None)


def test_steps_that_were_asked_for_planned_and_silently_left_out_fail_by_rule() -> None:
    verdict = by_rules(case(WEATHER))
    assert (verdict.score, verdict.label, verdict.method) == (pytest.approx(1 / 3, abs=1e-4), "fail", Method.RULE)
    assert [one.code for one in verdict.issues] == [IssueCode.STEP_SKIPPED] * 2


FAILED = call("get_weather", {"city": "Lisbon"}, error="503", id="w")
REASONS = [
    pytest.param(case(FAILED), id="something failed"),
    pytest.param(case(WEATHER, answer="No flights or hotels are needed: it rains."), id="the answer speaks of it"),
    pytest.param(
        case(WEATHER, answer="Sorry, I can't go on: the account is suspended."), id="something was impossible"
    ),
    pytest.param(case(WEATHER, answer="很抱歉，无法继续。"), id="something was impossible, in Chinese"),
    pytest.param(case(WEATHER, answer="A hurricane is forecast. I would postpone the trip."), id="it advises against"),
    pytest.param(case(WEATHER, answer="里斯本有飓风，建议推迟行程。"), id="it advises against, in Chinese"),
    pytest.param(
        case(
            WEATHER,
            call("web_search", {"q": "flights to Lisbon"}, "TP1", id="s1"),
            call("web_search", {"q": "hotels in Lisbon"}, "Aurora", id="s2"),
        ),
        id="another tool did it",
    ),
    pytest.param(
        case(call("get_weather", {"city": "Lisbon"}, "21 degrees; flights TP1; hotels Aurora", id="w")),
        id="a result brought it along",
    ),
    pytest.param(case(WEATHER, answer="It is warm. Shall I go on?"), id="the agent asks"),
    pytest.param(case(WEATHER, answer="天气很好。请告诉我下一步。"), id="the agent asks, in Chinese"),
    pytest.param(case(WEATHER, user="Is it warm in Lisbon?"), id="the user didn't ask for it"),
    pytest.param(
        case(WEATHER, plans=(plan(STEPS[0], "Search flights if it is warm.", "Search hotels if needed."),)),
        id="conditions",
    ),
    pytest.param(case(WEATHER, plans=(plan(STEPS[0], "找航班", "找酒店"),)), id="no tool is named"),
    pytest.param(case(WEATHER, final_answer=None, answered=None), id="no answer captured"),
    pytest.param(case(WEATHER, truncated=True), id="something was cut"),
    pytest.param(case(replace(WEATHER, result=None)), id="results not captured"),
    pytest.param(case(WEATHER, plans=(plan(states=(None, PlanState.CANCELLED, PlanState.CANCELLED)),)), id="cancelled"),
]


@pytest.mark.parametrize("made", REASONS)
def test_whatever_may_be_a_reason_leaves_it_to_the_judge(made: RunCase) -> None:
    verdict = by_rules(made)
    assert verdict.status is Status.NEEDS_JUDGE
    assert not any(one.conclusive for one in verdict.issues)


def test_the_users_next_word_may_be_a_reason() -> None:
    made = case(WEATHER)
    turns = (*made.run.turns, Turn(index=2, text="As you like.", user_turn=1))
    assert by_rules(replace(made, run=replace(made.run, turns=turns))).status is Status.NEEDS_JUDGE


def test_a_change_of_plan_takes_the_place_of_what_was_open() -> None:
    revised = plan("Check the weather in Porto.", "Tell the user.", turn=1, revises=True)
    verdict = by_rules(case(WEATHER, replace(WEATHER, id="w2"), plans=(plan(), revised)))
    assert verdict.status is Status.NEEDS_JUDGE and verdict.issues == ()
    steps = verdict.details["steps"]
    assert isinstance(steps, list) and len(steps) == 2


def test_an_order_turned_round_is_suspected() -> None:
    found = EVALUATOR.screen(case(HOTELS, FLIGHTS)).issues
    assert [(one.code, one.call_id, one.conclusive) for one in found] == [(IssueCode.STEP_REORDERED, "h", False)]


def test_steps_left_open_in_a_list_are_suspected() -> None:
    kept = plan(states=(PlanState.COMPLETED, PlanState.COMPLETED, PlanState.PENDING), source=PlanSource.LIST)
    found = EVALUATOR.screen(case(WEATHER, FLIGHTS, HOTELS, plans=(kept,))).issues
    assert [(one.code, one.conclusive) for one in found] == [(IssueCode.STEP_SKIPPED, False)]


def test_the_judge_is_told_which_calls_a_step_names_and_how_the_list_ended() -> None:
    kept = plan(states=(None, PlanState.COMPLETED, PlanState.PENDING), source=PlanSource.LIST)
    made = case(WEATHER, FLIGHTS, plans=(kept,))
    question = EVALUATOR.question(made, EVALUATOR.screen(made))
    assert question.findings == (
        "Step 2 names search_flights: called as call ‹f›; the agent's list ends with it completed.",
        "Step 3 names search_hotels, which was never called; the agent's list ends with it pending.",
    )


@pytest.mark.parametrize(
    ("outcomes", "added", "score"),
    [
        (["followed", "followed"], 0, 1.0),
        (["followed", "skipped"], 0, 0.5),
        (["followed", "partly", "reordered", "skipped"], 0, 0.5),
        (["followed", "followed", "followed"], 1, 0.75),
    ],
)
def test_the_score_is_the_worth_of_due_steps_by_their_number_and_the_additions(
    outcomes: list[str], added: int, score: float
) -> None:
    assert adherence_score([StepOutcome(one) for one in outcomes], added=added) == pytest.approx(score)


def test_steps_that_were_not_due_and_unverified_ones_do_not_count() -> None:
    verdict = concluded(case(WEATHER), "followed", "not_due", "unverified")
    assert (verdict.score, verdict.label, verdict.issues) == (1.0, "pass", ())
    sure = concluded(case(WEATHER), "followed", "not_due", "not_due")
    assert verdict.confidence is not None and sure.confidence is not None and verdict.confidence < sure.confidence


def test_without_a_step_that_was_due_there_is_no_score() -> None:
    assert concluded(case(WEATHER), *["not_due"] * 3).status is Status.NOT_APPLICABLE
    assert concluded(case(WEATHER), *["unverified"] * 3).status is Status.MISSING_INPUT


def test_every_departure_is_an_issue_with_its_place() -> None:
    verdict = concluded(case(WEATHER, FLIGHTS), "followed", "reordered", "skipped", added=("w", "gone"))
    assert [(one.code, one.call_id, one.ref) for one in verdict.issues] == [
        (IssueCode.STEP_REORDERED, None, "t2"),
        (IssueCode.STEP_SKIPPED, None, "t3"),
        (IssueCode.STEP_ADDED, "w", None),
    ]
    assert verdict.score == pytest.approx(1.5 / 4)
    assert verdict.details["added"] == [{"call_id": "w", "why": "nobody asked"}]


def test_an_answer_that_leaves_a_step_out_or_names_one_twice_is_none() -> None:
    step = {"why": "", "evidence": [], "outcome": "followed"}
    for numbers in ((1,), (1, 1), (2, 1), (1, 2, 3)):
        steps = [{"step": number, **step} for number in numbers]
        with pytest.raises(ValidationError):
            answer_for(2).model_validate({"steps": steps, "added": [], "explanation": ""})


def test_steps_of_plans_for_several_messages_are_counted_through() -> None:
    made = case(WEATHER, FLIGHTS, plans=(plan(), plan("Book it.", "Pay.", turn=1)))
    question = EVALUATOR.question(made, EVALUATOR.screen(made))
    assert "3. Search hotels.\nPlan 2, announced at turn 2:\n4. Book it." in question.subject


def test_keeping_the_list_is_no_addition() -> None:
    kept = ToolCall(id="t", name="write_todos", arguments={}, result=ToolResult(content="ok"))
    assert concluded(case(WEATHER, kept), *["followed"] * 3, added=("t",)).score == 1.0
