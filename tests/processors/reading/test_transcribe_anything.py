"""Whatever a trace holds, it is read without an error, the same way each time."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluators.cases import JsonValue
from processors.otlp import Event, Log, Span, StatusCode
from processors.reading.transcribe import transcribe
from processors.transcript_json import transcript_json

KEYS = [
    "openinference.span.kind",
    "input.value",
    "output.value",
    "tool.name",
    "llm.tools.0.tool.json_schema",
    "llm.input_messages.0.message.role",
    "llm.input_messages.0.message.content",
    "llm.input_messages.1.message.tool_calls.0.tool_call.function.name",
    "llm.output_messages.0.message.tool_calls.0.tool_call.function.arguments",
    "llm.output_messages.0.message.tool_calls.x.tool_call.id",
    "llm.output_messages.0.message.contents.0.message_content.text",
    "llm.invocation_parameters",
    "gen_ai.operation.name",
    "gen_ai.input.messages",
    "gen_ai.output.messages",
    "gen_ai.system_instructions",
    "gen_ai.tool.definitions",
    "gen_ai.tool.name",
    "gen_ai.tool.call.id",
    "gen_ai.tool.call.arguments",
    "gen_ai.tool.call.result",
    "gen_ai.prompt.0.content",
    "gen_ai.completion",
    "gen_ai.response.finish_reasons",
    "traceloop.span.kind",
    "traceloop.entity.input",
    "session.id",
]
TEXTS = st.sampled_from(
    [
        "AGENT",
        "LLM",
        "TOOL",
        "CHAIN",
        "chat",
        "execute_tool",
        "invoke_agent",
        "user",
        "assistant",
        "tool",
        "",
        "{",
        "[{",
        "null",
        '[{"role": "user", "parts": [{"type": "text", "content": "hi"}]}]',
        '[{"role": "assistant", "parts": [{"type": "tool_call", "id": "c", "name": "f", "arguments": {}}]}]',
        '[{"role": "tool", "parts": [{"type": "tool_call_response", "id": "c", "response": [1]}]}]',
        '{"messages": [[{"lc": 1, "kwargs": {"tool_calls": [null]}}]]}',
        '{"choices": [], "tools": [[]], "tool_choice": {"type": []}}',
        "{'args': (), 'kwargs': {'a': 1}}",
        '"\\ud83d"',
    ]
)
VALUES: st.SearchStrategy[JsonValue] = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.floats() | TEXTS,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["role", "content", "parts", "type", "tool_calls", "id", "name"]), inner)
    ),
    max_leaves=6,
)
ATTRIBUTES = st.dictionaries(st.sampled_from(KEYS), VALUES | TEXTS, max_size=9)
IDS = st.sampled_from(["a", "b", "c", "d", "e", "lost", None])
EVENTS = st.builds(
    Event,
    name=st.sampled_from(["exception", "gen_ai.choice", "gen_ai.user.message", "gen_ai.tool.message"]),
    attributes=st.dictionaries(st.sampled_from(["content", "message", "exception.type"]), VALUES, max_size=2),
    body=VALUES,
)
SPANS = st.builds(
    Span,
    trace_id=st.just("t"),
    span_id=IDS.filter(bool),
    parent_id=IDS,
    name=st.sampled_from(["", "agent", "handoff to x", "f"]),
    start_ns=st.integers(0, 5),
    end_ns=st.integers(0, 5),
    attributes=ATTRIBUTES,
    events=st.lists(EVENTS, max_size=2).map(tuple),
    status=st.sampled_from(StatusCode),
)
LOGS = st.builds(
    Log,
    trace_id=st.just("t"),
    span_id=st.sampled_from(["a", "b", "nobody"]),
    event_name=st.sampled_from(["gen_ai.choice", "gen_ai.client.inference.operation.details", ""]),
    body=VALUES,
    attributes=ATTRIBUTES,
)


@settings(max_examples=400, deadline=None)
@given(st.lists(SPANS, max_size=7), st.lists(LOGS, max_size=2))
def test_no_trace_makes_it_raise_and_reading_twice_gives_the_same(spans: list[Span], logs: list[Log]) -> None:
    first = transcribe("t", spans, logs)
    assert repr(first) == repr(transcribe("t", spans, logs))
    transcript_json(first)


@pytest.mark.parametrize(
    "key",
    [
        "llm.input_messages.{}.message.content",
        "llm.output_messages.0.message.tool_calls.{}.tool_call.id",
        "llm.output_messages.0.message.contents.{}.message_content.text",
        "llm.tools.{}.tool.json_schema",
        "gen_ai.prompt.{}.content",
        "gen_ai.completion.0.tool_calls.{}.name",
    ],
)
@pytest.mark.parametrize("place", ["9" * 5000, "٣", "²", "-1", "", "1e3"])
def test_places_in_lists_that_are_no_numbers_anybody_means(key: str, place: str) -> None:
    attributes: dict[str, JsonValue] = {"gen_ai.operation.name": "chat", key.format(place): "x"}
    transcript_json(transcribe("t", [Span(trace_id="t", span_id="a", attributes=attributes)]))
