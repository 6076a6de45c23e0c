"""Claude Code's own telemetry."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace

import pytest

from evaluators.cases import JsonValue, Role
from processors.conventions.decoding.messages import Messages
from processors.conventions.dialects.claude_code import ClaudeCode
from processors.conventions.facts import Kind, SpanFacts
from processors.conventions.wanted import wants_log
from processors.otlp import Event, Log, Span, StatusCode
from processors.reading.transcribe import transcribe
from processors.transcript import Transcript


def span(type_: str, attributes: dict[str, JsonValue], **rest: object) -> Span:
    known: dict[str, object] = {"trace_id": "t", "span_id": "s", "name": f"claude_code.{type_}", **rest}
    everything = {"span.type": type_, "session.id": "s-1", **attributes}
    return Span(attributes=everything, **known)  # type: ignore[arg-type]


def read(type_: str, attributes: dict[str, JsonValue], **rest: object) -> SpanFacts:
    one = span(type_, attributes, **rest)
    reader = ClaudeCode(Messages())
    assert reader.reads(one)
    return reader.read(one)


@pytest.mark.parametrize(
    ("type_", "kind"),
    [
        ("interaction", Kind.AGENT),
        ("llm_request", Kind.LLM),
        ("tool", Kind.TOOL),
        ("tool.execution", Kind.TOOL),
        ("tool.blocked_on_user", Kind.BOOKKEEPING),
        ("hook", Kind.BOOKKEEPING),
        ("something.new", Kind.OTHER),
    ],
)
def test_the_type_says_what_a_span_is(type_: str, kind: Kind) -> None:
    assert read(type_, {}).kind is kind


def test_an_interaction_says_what_the_user_said_unless_it_was_hidden() -> None:
    assert read("interaction", {"user_prompt": "Count the files."}).input_text == "Count the files."
    assert read("interaction", {"user_prompt": "<REDACTED>"}).input_text is None
    assert read("interaction", {}).session_id == "s-1"


def test_a_model_calls_bodies_stand_in_records_that_name_its_span() -> None:
    request: JsonValue = {
        "system": [{"type": "text", "text": "You write code."}],
        "messages": [{"role": "user", "content": "Count the files."}],
        "tools": [{"name": "Bash", "input_schema": {"type": "object", "properties": {"command": {"type": "string"}}}}],
    }
    use: JsonValue = {"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": {"command": "ls"}}
    facts = read(
        "llm_request",
        {"model": "claude", "stop_reason": "tool_use"},
        events=(
            Event(name="api_request_body", attributes={"body": json.dumps(request)}),
            Event(name="api_response_body", attributes={"body": json.dumps({"role": "assistant", "content": [use]})}),
        ),
    )
    assert facts.input is not None and [(one.role, one.text) for one in facts.input] == [
        (Role.SYSTEM, "You write code."),
        (Role.USER, "Count the files."),
    ]
    assert facts.output is not None and facts.output[0].calls[0].arguments == {"command": "ls"}
    assert facts.tools is not None and facts.tools[0].name == "Bash"
    assert facts.finish_reasons == ("tool_use",)


def test_answers_in_the_conversation_stand_in_records_and_those_of_utilities_are_not_the_runs() -> None:
    answer = Event(name="assistant_response", attributes={"response": "12 files.", "query_source": "repl_main_thread"})
    title = Event(name="assistant_response", attributes={"response": "File count", "query_source": "generate_title"})
    hidden = Event(name="assistant_response", attributes={"response": "<REDACTED>"})
    assert read("interaction", {}, events=(answer, title, hidden)).output_text == "12 files."
    assert read("interaction", {}, events=(hidden,)).output_text is None
    facts = read("llm_request", {}, events=(answer,))
    assert facts.output is not None and facts.output[0].text == "12 files."


def test_a_body_that_was_cut_keeps_what_is_whole_and_says_so() -> None:
    text = json.dumps({"messages": [{"role": "user", "content": "Count."}, {"role": "user", "content": "long" * 9}]})
    event = Event(name="api_request_body", attributes={"body": text[:-20], "body_truncated": "true"})
    facts = read("llm_request", {}, events=(event,))
    assert facts.truncated
    assert facts.input is not None and facts.input[0].text == "Count."
    assert all("long" not in (one.text or "") for one in facts.input)


def test_a_tools_output_stands_in_an_event_and_its_input_is_data() -> None:
    output = Event(name="tool.output", attributes={"output": "12", "output_truncated": True})
    facts = read(
        "tool",
        {"tool_name": "Bash", "tool_use_id": "toolu_1", "tool_input": '{"command": "ls | wc -l"}'},
        events=(output,),
    )
    assert facts.tool is not None
    assert (facts.tool.name, facts.tool.call_id) == ("Bash", "toolu_1")
    assert (facts.tool.arguments, facts.tool.result, facts.tool.truncated) == ({"command": "ls | wc -l"}, "12", True)


def test_a_part_of_the_arguments_is_not_the_arguments() -> None:
    facts = read("tool", {"tool_name": "Bash", "full_command": "ls"})
    assert facts.tool is not None and facts.tool.arguments is None


def told(spans: Iterable[Span], logs: Iterable[Log] = ()) -> Transcript:
    return transcribe("t", list(spans), list(logs))


def interaction() -> list[Span]:
    return [
        span("interaction", {"user_prompt": "Count the files."}, span_id="top", start_ns=1),
        span("llm_request", {"model": "claude", "stop_reason": "tool_use"}, span_id="m", parent_id="top", start_ns=2),
        span("tool", {"tool_name": "Bash", "tool_use_id": "toolu_1"}, span_id="u", parent_id="top", start_ns=3),
        span("tool.blocked_on_user", {"decision": "accept"}, span_id="b", parent_id="u", start_ns=4),
        span(
            "tool.execution",
            {"success": False, "error": "exit code 2"},
            span_id="x",
            parent_id="u",
            start_ns=5,
            status=StatusCode.ERROR,
        ),
    ]


def test_a_tool_and_its_execution_are_one_call() -> None:
    (run,) = told(interaction()).runs
    (call,) = run.calls
    assert (call.name, call.arguments) == ("Bash", None)
    assert call.result is not None and call.result.error == "exit code 2"
    assert run.user_inputs == ("Count the files.",)


def test_a_record_of_a_call_that_names_the_interaction_is_the_calls() -> None:
    asked = {"tool_use_id": "toolu_1", "tool_name": "Bash", "tool_input": '{"command": "ls"}'}
    spans = interaction()
    spans[-1] = replace(spans[-1], attributes={**spans[-1].attributes, "tool_use_id": "toolu_1"})
    for order in (spans, spans[::-1]):
        (run,) = told(order, [Log(trace_id="t", span_id="top", event_name="tool_result", attributes=asked)]).runs
        (call,) = run.calls
        assert (call.ref, call.arguments) == ("u", {"command": "ls"})


def test_records_that_name_no_trace_are_placed_nowhere_and_what_only_they_hold_is_missing() -> None:
    adrift = [
        Log(trace_id="", span_id="", event_name="api_request_body", attributes={"body": "{}", "session.id": "s-1"}),
        Log(trace_id="", span_id="", event_name="user_prompt", attributes={"prompt": "Other words."}),
    ]
    transcript = told(interaction(), adrift)
    (run,) = transcript.runs
    assert run.user_inputs == ("Count the files.",)
    assert {"tools", "arguments", "final_answer"} <= set(run.missing)
    assert run.final_answer is None and run.answered is None


def test_records_of_the_agent_are_wanted() -> None:
    assert wants_log(b"..claude_code.api_request_body..", b"\x0a\x03com")
    assert not wants_log(b"..some.other.record..", b"\x0a\x03com")
