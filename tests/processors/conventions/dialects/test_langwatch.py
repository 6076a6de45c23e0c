"""LangWatch's own attributes."""

from __future__ import annotations

import json

from evaluators.cases import JsonValue
from processors.conventions.facts import Kind
from tests.processors.conventions.told import calls, texts, told


def typed(kind: str, value: JsonValue) -> str:
    return json.dumps({"type": kind, "value": value})


def test_a_model_call_has_messages_in_typed_values_and_tools_among_its_parameters() -> None:
    call: JsonValue = {"id": "c1", "function": {"name": "find_book", "arguments": '{"title": "Dune"}'}}
    tool = {"type": "function", "function": {"name": "find_book", "parameters": {"type": "object"}}}

    facts = told(
        {
            "langwatch.span.type": "llm",
            "langwatch.input": typed("chat_messages", [{"role": "user", "content": "Where is Dune?"}]),
            "langwatch.output": typed("chat_messages", [{"role": "assistant", "content": None, "tool_calls": [call]}]),
            "langwatch.params": json.dumps({"tools": [tool], "temperature": 0}),
            "metadata": '{"thread_id": "th-1"}',
        }
    )

    assert (facts.kind, facts.dialects, facts.session_id) == (Kind.LLM, ("langwatch",), "th-1")
    assert texts(facts) == [("user", "Where is Dune?")]
    assert calls(facts) == [("find_book", "c1", {"title": "Dune"})]
    assert [(tool.name, tool.parameters) for tool in facts.tools or ()] == [("find_book", {"type": "object"})]


def test_a_tool_has_arguments_and_result_in_typed_values() -> None:
    facts = told(
        {
            "langwatch.span.type": "tool",
            "langwatch.input": typed("json", {"title": "Dune"}),
            "langwatch.output": typed("text", '{"shelf": "C4"}'),
        },
        name="find_book",
    )

    assert facts.tool is not None
    assert (facts.tool.name, facts.tool.arguments) == ("find_book", {"title": "Dune"})
    assert facts.tool.result == '{"shelf": "C4"}'


def test_a_function_without_a_type_may_be_a_tool() -> None:
    facts = told({"langwatch.span.type": "span", "langwatch.input": typed("json", {"title": "Dune"})}, name="find_book")

    assert facts.kind is Kind.CHAIN and facts.tool is not None
