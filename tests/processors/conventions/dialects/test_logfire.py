"""Logfire's own spans of functions, and its older spans of model calls."""

from __future__ import annotations

import json

from evaluators.cases import JsonValue
from processors.conventions.facts import Kind
from processors.conventions.registry import Readers
from tests.processors.conventions.told import calls, span, texts, told

MESSAGES: list[JsonValue] = [{"role": "user", "content": "Where is Dune?"}]


def test_a_functions_arguments_are_the_attributes_that_its_schema_lists() -> None:
    facts = told(
        {
            "code.function": "Desk.find_book",
            "code.lineno": 3,
            "logfire.msg": "find_book",
            "title": "Dune",
            "return": '{"shelf": "C4"}',
            "logfire.json_schema": '{"type":"object","properties":{"title":{},"return":{}}}',
        }
    )

    assert facts.kind is Kind.CHAIN and facts.tool is not None
    assert (facts.tool.name, facts.tool.arguments) == ("find_book", {"title": "Dune"})
    assert facts.tool.result == '{"shelf": "C4"}'


def test_an_older_model_call_is_its_request_and_response() -> None:
    call: JsonValue = {"id": "c1", "function": {"name": "find_book", "arguments": '{"title": "Dune"}'}}
    tool = {"type": "function", "function": {"name": "find_book", "parameters": {"type": "object"}}}

    facts = told(
        {
            "logfire.json_schema": "{}",
            "request_data": json.dumps({"messages": MESSAGES, "model": "m", "tools": [tool]}),
            "response_data": json.dumps({"message": {"role": "assistant", "tool_calls": [call]}, "usage": {}}),
        }
    )

    assert facts.kind is Kind.LLM
    assert texts(facts) == [("user", "Where is Dune?")]
    assert calls(facts) == [("find_book", "c1", {"title": "Dune"})]
    assert [tool.name for tool in facts.tools or ()] == ["find_book"]


def test_a_streamed_answer_is_the_text_of_its_chunks() -> None:
    facts = told(
        {
            "logfire.json_schema": "{}",
            "request_data": json.dumps({"messages": MESSAGES}),
            "response_data": '{"combined_chunk_content": "On C4.", "chunk_count": 2}',
        }
    )

    assert facts.output is not None and [message.text for message in facts.output] == ["On C4."]


def test_other_spans_of_logfire_say_nothing() -> None:
    assert Readers().read(span({"logfire.json_schema": "{}", "http.route": "/"})) is None
