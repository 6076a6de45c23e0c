"""Genkit's own attributes."""

from __future__ import annotations

import json

from processors.conventions.facts import Kind
from tests.processors.conventions.told import calls, texts, told


def test_a_model_call_has_request_and_response_in_genkits_own_form() -> None:
    request = {
        "messages": [
            {"role": "system", "content": [{"text": "You work at the desk."}]},
            {"role": "user", "content": [{"text": "Where is Dune?"}]},
            {"role": "model", "content": [{"toolRequest": {"name": "hours", "ref": "c0", "input": {"day": "Monday"}}}]},
            {"role": "tool", "content": [{"toolResponse": {"name": "hours", "ref": "c0", "output": {"open": "9"}}}]},
        ],
        "tools": [{"name": "find_book", "inputSchema": {"type": "object", "properties": {"title": {}}}}],
    }
    response = {
        "finishReason": "stop",
        "message": {
            "role": "model",
            "content": [{"toolRequest": {"name": "find_book", "ref": "c1", "input": {"title": "Dune"}}}],
        },
    }

    facts = told(
        {
            "genkit:type": "action",
            "genkit:metadata:subtype": "model",
            "genkit:name": "openai/gpt-4.1-mini",
            "genkit:input": json.dumps(request),
            "genkit:output": json.dumps(response),
        }
    )

    assert (facts.kind, facts.dialects, facts.model) == (Kind.LLM, ("genkit",), "gpt-4.1-mini")
    assert texts(facts)[:2] == [("system", "You work at the desk."), ("user", "Where is Dune?")]
    asked, answered = (facts.input or ())[2:]
    assert [(call.name, call.id, call.arguments) for call in asked.calls] == [("hours", "c0", {"day": "Monday"})]
    assert (answered.call_id, answered.tool_name, answered.text) == ("c0", "hours", '{"open":"9"}')
    assert calls(facts) == [("find_book", "c1", {"title": "Dune"})]
    assert [tool.parameters for tool in facts.tools or ()] == [{"type": "object", "properties": {"title": {}}}]


def test_a_tool_is_an_action_of_this_subtype() -> None:
    facts = told(
        {
            "genkit:type": "action",
            "genkit:metadata:subtype": "tool",
            "genkit:name": "find_book",
            "genkit:input": '{"title": "Dune"}',
            "genkit:output": '{"shelf": "C4"}',
        }
    )

    assert facts.tool is not None
    assert (facts.tool.name, facts.tool.arguments) == ("find_book", {"title": "Dune"})
    assert facts.tool.result == '{"shelf": "C4"}'


def test_a_flow_is_a_run_and_what_is_neither_is_a_step_of_it() -> None:
    flow = told({"genkit:type": "action", "genkit:metadata:subtype": "flow", "genkit:name": "desk"})
    step = told({"genkit:type": "util", "genkit:name": "generate"})

    assert (flow.kind, step.kind) == (Kind.WORKFLOW, Kind.CHAIN)
