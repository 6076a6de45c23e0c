"""The Agent Development Kit's own attributes."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from evaluators.cases import JsonValue, Role
from processors.conventions.decoding.messages import Messages
from processors.conventions.dialects.adk import Adk
from processors.conventions.facts import Kind, SpanFacts
from processors.conventions.registry import Readers
from processors.conventions.wanted import wants
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


def test_spans_round_an_invocation_and_an_agent_have_a_name_and_nothing_else() -> None:
    def kind(name: str, scope: str = "gcp.vertex.agent") -> tuple[Kind, str | None] | None:
        facts = Readers().read(Span(trace_id="t", span_id="s", name=name, scope_name=scope))
        return (facts.kind, facts.agent_name) if facts is not None else None

    assert kind("invocation") == (Kind.WORKFLOW, None)
    assert kind("agent_run [desk]") == (Kind.AGENT, "desk")
    assert kind("invocation", scope="somebody.else") is None
    assert wants(b"\x2a\x0ainvocation", b"\x0a\x10gcp.vertex.agent")


def test_what_other_agents_said_is_not_the_users_word_in_either_convention() -> None:
    words = "For context:{}\n[router] said:\nI pass you on."
    texts = ["Is Emma in?", words.format(""), words.format(" below is a transcript of what another agent did.")]
    closing = "Handle the requests as specified in the System Instruction."
    contents = [{"role": "user", "parts": [{"text": text}]} for text in (*texts, closing)]
    parts = [{"role": "user", "parts": [{"type": "text", "content": text}]} for text in (*texts, closing)]
    for attributes in (
        {"gcp.vertex.agent.llm_request": json.dumps({"contents": contents})},
        {
            "gen_ai.operation.name": "generate_content",
            "gcp.vertex.agent.event_id": "e",
            "gen_ai.input.messages": json.dumps(parts),
        },
    ):
        facts = Readers().read(Span(trace_id="t", span_id="s", attributes=attributes))
        assert facts is not None and facts.input is not None
        assert [message.role for message in facts.input] == [Role.USER, Role.ASSISTANT, Role.ASSISTANT, Role.SYSTEM]


def call_llm(span_id: str, parent: str, place: int, contents: list[JsonValue], answer: JsonValue) -> Span:
    return Span(
        trace_id="t",
        span_id=span_id,
        parent_id=parent,
        start_ns=place,
        end_ns=place + 90,
        attributes={
            "gcp.vertex.agent.llm_request": json.dumps({"contents": contents}),
            "gcp.vertex.agent.llm_response": json.dumps({"content": {"role": "model", "parts": [answer]}}),
        },
    )


def agent(span_id: str, parent: str | None, place: int, name: str) -> Span:
    attributes: dict[str, JsonValue] = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": name}
    return Span(
        trace_id="t", span_id=span_id, parent_id=parent, start_ns=place, end_ns=place + 99, attributes=attributes
    )


def test_an_agent_that_took_over_below_the_model_call_that_handed_over_answers_for_the_run() -> None:
    asked: JsonValue = {"role": "user", "parts": [{"text": "Is Emma in?"}]}
    handed: JsonValue = {"function_call": {"id": "c1", "name": "transfer_to_agent", "args": {"agent_name": "desk"}}}
    context: JsonValue = {"role": "user", "parts": [{"text": "For context:"}, {"text": "[router] called a tool"}]}
    (run,) = transcribe(
        "t",
        [
            agent("router", None, 0, "router"),
            call_llm("m1", "router", 1, [asked], handed),
            agent("desk", "m1", 5, "desk"),
            call_llm("m2", "desk", 6, [asked, context], {"text": "Yes, two copies."}),
        ],
    ).runs
    assert (run.user_inputs, run.final_answer) == (("Is Emma in?",), "Yes, two copies.")
    assert [turn.agent for turn in run.turns] == ["router", "desk"]


def test_an_agent_below_one_that_did_not_hand_over_works_for_it() -> None:
    asked: JsonValue = {"role": "user", "parts": [{"text": "Is Emma in?"}]}
    looked: JsonValue = {"function_call": {"id": "c1", "name": "find_book", "args": {}}}
    (run,) = transcribe(
        "t",
        [
            agent("boss", None, 0, "boss"),
            call_llm("m1", "boss", 1, [asked], looked),
            agent("helper", "boss", 5, "helper"),
            call_llm("m2", "helper", 6, [{"role": "user", "parts": [{"text": "Summarise."}]}], {"text": "A summary."}),
        ],
    ).runs
    assert (run.user_inputs, run.final_answer) == (("Is Emma in?",), None)


def test_a_sub_agents_own_session_is_not_the_traces() -> None:
    def session(span: Span, session_id: str) -> Span:
        return replace(span, attributes={**span.attributes, "gcp.vertex.agent.session_id": session_id})

    asked: JsonValue = {"role": "user", "parts": [{"text": "Is Emma in?"}]}
    tool = Span(
        trace_id="t",
        span_id="tool",
        parent_id="boss",
        start_ns=5,
        attributes={"gen_ai.tool.name": "ask", "gcp.vertex.agent.tool_call_args": "{}"},
    )
    inner = [session(call_llm(f"i{place}", "tool", place, [asked], {"text": "Yes."}), "inner") for place in (6, 7, 8)]
    outer = session(call_llm("m1", "boss", 1, [asked], {"text": "Yes."}), "outer")
    assert transcribe("t", [agent("boss", None, 0, "boss"), outer, tool, *inner]).session_id == "outer"
