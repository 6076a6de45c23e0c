"""Spans of conventions that nobody knows."""

from __future__ import annotations

import json

import pytest

from evaluators.cases import JsonValue
from processors.conventions.facts import Kind
from processors.conventions.registry import Readers
from processors.otlp import Span
from processors.reading.transcribe import transcribe
from tests.processors.conventions.told import calls, span, texts, told

MESSAGES: list[JsonValue] = [{"role": "user", "content": "Where is Dune?"}]
CALL: JsonValue = {"id": "c1", "function": {"name": "find_book", "arguments": '{"title": "Dune"}'}}


@pytest.mark.parametrize(
    "names",
    [
        ("tool.name", "tool.arguments", "tool.result"),
        ("acme.tool_name", "acme.tool_input", "acme.tool_output"),
        ("myToolName", "myToolArgs", "myToolResponse"),
        ("x.tool.call.name", "x.tool.call.arguments", "x.tool.call.result"),
    ],
)
def test_a_tool_with_arguments_and_result_is_read_however_its_keys_are_joined(names: tuple[str, str, str]) -> None:
    facts = told(dict(zip(names, ("find_book", '{"title": "Dune"}', '{"shelf": "C4"}'), strict=True)))

    assert (facts.kind, facts.dialect) == (Kind.TOOL, "unknown")
    assert facts.tool is not None
    assert (facts.tool.name, facts.tool.arguments) == ("find_book", {"title": "Dune"})
    assert facts.tool.result == '{"shelf": "C4"}'


def test_the_schema_of_a_tool_is_not_what_it_was_called_with() -> None:
    schema = {"type": "object", "properties": {"title": {"type": "string"}}, "required": ["title"]}
    facts = told({"tool.name": "find_book", "tool.parameters": json.dumps(schema)})
    assert facts.tool is not None
    assert facts.tool.arguments is None

    called = {"type": "object", "properties": {"title": "Dune"}}
    facts = told({"tool.name": "make", "tool.parameters": json.dumps(called)})
    assert facts.tool is not None
    assert facts.tool.arguments == called


def test_a_kind_that_is_named_is_believed() -> None:
    facts = told({"acme.span.type": "TOOL", "acme.input": '{"title": "Dune"}', "acme.output": "C4"}, name="find_book")

    assert facts.kind is Kind.TOOL and facts.tool is not None
    assert (facts.tool.name, facts.tool.arguments, facts.tool.result) == ("find_book", {"title": "Dune"}, "C4")


def test_messages_beside_the_name_of_a_model_are_a_model_call() -> None:
    facts = told(
        {
            "acme.model": "m",
            "acme.messages": json.dumps(MESSAGES),
            "acme.response": json.dumps({"role": "assistant", "content": "", "tool_calls": [CALL]}),
            "acme.tools": '[{"name": "find_book", "parameters": {"type": "object"}}]',
            "acme.session_id": "s1",
        }
    )

    assert (facts.kind, facts.model, facts.session_id) == (Kind.LLM, "m", "s1")
    assert texts(facts) == [("user", "Where is Dune?")]
    assert calls(facts) == [("find_book", "c1", {"title": "Dune"})]
    assert [tool.name for tool in facts.tools or ()] == ["find_book"]


@pytest.mark.parametrize(
    "attributes",
    [
        {"http.route": "/books", "http.request.method": "GET"},
        {"span.kind": "server", "input": "x"},
        {"acme.messages": '[{"role": "user", "content": "x"}]'},
        {"device.model": "m", "input": "plain words"},
        {"code.function.name": "find_book", "tooltip": "x"},
    ],
)
def test_nothing_is_guessed(attributes: dict[str, JsonValue]) -> None:
    assert Readers().read(span(attributes)) is None


def test_a_tools_name_alone_is_an_execution_only_if_a_model_asked_for_it() -> None:
    asked: dict[str, JsonValue] = {
        "acme.model": "m",
        "acme.messages": json.dumps(MESSAGES),
        "acme.output": json.dumps({"role": "assistant", "content": "", "tool_calls": [CALL]}),
    }
    below: dict[str, dict[str, JsonValue]] = {
        "model": asked,
        "tool": {"mcp.tool.name": "find_book"},
        "ping": {"mcp.tool.name": "ping"},
    }
    spans = [
        Span(trace_id="t", span_id="desk", attributes={"acme.span.kind": "agent"}, start_ns=1, end_ns=9),
        *(
            Span(trace_id="t", span_id=name, parent_id="desk", attributes=attributes, start_ns=2 + at, end_ns=3 + at)
            for at, (name, attributes) in enumerate(below.items())
        ),
    ]

    (run,) = transcribe("t", spans).runs

    assert [(call.name, call.ref) for call in run.calls] == [("find_book", "tool")]


def test_which_spans_nobody_knew_is_told() -> None:
    spans = [
        Span(trace_id="t", span_id="a", attributes={"tool.name": "f", "tool.input": "{}"}),
        Span(trace_id="t", span_id="b", attributes={"http.route": "/"}),
        Span(trace_id="t", span_id="c", attributes={"openinference.span.kind": "AGENT"}),
    ]

    transcript = transcribe("t", spans)

    assert (transcript.unknown, transcript.unread) == (("a",), ("b",))
    assert transcript.dialects == ("openinference", "unknown")
