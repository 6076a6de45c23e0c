"""Haystack: everything stands on the agent's span, as reprs of its messages."""

from __future__ import annotations

import json

from evaluators.cases import JsonValue, Role
from processors.conventions.facts import Kind
from tests.processors.conventions.told import calls, texts, told
from tests.processors.spans_of import Trace

SYSTEM = (
    "ChatMessage(_role=<ChatRole.SYSTEM: 'system'>, _content=[TextContent(text='Be brief.')], _name=None, _meta={})"
)
ASKED = (
    "ChatMessage(_role=<ChatRole.USER: 'user'>, _content=[TextContent(text=\"Is 'Dune' in?\")], _name=None, _meta={})"
)
CALL = "ToolCall(tool_name='find_book', arguments={'title': 'Dune'}, id='c1', extra=None)"
CALLED = f"ChatMessage(_role=<ChatRole.ASSISTANT: 'assistant'>, _content=[{CALL}], _name=None, _meta={{'index': 0}})"
SAID = "ChatMessage(_role=<ChatRole.ASSISTANT: 'assistant'>, _content=[TextContent(text='Yes.')], _name=None, _meta={})"


def returned(result: str, *, failed: bool = False, call: str = CALL) -> str:
    content = f"ToolCallResult(result={result!r}, origin={call}, error={failed})"
    return f"ChatMessage(_role=<ChatRole.TOOL: 'tool'>, _content=[{content}], _name=None, _meta={{}})"


def agent(messages: list[str], counts: dict[str, int] | None = None) -> dict[str, JsonValue]:
    return {
        "openinference.span.kind": "CHAIN",
        "input.value": json.dumps({"messages": [ASKED], "tools": None}),
        "output.value": json.dumps({"messages": messages, "tool_call_counts": counts}),
    }


def test_an_agents_span_is_a_conversation() -> None:
    facts = told(agent([SYSTEM, ASKED, CALLED, returned('{"copies": 2}'), SAID]))
    assert facts.kind is Kind.AGENT
    assert texts(facts) == [("system", "Be brief."), ("user", "Is 'Dune' in?")]
    assert calls(facts) == [("find_book", "c1", {"title": "Dune"})]
    assert facts.output is not None
    assert [(one.role, one.text, one.call_id, one.failed) for one in facts.output[1:]] == [
        (Role.TOOL, '{"copies": 2}', "c1", None),
        (Role.ASSISTANT, "Yes.", None, None),
    ]


def test_tools_are_those_whose_calls_are_counted_but_for_those_that_dont_exist() -> None:
    unknown = "ToolCall(tool_name='renew_card', arguments={}, id='c1', extra=None)"
    refusal = returned("Tool 'renew_card' not found. Available tools: find_book", failed=True, call=unknown)
    facts = told(agent([ASKED, CALLED.replace(CALL, unknown), refusal, SAID], {"find_book": 0, "renew_card": 1}))
    assert facts.tools is not None and [tool.name for tool in facts.tools] == ["find_book"]
    assert facts.output is not None and facts.output[1].failed is True


def test_a_pipeline_and_its_agent_are_one_run() -> None:
    trace = Trace()
    conversation = [SYSTEM, ASKED, CALLED, returned('{"copies": 2}'), SAID]
    trace.add(
        "pipeline",
        {
            "openinference.span.kind": "CHAIN",
            "input.value": json.dumps({"data": {"agent": {"messages": [ASKED]}}}),
            "output.value": json.dumps({"agent": {"messages": conversation, "last_message": SAID}}),
        },
    )
    trace.add("agent", agent(conversation, {"find_book": 1}), under="pipeline")
    run = trace.run()
    assert run.user_inputs == ("Is 'Dune' in?",)
    assert [(call.name, call.result and call.result.content) for call in run.calls] == [("find_book", '{"copies": 2}')]
    assert (len(run.turns), run.turns[1].answers, run.final_answer) == (2, ("c1",), "Yes.")


def test_earlier_exchanges_are_what_the_agent_was_given() -> None:
    before = [ASKED.replace("Is 'Dune' in?", "Hello"), SAID.replace("Yes.", "Hi!")]
    attributes = agent([SYSTEM, *before, ASKED, CALLED, returned("{}"), SAID])
    attributes["input.value"] = json.dumps({"messages": [*before, ASKED]})
    facts = told(attributes)
    assert [text for _, text in texts(facts)] == ["Be brief.", "Hello", "Hi!", "Is 'Dune' in?"]


def test_messages_that_cant_be_read_raise_nothing() -> None:
    facts = told(agent(["ChatMessage(_role=<ChatRole.USER", "ChatMessage(", ASKED], {"find_book": 0}))
    assert facts.kind is Kind.AGENT
