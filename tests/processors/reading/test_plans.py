"""Plans and delegations in runs that frameworks really recorded, and in the shapes that these leave."""

from __future__ import annotations

import pytest

from evaluators.cases import JsonValue, Plan, PlanSource, PlanState, Run
from evaluators.plans import judged_plans
from processors.conventions.decoding.reasoning import reasoning_in
from processors.transcript_json import transcript_json
from tests.processors.recorded_runs import RECORDED, saved, transcripts_of
from tests.processors.spans_of import Trace, asks, returns, says, user

STEPS = ["Look the book up in the catalogue.", "Tell the reader where it stands."]
WORDS = "Plan:\n1. Look the weather up.\n2. Tell the user."
ASK = user("How warm is it?")


def recorded(name: str) -> Run:
    (transcript,) = transcripts_of(saved(RECORDED / name))
    (run,) = transcript.runs
    return run


def steps(plan: Plan) -> list[str]:
    return [step.text for step in plan.steps]


@pytest.mark.parametrize(
    ("name", "source"),
    [
        ("smolagents-plan__openinference/plan", PlanSource.TEXT),
        ("langgraph__openinference-todos/todos", PlanSource.LIST),
        ("langgraph__openinference-plan/plan_call", PlanSource.LIST),
        ("crewai-plan__openinference-and-openai/planner", PlanSource.SPAN),
    ],
)
def test_plans_of_frameworks_are_read(name: str, source: PlanSource) -> None:
    (plan,) = recorded(name).plans
    assert (plan.source, steps(plan), plan.revises) == (source, STEPS, False)
    assert plan.ref is not None


def test_a_kept_list_ends_in_the_state_that_was_written_last() -> None:
    (plan,) = recorded("langgraph__openinference-todos/todos").plans
    assert [step.state for step in plan.steps] == [PlanState.COMPLETED] * 2


@pytest.mark.parametrize("name", ["langgraph__openinference/retry", "openai__openinference/parallel"])
def test_runs_without_a_plan_have_none(name: str) -> None:
    for transcript in transcripts_of(saved(RECORDED / name)):
        assert [plan for run in transcript.runs for plan in run.plans] == []
        assert transcript_json(transcript)["plan"] is None


def test_the_transcript_tells_every_plan_with_its_steps() -> None:
    (transcript,) = transcripts_of(saved(RECORDED / "langgraph__openinference-todos/todos"))
    told = transcript_json(transcript)["plan"]
    assert isinstance(told, list) and isinstance(told[0], dict)
    assert told[0]["source"] == "list"
    assert told[0]["steps"] == [{"text": text, "state": "completed", "owner": None, "call_id": None} for text in STEPS]


DELEGATIONS = [
    "agent-framework-delegate__native/delegate",
    "google-adk-delegate__native-latest/delegate",
    "langgraph-delegate__openinference/delegate",
    "openai-agents__openinference-delegate/delegate",
    "pydantic-ai-delegate__native-v6/delegate",
    "smolagents-delegate__openinference/delegate",
    "strands-delegate__native-latest/delegate",
]


@pytest.mark.parametrize("name", DELEGATIONS)
def test_what_another_agent_was_asked_is_known_with_its_turns_and_its_answer(name: str) -> None:
    run = recorded(name)
    (delegation,) = run.delegations
    asked = next(call for turn in run.turns for call in turn.calls if call.id == delegation.call_id)
    assert asked not in [call for at in delegation.turns for call in run.turns[at].calls]
    assert "find_book" in {call.name for at in delegation.turns for call in run.turns[at].calls}
    assert delegation.task is not None and "Salt Road" in delegation.task
    assert delegation.answer is not None and "F-18" in delegation.answer
    assert delegation.ref not in (None, run.ref)


@pytest.mark.parametrize("name", ["langgraph__openinference/lend", "openai-agents__openinference-handoff/handoff"])
def test_tools_and_hand_offs_are_no_delegations(name: str) -> None:
    assert recorded(name).delegations == ()


def trace(*, thought: JsonValue = None, text: str = "", planner: str | None = None, output: str = "") -> Trace:
    made = Trace()
    made.agent()
    if planner is not None:
        node = {"openinference.span.kind": "CHAIN", "output.value": output}
        made.add("planner", node, under="agent", name=planner)
    contents: dict[str, JsonValue] = {}
    if thought is not None:
        contents = {
            "llm.output_messages.0.message.contents.0.message_content.type": "reasoning",
            "llm.output_messages.0.message.contents.0.message_content.text": thought,
        }
    made.llm("ask", [ASK], asks("c", "get_weather", {"city": "Rome"}, text), **contents)
    made.tool("run", "get_weather", {"city": "Rome"}, "20 degrees", **{"tool_call.id": "c"})
    made.llm("tell", [ASK, asks("c", "get_weather", {"city": "Rome"}), returns("c", "20 degrees")], says("20 degrees."))
    return made


def test_reasoning_is_read_apart_and_counts_only_where_it_was_asked_for() -> None:
    run = trace(thought=WORDS).run()
    (plan,) = run.plans
    assert (plan.source, plan.turn, len(plan.steps)) == (PlanSource.REASONING, 0, 2)
    assert judged_plans(run, use_reasoning=False) == []
    assert judged_plans(run, use_reasoning=True) == [plan]
    assert all("Plan" not in (turn.text or "") for turn in run.turns)


def test_what_is_said_as_well_as_thought_is_said() -> None:
    (plan,) = trace(thought=WORDS, text=WORDS).run().plans
    assert plan.source is PlanSource.TEXT


@pytest.mark.parametrize(
    ("name", "output", "found"),
    [
        ("planner", "1. Look the weather up.\n2. Tell the user.", True),
        ("planner", "I look the weather up.", False),
        ("planner", WORDS, True),
        ("explain", WORDS, False),
    ],
)
def test_steps_named_after_planning_tell_plans(name: str, output: str, found: bool) -> None:
    assert bool(trace(planner=name, output=output).run().plans) is found


@pytest.mark.parametrize(
    ("message", "thought"),
    [
        ({"content": [{"type": "thinking", "thinking": "hm", "signature": "x"}]}, "hm"),
        ({"content": [{"type": "redacted_thinking", "data": "x"}]}, None),
        ({"parts": [{"type": "reasoning", "content": "hm"}]}, "hm"),
        ({"content": "so", "reasoning_content": "hm"}, "hm"),
        ({"content": [{"thought": True, "text": "hm"}, {"text": "so"}]}, "hm"),
        ({"content": [{"type": "reasoning", "summary": [{"type": "summary_text", "text": "hm"}]}]}, "hm"),
        ({"content": [{"type": "reasoning", "reasoningText": {"text": "hm"}}]}, "hm"),
        ({"content": [{"type": "text", "text": "so"}]}, None),
    ],
)
def test_reasoning_is_known_in_the_shapes_of_all_providers(message: dict[str, JsonValue], thought: str | None) -> None:
    assert reasoning_in(message, message.get("parts", message.get("content"))) == thought
