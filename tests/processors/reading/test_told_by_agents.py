"""Conversations that stand on the spans of agents, where model calls have none."""

from __future__ import annotations

import pytest

from evaluators.cases import JsonValue
from processors.otlp import Span, SpanKind
from processors.reading.transcribe import transcribe
from tests.processors.spans_of import Message, Trace, asks, returns, says, user


def agent(*messages: Message, asked: str | None = "Is Dune in?", **more: JsonValue) -> dict[str, JsonValue]:
    """An agent's span with what it said, as the Claude Agent SDK's instrumentation writes it."""
    attributes: dict[str, JsonValue] = {"openinference.span.kind": "AGENT", **more}
    if asked is not None:
        attributes["input.value"] = asked
    for number, message in enumerate(messages):
        prefix = f"llm.output_messages.{number}.message"
        attributes[f"{prefix}.role"] = message["role"]
        if message.get("content"):
            attributes[f"{prefix}.content.0"] = message["content"]
        if message["role"] == "tool":
            attributes[f"{prefix}.tool_call_id"] = message.get("tool_call_id")
        for at, call in enumerate(message.get("tool_calls", ())):  # type: ignore[arg-type]
            key = f"{prefix}.tool_calls.{at}.tool_call"
            attributes[f"{key}.id"] = call["id"]  # type: ignore[index, call-overload]
            function = call["function"]  # type: ignore[index, call-overload]
            attributes.update({f"{key}.function.{name}": value for name, value in function.items()})  # type: ignore[union-attr]
    return attributes


FINDING = asks("c1", "find_book", {"title": "Dune"})
LENDING = asks("c2", "lend_copy", {"copy": "D-2"})


def test_results_that_the_conversation_lacks_are_those_on_the_tools_spans() -> None:
    trace = Trace()
    trace.add("agent", agent(says("I look."), FINDING, LENDING, says("Lent.")))
    trace.tool("first", "find_book", {"title": "Dune"}, "copy D-2", **{"tool.id": "c1"})
    trace.tool("second", "lend_copy", {"copy": "D-2"}, error="closed", **{"tool.id": "c2"})
    run = trace.run()
    assert [(turn.text, [call.name for call in turn.calls], turn.answers) for turn in run.turns] == [
        ("I look.", ["find_book"], ()),
        ("", ["lend_copy"], ("c1",)),
        ("Lent.", [], ("c2",)),
    ]
    assert [call.result.error for call in run.calls if call.result is not None] == [None, "closed"]
    assert (run.user_inputs, run.final_answer) == (("Is Dune in?",), "Lent.")


def test_agents_beside_each_other_are_all_heard() -> None:
    trace = Trace()
    trace.add("crew", {"openinference.span.kind": "CHAIN"})
    trace.add("finder", agent(FINDING, returns("c1", "copy D-2"), says("Found.")), under="crew")
    trace.add("writer", agent(says("Dear reader."), asked="Write to the reader."), under="crew")
    run = trace.run()
    assert [turn.ref for turn in run.turns] == ["finder", "finder", "writer"]
    assert run.final_answer == "Dear reader."


def test_what_an_agent_repeats_of_an_agent_within_it_is_told_once() -> None:
    conversation = (FINDING, returns("c1", "copy D-2"), says("Found."))
    trace = Trace()
    trace.add("outer", agent(*conversation))
    trace.add("inner", agent(*conversation), under="outer")
    run = trace.run()
    assert [turn.ref for turn in run.turns] == ["outer", "outer"]


def test_an_agent_with_captured_model_calls_is_not_told_again() -> None:
    trace = Trace()
    trace.add("agent", agent(FINDING, returns("c1", "copy D-2"), says("Found.")))
    trace.llm("llm", [user("Is Dune in?")], says("Found."), tools=())
    assert [turn.ref for turn in trace.run().turns] == ["llm"]


@pytest.mark.parametrize("call_id", [None, "id of another kind"])
def test_a_captured_call_is_not_told_again_by_an_agent_that_has_other_ids(call_id: str | None) -> None:
    trace = Trace()
    trace.add("agent", agent(FINDING, returns("c1", "copy D-2"), says("Found.")))
    trace.llm("ask", [user("Is Dune in?")], asks(call_id, "find_book", {"title": "Dune"}))
    trace.tool("find", "find_book", {"title": "Dune"}, "copy D-2")
    assert [call.name for call in trace.run().calls] == ["find_book"]


def test_what_a_lost_model_call_asked_for_is_known_from_the_next_ones_history() -> None:
    trace = Trace()
    trace.add("agent", agent(FINDING, returns("c1", "copy D-2"), says("Found.")))
    trace.llm("answer", [user("Is Dune in?"), FINDING, returns("c1", "copy D-2")], says("Found."))
    run = trace.run()
    assert [call.name for call in run.calls] == ["find_book"]
    assert [turn.text for turn in run.turns] == ["Found."]


def test_a_call_whose_agents_span_is_lost_is_no_second_one_where_the_agent_goes_on() -> None:
    trace = Trace()
    trace.agent()
    trace.llm("delegate", [user("Is Dune in?")], asks("c0", "ask_catalogue", {"task": "Find Dune"}))
    trace.tool("ask", "ask_catalogue", {"task": "Find Dune"}, "copy D-2", **{"tool.id": "c0"})
    trace.llm("inner", [user("Find Dune")], FINDING, under="step that never came")
    trace.agent("catalogue", under="ask")
    trace.tool("find", "find_book", {"title": "Dune"}, "copy D-2", under="catalogue", **{"tool.id": "c1"})
    found = [user("Find Dune"), FINDING, returns("c1", "copy D-2")]
    trace.llm("told", found, says("copy D-2"), under="catalogue")
    assert [call.name for call in trace.run().calls] == ["ask_catalogue", "find_book"]


def test_an_agent_without_captured_calls_is_heard_beside_one_with() -> None:
    trace = Trace()
    trace.add("crew", {"openinference.span.kind": "CHAIN"})
    trace.agent("seen", under="crew")
    trace.llm("llm", [user("Is Dune in?")], says("I ask the finder."), under="seen", tools=())
    trace.add("unseen", agent(FINDING, returns("c1", "copy D-2"), says("Found.")), under="crew")
    run = trace.run()
    assert [turn.ref for turn in run.turns] == ["llm", "unseen", "unseen"]


def test_a_model_call_written_over_the_one_before_it_is_two_turns() -> None:
    trace = Trace()
    trace.agent()
    both: Message = {**FINDING, "content": "Found."}
    trace.llm("llm", [user("Is Dune in?"), FINDING, returns("c1", "copy D-2")], both, tools=())
    run = trace.run()
    assert [(turn.text, len(turn.calls), turn.answers) for turn in run.turns] == [("", 1, ()), ("Found.", 0, ("c1",))]


def test_what_another_agent_of_a_team_said_is_not_the_users() -> None:
    trace = Trace()
    trace.agent()
    opening = user("Is Dune in?")
    trace.llm("finder", [opening], says("One copy."), tools=())
    trace.llm("writer", [opening, user("One copy.")], says("Dear reader, one copy is in."), tools=())
    assert trace.run().user_inputs == ("Is Dune in?",)


def test_a_servers_side_of_a_tool_is_no_run_of_its_own() -> None:
    server = Span(
        trace_id="t",
        span_id="served",
        kind=SpanKind.SERVER,
        name="tools/call find_book",
        attributes={
            "mcp.method.name": "tools/call",
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": "find_book",
        },
    )
    assert transcribe("t", [server]).runs == ()
