"""Observations of the Langfuse SDK, by its decorator, its OpenAI client and its LangChain handler."""

from __future__ import annotations

import json

from evaluators.cases import JsonValue
from processors.conventions.facts import Kind
from tests.processors.conventions.told import calls, texts, told

FIND_BOOK: JsonValue = {"type": "function", "function": {"name": "find_book", "parameters": {"type": "object"}}}
ASKED: list[JsonValue] = [{"role": "user", "content": "Where is Dune?"}]


def test_a_generation_of_the_wrapped_client_is_its_request() -> None:
    facts = told(
        {
            "langfuse.observation.type": "generation",
            "langfuse.observation.input": json.dumps({"tools": [FIND_BOOK], "messages": ASKED}),
            "langfuse.observation.output": json.dumps({"role": "assistant", "content": "On C4."}),
            "langfuse.observation.model.name": "m",
            "session.id": "s1",
        }
    )

    assert (facts.kind, facts.dialects, facts.session_id) == (Kind.LLM, ("langfuse",), "s1")
    assert texts(facts) == [("user", "Where is Dune?")]
    assert [tool.name for tool in facts.tools or ()] == ["find_book"]
    assert facts.output is not None and facts.output[0].text == "On C4."


def test_definitions_that_the_langchain_handler_appends_as_messages_are_tools_and_no_results() -> None:
    result: JsonValue = {"role": "tool", "content": '{"shelf": "C4"}', "tool_call_id": "c1"}
    appended: JsonValue = {"role": "tool", "content": FIND_BOOK}

    facts = told(
        {
            "langfuse.observation.type": "generation",
            "langfuse.observation.input": json.dumps([*ASKED, result, appended]),
            "langfuse.observation.output": json.dumps(
                {"role": "assistant", "content": "", "tool_calls": [{"name": "find_book", "args": {}, "id": "c2"}]}
            ),
        }
    )

    assert texts(facts) == [("user", "Where is Dune?"), ("tool", '{"shelf": "C4"}')]
    assert [(tool.name, tool.parameters) for tool in facts.tools or ()] == [("find_book", {"type": "object"})]
    assert calls(facts) == [("find_book", "c2", {})]


def test_definitions_are_told_from_messages_also_where_the_input_was_cut() -> None:
    whole = json.dumps([*ASKED, {"role": "tool", "content": FIND_BOOK}, {"role": "tool", "content": FIND_BOOK}])

    facts = told({"langfuse.observation.type": "generation", "langfuse.observation.input": whole[:-20]})

    assert texts(facts)[0] == ("user", "Where is Dune?")
    assert [tool.name for tool in facts.tools or ()] == ["find_book"]
    assert facts.truncated


def test_a_tools_call_id_is_a_json_text_among_the_metadata() -> None:
    message = {"content": '{"shelf": "C4"}', "type": "tool", "name": "find_book", "tool_call_id": "c1"}

    facts = told(
        {
            "langfuse.observation.type": "tool",
            "langfuse.observation.input": '{"title": "Dune"}',
            "langfuse.observation.output": json.dumps(message),
            "langfuse.observation.metadata.tool_call_id": '"c1"',
        },
        name="find_book",
    )

    assert facts.tool is not None
    assert (facts.tool.name, facts.tool.call_id) == ("find_book", "c1")
    assert (facts.tool.arguments, facts.tool.result) == ({"title": "Dune"}, '{"shelf": "C4"}')


def test_an_error_is_told_by_level_and_message_whatever_the_status() -> None:
    facts = told(
        {
            "langfuse.observation.type": "tool",
            "langfuse.observation.level": "ERROR",
            "langfuse.observation.status_message": "no such card",
        },
        name="renew",
    )

    assert facts.tool is not None and facts.tool.error == "no such card"
    assert facts.error == "no such card"


def test_what_was_observed_without_a_type_may_be_a_tool() -> None:
    facts = told(
        {
            "langfuse.observation.type": "span",
            "langfuse.observation.input": '{"args": [], "kwargs": {"title": "Dune"}}',
        },
        name="find_book",
    )

    assert facts.kind is Kind.CHAIN and facts.tool is not None
    assert (facts.tool.name, facts.tool.arguments) == ("find_book", {"title": "Dune"})


def test_chains_of_a_framework_are_none() -> None:
    facts = told({"langfuse.observation.type": "chain", "langfuse.observation.input": '{"messages": []}'})

    assert facts.kind is Kind.CHAIN and facts.tool is None


def test_tools_and_instructions_stand_among_the_metadata_of_the_javascript_client() -> None:
    facts = told(
        {
            "langfuse.observation.type": "generation",
            "langfuse.observation.input": json.dumps(ASKED),
            "langfuse.observation.output": '{"type": "function_call", "id": "fc", "call_id": "c1", "name": "find_book",'
            ' "arguments": "{}"}',
            "langfuse.observation.metadata.instructions": "Be brief.",
            "langfuse.observation.metadata.tools": json.dumps([FIND_BOOK]),
        }
    )

    assert facts.system == ("Be brief.",)
    assert [tool.name for tool in facts.tools or ()] == ["find_book"]
    assert calls(facts) == [("find_book", "c1", {})]


def test_calls_that_were_written_over_each_other_are_not_captured() -> None:
    written_over = {"function": {"name": "find_book", "arguments": '{"branch": "Central"}{"title": "Dune"}'}}

    facts = told(
        {
            "langfuse.observation.type": "generation",
            "langfuse.observation.input": json.dumps(ASKED),
            "langfuse.observation.output": json.dumps({"tool_calls": [written_over]}),
        }
    )

    assert facts.output is None


def test_arguments_that_a_model_got_wrong_are_kept() -> None:
    wrong = {"id": "c1", "function": {"name": "find_book", "arguments": '{"title": "Dune"}{"title": "Emma"}'}}

    facts = told(
        {
            "langfuse.observation.type": "generation",
            "langfuse.observation.output": json.dumps({"role": "assistant", "tool_calls": [wrong]}),
        }
    )

    assert calls(facts) == [("find_book", "c1", '{"title": "Dune"}{"title": "Emma"}')]


def test_what_scored_the_agent_is_no_work_of_it() -> None:
    assert told({"langfuse.observation.type": "evaluator"}).kind is Kind.EVALUATION
