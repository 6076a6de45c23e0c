"""Laminar's own attributes, beside the GenAI conventions in its own spelling."""

from __future__ import annotations

import json

from evaluators.cases import JsonValue
from processors.conventions.facts import Kind
from tests.processors.conventions.told import calls, texts, told


def test_a_model_call_has_the_providers_messages_and_choices_under_the_keys_of_the_conventions() -> None:
    call: JsonValue = {"id": "c1", "function": {"name": "find_book", "arguments": '{"title": "Dune"}'}}
    choice: JsonValue = {"index": 0, "message": {"role": "assistant", "content": None, "tool_calls": [call]}}

    facts = told(
        {
            "lmnr.span.type": "LLM",
            "lmnr.association.properties.session_id": "s1",
            "gen_ai.input.messages": '[{"role": "user", "content": "Where is Dune?"}]',
            "gen_ai.output.messages": json.dumps([choice]),
            "gen_ai.tool.definitions": '[{"type": "function", "function": {"name": "find_book", "parameters": {}}}]',
        }
    )

    assert (facts.kind, facts.dialects, facts.session_id) == (Kind.LLM, ("genai", "laminar"), "s1")
    assert texts(facts) == [("user", "Where is Dune?")]
    assert calls(facts) == [("find_book", "c1", {"title": "Dune"})]


def test_a_tool_has_its_arguments_and_its_result_as_json_texts() -> None:
    facts = told(
        {
            "lmnr.span.type": "TOOL",
            "lmnr.span.input": '{"title":"Dune"}',
            "lmnr.span.output": json.dumps('{"shelf": "C4"}'),
        },
        name="find_book",
    )

    assert facts.kind is Kind.TOOL and facts.tool is not None
    assert (facts.tool.arguments, facts.tool.result) == ({"title": "Dune"}, '{"shelf": "C4"}')


def test_an_observed_function_without_a_type_has_words_and_may_be_a_tool() -> None:
    facts = told(
        {
            "lmnr.span.type": "DEFAULT",
            "lmnr.span.input": '{"question":"Where is Dune?"}',
            "lmnr.span.output": '"On C4."',
        },
        name="desk",
    )

    assert facts.kind is Kind.CHAIN
    assert (facts.input_text, facts.output_text) == ("Where is Dune?", "On C4.")
    assert facts.tool is not None and facts.tool.name == "desk"


def test_instructions_of_the_responses_api_stand_in_the_older_form_alone() -> None:
    facts = told(
        {
            "lmnr.span.type": "LLM",
            "gen_ai.input.messages": '[{"role": "user", "content": "Where is Dune?"}]',
            "gen_ai.prompt.0.role": "system",
            "gen_ai.prompt.0.content": "Be brief.",
        }
    )

    assert facts.system == ("Be brief.",)
    assert texts(facts) == [("user", "Where is Dune?")]


def test_what_a_length_limit_left_of_a_call_may_be_no_call() -> None:
    cut = '[{"index": 0, "message": {"role": "assistant", "tool_calls": [{"id": "c1", "function": {"argum'

    facts = told({"lmnr.span.type": "LLM", "gen_ai.output.messages": cut})

    assert calls(facts) == []
