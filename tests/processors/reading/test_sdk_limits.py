"""Conversations that an SDK cut to its limits: what is left is read, known not to be whole, and no fault of anybody.

The spans are made by OpenTelemetry's own SDK with its limits set, and of its first 128 attributes by default.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from openinference.instrumentation import Message, Tool, ToolCall, get_llm_attributes
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk.trace import SpanLimits, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from evaluators.cases import Role, Run
from evaluators.evaluation import judge_by_rules
from evaluators.registry import EVALUATORS
from evaluators.verdict import Status
from processors.cases.spans import place_decisions
from processors.otlp import Span, decode_span
from processors.reading.transcribe import transcribe_trace

QUESTION = "Which of these books are on the shelf?"
TOOLS: list[Tool] = [
    {
        "json_schema": {
            "name": name,
            "description": f"{name}. " * 20,
            "parameters": {"type": "object", "properties": {"title": {"type": "string"}}, "required": ["title"]},
        }
    }
    for name in ("find_book", "renew_loan", "opening_hours", "reserve_book")
]


def history(steps: int) -> Iterator[tuple[list[Message], Message]]:
    """What each model call of a conversation is given and says: one call a step, of two tools in turn."""
    given: list[Message] = [
        {"role": "system", "content": "You are a librarian."},
        {"role": "user", "content": QUESTION},
    ]
    for step in range(steps):
        call: ToolCall = {
            "id": f"call_{step}",
            "function": {"name": ("find_book", "reserve_book")[step % 2], "arguments": {"title": f"Book {step}"}},
        }
        said: Message = {"role": "assistant", "content": "", "tool_calls": [call]}
        yield given, said
        told = json.dumps({"title": f"Book {step}", "shelf": f"F-{step}", "about": "A long novel. " * 20})
        given = [*given, said, {"role": "tool", "content": told, "tool_call_id": f"call_{step}"}]
    yield given, {"role": "assistant", "content": "All of them are."}


def sent(limits: SpanLimits, steps: int) -> list[Span]:
    """The spans of a run with these limits, as they are received."""
    exporter = InMemorySpanExporter()
    provider = TracerProvider(span_limits=limits)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    tracer = provider.get_tracer("library")
    with tracer.start_as_current_span("agent", attributes={"openinference.span.kind": "AGENT"}):
        for given, said in history(steps):
            with tracer.start_as_current_span("model", attributes={"openinference.span.kind": "LLM"}) as span:
                span.set_attributes(get_llm_attributes(tools=TOOLS, input_messages=given, output_messages=[said]))
    request = encode_spans(exporter.get_finished_spans())
    return [
        decode_span(resource.resource.SerializeToString(), scope.scope.SerializeToString(), span.SerializeToString())
        for resource in request.resource_spans
        for scope in resource.scope_spans
        for span in scope.spans
    ]


def run_of(limits: SpanLimits, steps: int) -> Run:
    (run,) = transcribe_trace(sent(limits, steps)).runs
    return run


def without_whole_number(limit: int) -> SpanLimits:
    return SpanLimits(max_span_attributes=1_000, max_span_attribute_length=limit)


def test_a_conversation_within_the_limits_is_whole() -> None:
    run = run_of(SpanLimits(), 5)
    assert not run.truncated and len(run.calls) == 5
    assert all(turn.tools is not None and len(turn.tools) == 4 for turn in run.turns)


@pytest.mark.parametrize("most", [24, 48, 128])
def test_attributes_left_out_by_count_are_no_fault_and_no_words_of_the_user(most: int) -> None:
    run = run_of(SpanLimits(max_span_attributes=most), 60)
    assert run.truncated
    assert set(run.user_inputs or ()) <= {QUESTION}
    assert all(
        message.text == QUESTION for turn in run.turns for message in turn.context or () if message.role is Role.USER
    )
    assert {call.name for call in run.calls} <= {"find_book", "reserve_book"}


@pytest.mark.parametrize("most", [24, 48, 128])
def test_what_is_left_of_a_conversation_is_each_call_once_with_its_arguments(most: int) -> None:
    run = run_of(SpanLimits(max_span_attributes=most), 60)
    calls = {call.id: call for call in run.calls}
    assert len(calls) == len(run.calls) == 60
    assert all(calls[f"call_{step}"].arguments == {"title": f"Book {step}"} for step in range(60))


@pytest.mark.parametrize("left_out", range(1, 6))
def test_a_tool_whose_definition_was_left_out_is_not_taken_for_unknown(left_out: int) -> None:
    """As by SDKs that keep the first attributes: Python's keeps the latest."""
    (given, said), *_ = list(history(2))[1:]
    told = get_llm_attributes(input_messages=given, output_messages=[said], tools=TOOLS)
    kept = dict(list({"openinference.span.kind": "LLM", **told}.items())[:-left_out])
    span = Span(trace_id="t", span_id="1", attributes=kept, dropped_attributes=left_out)
    evaluator = EVALUATORS["tool_selection"].create()
    verdicts = [
        judge_by_rules(evaluator, one.case) for one in place_decisions(transcribe_trace([span]), "tool_selection", True)
    ]
    assert [verdict.status for verdict in verdicts] == [Status.MISSING_INPUT]


@pytest.mark.parametrize("limit", [128, 256])
def test_results_cut_to_a_length_are_read_and_known_to_be_cut(limit: int) -> None:
    run = run_of(without_whole_number(limit), 6)
    assert run.truncated
    results = [call.result for call in run.calls if call.result is not None]
    assert len(results) == 6
    assert all(result.truncated and len(result.content or "") == limit for result in results)
    assert run.user_inputs == (QUESTION,)
