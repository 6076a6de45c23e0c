"""Spans made for Braintrust."""

from __future__ import annotations

import json

from processors.conventions.facts import Kind
from tests.processors.conventions.told import calls, texts, told


def test_a_model_call_has_its_messages_as_json_and_its_tools_among_the_metadata() -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "find_book", "arguments": '{"title": "Dune"}'}}
    tool = {"type": "function", "function": {"name": "find_book", "parameters": {"type": "object"}}}

    facts = told(
        {
            "braintrust.span_attributes": '{"type": "llm", "name": "chat"}',
            "braintrust.input_json": '[{"role": "user", "content": "Where is Dune?"}]',
            "braintrust.output_json": json.dumps([{"message": {"role": "assistant", "tool_calls": [call]}}]),
            "braintrust.metadata": json.dumps({"model": "m", "tools": [tool]}),
        }
    )

    assert (facts.kind, facts.dialects) == (Kind.LLM, ("braintrust",))
    assert texts(facts) == [("user", "Where is Dune?")]
    assert calls(facts) == [("find_book", "c1", {"title": "Dune"})]
    assert [tool.name for tool in facts.tools or ()] == ["find_book"]


def test_a_tool_is_named_in_its_attributes_or_by_its_span() -> None:
    attributes = {"braintrust.input_json": '{"title": "Dune"}', "braintrust.output": "C4"}

    named = told({**attributes, "braintrust.span_attributes": '{"type": "tool", "name": "find_book"}'}, name="call")
    by_span = told({**attributes, "braintrust.span_attributes.type": "tool"}, name="find_book")

    for facts in (named, by_span):
        assert facts.kind is Kind.TOOL and facts.tool is not None
        assert (facts.tool.name, facts.tool.arguments) == ("find_book", {"title": "Dune"})
        assert facts.tool.result == "C4"


def test_scores_are_no_work_of_the_agent() -> None:
    assert told({"braintrust.span_attributes": '{"type": "score"}'}).kind is Kind.EVALUATION
