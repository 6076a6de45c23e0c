"""AutoGen's teams: each message between agents is a trace of its own, and one of them tells of a whole turn."""

from __future__ import annotations

import json

from evaluators.cases import JsonValue, Role
from processors.conventions.facts import Kind
from tests.processors.conventions.told import calls, texts, told
from tests.processors.spans_of import Trace, asks, user

ASKED: JsonValue = {"source": "user", "type": "TextMessage", "content": "Is Dune in?"}
CALLED: JsonValue = {
    "source": "desk",
    "type": "ToolCallRequestEvent",
    "content": [{"id": "c1", "name": "find_book", "arguments": '{"title": "Dune"}'}],
}
RETURNED: JsonValue = {
    "source": "desk",
    "type": "ToolCallExecutionEvent",
    "content": [{"call_id": "c1", "name": "find_book", "content": "two copies", "is_error": False}],
}
SAID: JsonValue = {"source": "desk", "type": "TextMessage", "content": "Two copies are in."}
ANSWER: JsonValue = {"name": "desk", "response": {"chat_message": SAID, "inner_messages": [CALLED, RETURNED]}}


def received(message: JsonValue, by: str = "RoundRobinGroupChatManager") -> dict[str, JsonValue]:
    return {"messaging.operation": "process", "recipient_agent_class": by, "message": json.dumps(message)}


def test_an_agents_answer_to_the_manager_tells_of_its_turn() -> None:
    facts = told(received(ANSWER))
    assert (facts.kind, facts.agent_name) == (Kind.AGENT, "desk")
    assert calls(facts) == [("find_book", "c1", {"title": "Dune"})]
    assert facts.output is not None
    assert [(one.role, one.text, one.call_id) for one in facts.output[1:]] == [
        (Role.TOOL, "two copies", "c1"),
        (Role.ASSISTANT, "Two copies are in.", None),
    ]


def test_the_message_that_starts_the_talk_is_the_users() -> None:
    assert texts(told(received({"messages": [ASKED]}))) == [("user", "Is Dune in?")]


def test_copies_for_others_and_messages_told_again_later_tell_nothing() -> None:
    for copy in (received({"messages": [ASKED]}, by="ChatAgentContainer"), received({"message": CALLED}), received({})):
        assert told(copy).kind is Kind.BOOKKEEPING


def test_what_cant_be_read_raises_nothing() -> None:
    for message in ("No Message", {"response": 3}, {"response": {"inner_messages": [3, {"content": [3]}]}}):
        assert told(received(message)).input is None  # type: ignore[arg-type]


def test_a_turn_without_content_is_no_run_where_a_message_tells_of_it() -> None:
    trace = Trace()
    trace.add("process", received({}, by="ChatAgentContainer"))
    trace.add("desk", {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "desk"}, under="process")
    trace.add(
        "tool",
        {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "find_book", "gen_ai.tool.call.id": "c1"},
        under="desk",
    )
    assert trace.runs() == ()


def test_a_turn_whose_model_calls_were_captured_is_told_by_them() -> None:
    trace = Trace()
    trace.add("team", {"openinference.span.kind": "CHAIN"})
    trace.add("process", received({}, by="ChatAgentContainer"), under="team")
    trace.agent("desk", under="process")
    trace.llm("llm", [user("Is Dune in?")], asks("c1", "find_book", {"title": "Dune"}), under="desk", tools=())
    trace.add("answer", received(ANSWER), under="team")
    assert [call.id for call in trace.run().calls] == ["c1"]
