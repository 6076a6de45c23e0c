"""The Agent Development Kit's own attributes."""

from __future__ import annotations

import json

import pytest

from evaluators.cases import JsonValue, Role
from processors.conventions.adk import Adk
from processors.conventions.facts import Kind, SpanFacts
from processors.conventions.messages import Messages
from processors.conventions.registry import Readers
from processors.otlp import Span, StatusCode
from processors.reading.transcribe import transcribe

SCHEMA: JsonValue = {"type": "object", "properties": {"isbn": {"type": "string"}}, "required": ["isbn"]}
REQUEST: dict[str, JsonValue] = {
    "model": "gemini-2.5-flash",
    "config": {
        "system_instruction": "You run a library desk.",
        "tools": [{"function_declarations": [{"name": "find_book", "parameters_json_schema": SCHEMA}]}],
    },
    "contents": [{"role": "user", "parts": [{"text": "Is Emma in?"}]}],
}
CALL: JsonValue = {"function_call": {"id": "c1", "name": "find_book", "args": {"isbn": "978"}}}


def read(attributes: dict[str, JsonValue], **rest: object) -> SpanFacts:
    span = Span(trace_id="t", span_id="s", attributes=attributes, **rest)  # type: ignore[arg-type]
    reader = Adk(Messages())
    assert reader.reads(span)
    return reader.read(span)


def test_a_model_call() -> None:
    response: JsonValue = {"content": {"role": "model", "parts": [CALL]}, "finish_reason": "STOP"}
    facts = read(
        {
            "gcp.vertex.agent.llm_request": json.dumps(REQUEST),
            "gcp.vertex.agent.llm_response": json.dumps(response),
            "gcp.vertex.agent.session_id": "s-1",
        }
    )
    assert (facts.kind, facts.session_id) == (Kind.LLM, "s-1")
    assert facts.input is not None and [(one.role, one.text) for one in facts.input] == [
        (Role.SYSTEM, "You run a library desk."),
        (Role.USER, "Is Emma in?"),
    ]
    assert facts.output is not None
    (call,) = facts.output[0].calls
    assert (call.id, call.name, call.arguments) == ("c1", "find_book", {"isbn": "978"})
    assert facts.tools is not None and [(one.name, one.parameters) for one in facts.tools] == [("find_book", SCHEMA)]


def test_results_come_back_under_role_user_and_are_told_as_a_tools() -> None:
    returned: JsonValue = {"function_response": {"id": "c1", "name": "find_book", "response": {"copies": 2}}}
    history: JsonValue = [
        {"role": "user", "parts": [{"text": "Is Emma in?"}]},
        {"role": "model", "parts": [CALL]},
        {"role": "user", "parts": [returned]},
    ]
    facts = read({"gcp.vertex.agent.llm_request": json.dumps({**REQUEST, "contents": history})})
    assert facts.input is not None
    last = facts.input[-1]
    assert (last.role, last.call_id, last.tool_name, last.text) == (Role.TOOL, "c1", "find_book", '{"copies":2}')


def test_a_response_that_names_an_error_is_one() -> None:
    response = '{"error_code": "MAX_TOKENS", "error_message": "too long"}'
    assert read({"gcp.vertex.agent.llm_response": response}).error == "too long"


def test_an_execution_and_what_it_repeats_of_a_model_call_in_form_only() -> None:
    facts = read(
        {
            "gen_ai.tool.name": "find_book",
            "gen_ai.tool.call.id": "c1",
            "gcp.vertex.agent.llm_request": "{}",
            "gcp.vertex.agent.llm_response": "{}",
            "gcp.vertex.agent.tool_call_args": '{"isbn": "978"}',
            "gcp.vertex.agent.tool_response": '{"result": "two copies"}',
        }
    )
    assert (facts.kind, facts.input, facts.output) == (Kind.TOOL, None, None)
    assert facts.tool is not None
    assert (facts.tool.call_id, facts.tool.arguments) == ("c1", {"isbn": "978"})
    assert facts.tool.result == '{"result": "two copies"}'


def test_a_call_without_arguments_has_none_and_hidden_arguments_are_not_captured() -> None:
    without = read({"gen_ai.tool.name": "f", "gcp.vertex.agent.tool_call_args": "{}"})
    assert without.tool is not None and without.tool.arguments == {}
    hidden = read({"gen_ai.tool.name": "f", "gcp.vertex.agent.tool_call_args": {}})
    assert hidden.tool is not None and hidden.tool.arguments is None


@pytest.mark.parametrize("response", ['{"result": "<not specified>"}', "<not serializable>", {}])
def test_a_response_that_was_not_to_be_had_is_not_captured(response: JsonValue) -> None:
    facts = read(
        {
            "gen_ai.tool.name": "f",
            "gen_ai.tool.call.id": "<not specified>",
            "gcp.vertex.agent.tool_call_args": "{}",
            "gcp.vertex.agent.tool_response": response,
        },
        status=StatusCode.ERROR,
        status_message="boom",
    )
    assert facts.tool is not None
    assert (facts.tool.call_id, facts.tool.result, facts.tool.error) == (None, None, "boom")


def test_the_merged_span_of_calls_made_at_once_is_no_execution() -> None:
    span = Span(
        trace_id="t",
        span_id="s",
        attributes={
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": "(merged tools)",
            "gcp.vertex.agent.tool_call_args": "N/A",
            "gcp.vertex.agent.tool_response": '{"content": {"parts": []}}',
        },
    )
    facts = Readers().read(span)
    assert facts is not None and facts.kind is Kind.BOOKKEEPING
    assert transcribe("t", [span]).runs == ()


def test_a_request_cut_by_a_length_limit_keeps_what_is_whole_and_says_so() -> None:
    text = json.dumps(REQUEST)
    facts = read({"gcp.vertex.agent.llm_request": text[: text.index('"contents"') + 5]})
    assert facts.truncated
    assert facts.tools is not None and facts.tools[0].name == "find_book"
    assert facts.input is None
