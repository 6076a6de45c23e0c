"""What an agent did that another one had asked, judged as a run of its own."""

from __future__ import annotations

import pytest

from evaluators.cases import Delegation, Plan, PlanSource, PlanStep, Run, ToolCall, Turn
from evaluators.step_efficiency import StepEfficiency, StepEfficiencySettings
from evaluators.verdict import Status
from processors.cases.sub_runs import sub_runs
from processors.cases.traces import place_runs
from processors.judging import TraceInput, TraceJudge
from processors.transcript import Transcript
from tests.processors.steps import TRACE_ID, hex_id, raw_span

OUTER, INNER = hex_id(1), hex_id(3)


def look(id: str) -> ToolCall:
    return ToolCall(id=id, name="get_order", arguments={"id": id})


def outer_run() -> Run:
    turns = (
        Turn(index=0, calls=(ToolCall(id="d", name="ask", arguments={"task": "Find order 7."}),), ref=hex_id(2)),
        Turn(index=1, calls=(look("a"),), agent="inner", user_turn=0, ref=hex_id(4)),
        Turn(index=2, text="Order 7 is open.", answers=("a",), agent="inner", ref=hex_id(5)),
        Turn(index=3, text="It is open.", ref=hex_id(6)),
    )
    steps = (PlanStep(text="Look."), PlanStep(text="Tell."))
    return Run(
        turns=turns,
        loose_calls=(look("loose"), look("mine")),
        user_inputs=("How is my order?",),
        plans=(Plan(steps=steps, source=PlanSource.TEXT, turn=1), Plan(steps=steps, source=PlanSource.TEXT, turn=0)),
        delegations=(
            Delegation(
                turns=(1, 2),
                task="Find order 7.",
                agent="inner",
                calls=("mine",),
                call_id="d",
                answer="Order 7 is open.",
                ref=INNER,
            ),
            Delegation(turns=(2,), task="Say it.", ref=OUTER),
        ),
        final_answer="It is open.",
        answered=True,
        missing=("user_input", "tool_results"),
        ref=OUTER,
    )


def test_the_task_of_a_sub_run_is_what_its_agent_was_asked() -> None:
    (inner,) = sub_runs(outer_run())
    assert inner.user_inputs == ("Find order 7.",)
    assert (inner.final_answer, inner.answered, inner.ref) == ("Order 7 is open.", True, INNER)
    assert inner.missing == ("tool_results",)


def test_a_sub_run_has_the_turns_calls_plans_and_delegations_of_its_agent() -> None:
    (inner,) = sub_runs(outer_run())
    assert [(turn.index, turn.ref) for turn in inner.turns] == [(0, hex_id(4)), (1, hex_id(5))]
    assert [call.id for call in inner.calls] == ["a", "mine"]
    assert [plan.turn for plan in inner.plans] == [0]
    assert [one.turns for one in inner.delegations] == [(1,)]


def test_sub_runs_are_cases_on_their_agents_spans_only_where_that_is_wanted() -> None:
    transcript = Transcript(trace_id="", runs=(outer_run(),))
    assert [one.span_id for one in place_runs(transcript, "task_completion")] == [OUTER]
    assert [one.span_id for one in place_runs(transcript, "task_completion", per_agent=True)] == [OUTER, INNER]


@pytest.mark.parametrize(("per_agent", "spans"), [(False, {OUTER}), (True, {OUTER, INNER})])
async def test_an_evaluator_that_is_told_so_judges_every_agent(per_agent: bool, spans: set[str]) -> None:
    judge = TraceJudge(
        [StepEfficiency(StepEfficiencySettings(per_agent=per_agent))],
        read=lambda spans, logs: Transcript(trace_id="t", runs=(outer_run(),)),
    )
    trace = TraceInput(trace_id=TRACE_ID, spans=[raw_span(number) for number in range(1, 7)], complete=True)
    scores = await judge.judge(trace)
    assert {one.span_id for one in scores.verdicts if one.verdict.status is Status.OK} == spans
