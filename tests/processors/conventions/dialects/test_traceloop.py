"""Traceloop's own attributes: workflows, agents, tasks and tools, and model calls in their older form."""

from __future__ import annotations

import json

import pytest

from evaluators.cases import JsonValue
from processors.conventions.facts import Kind
from tests.processors.conventions.told import calls, texts, told


@pytest.mark.parametrize(
    ("kind", "expected"),
    [("workflow", Kind.WORKFLOW), ("agent", Kind.AGENT), ("task", Kind.CHAIN), ("handoff", Kind.HANDOFF)],
)
def test_kinds_are_those_it_names(kind: str, expected: Kind) -> None:
    assert told({"traceloop.span.kind": kind, "traceloop.entity.name": "desk"}).kind is expected


def test_a_workflows_words_are_its_one_text_argument_and_its_decoded_result() -> None:
    facts = told(
        {
            "traceloop.span.kind": "workflow",
            "traceloop.entity.name": "desk_chat",
            "traceloop.entity.input": '{"args": ["Where is Dune?", 3], "kwargs": {}}',
            "traceloop.entity.output": '"It\\u2019s on C4."',
            "traceloop.association.properties.session_id": "s1",
        }
    )

    assert (facts.input_text, facts.output_text, facts.session_id) == ("Where is Dune?", "It’s on C4.", "s1")


def test_which_of_several_texts_were_the_users_is_not_guessed() -> None:
    given = '{"args": ["de", "Where is Dune?"], "kwargs": {}}'

    facts = told({"traceloop.span.kind": "agent", "traceloop.entity.input": given})

    assert facts.input_text is None


def test_a_named_argument_that_says_so_is_the_users() -> None:
    given = '{"args": [], "kwargs": {"language": "de", "question": "Where is Dune?"}}'

    facts = told({"traceloop.span.kind": "agent", "traceloop.entity.input": given})

    assert facts.input_text == "Where is Dune?"


def test_a_decorated_tools_result_is_decoded_once_however_it_was_encoded() -> None:
    facts = told(
        {
            "traceloop.span.kind": "tool",
            "traceloop.entity.name": "find_book",
            "traceloop.entity.input": '{"args": [], "kwargs": {"title": "Dune"}}',
            "traceloop.entity.output": json.dumps('{"shelf": "C4"}'),
        },
        name="find_book.tool",
    )

    assert facts.tool is not None
    assert (facts.tool.name, facts.tool.arguments) == ("find_book", {"title": "Dune"})
    assert facts.tool.result == '{"shelf": "C4"}'


def test_a_tool_of_langchain_has_the_repr_of_its_arguments_and_a_message_for_a_result() -> None:
    message: JsonValue = {
        "lc": 1,
        "type": "constructor",
        "id": ["langchain", "schema", "messages", "ToolMessage"],
        "kwargs": {"content": '{"shelf": "C4"}', "tool_call_id": "c1", "status": "success"},
    }

    facts = told(
        {
            "traceloop.span.kind": "tool",
            "traceloop.entity.name": "find_book",
            "traceloop.entity.input": json.dumps({"input_str": "{'title': \"O'Brien\"}", "tags": [], "metadata": {}}),
            "traceloop.entity.output": json.dumps({"output": message, "kwargs": {}}),
        }
    )

    assert facts.tool is not None
    assert (facts.tool.arguments, facts.tool.call_id) == ({"title": "O'Brien"}, "c1")
    assert facts.tool.result == '{"shelf": "C4"}'


def test_a_tool_that_goes_by_its_class_is_named_by_the_message_that_it_returned() -> None:
    message = {
        "type": "constructor",
        "id": ["langchain_core", "messages", "ToolMessage"],
        "kwargs": {"status": "success", "content": '{"shelf": "C4"}', "tool_call_id": "c1", "name": "find_book"},
    }

    facts = told(
        {
            "gen_ai.operation.name": "execute_tool",
            "traceloop.span.kind": "task",
            "traceloop.entity.name": "DynamicStructuredTool",
            "traceloop.entity.input": json.dumps({"args": ['{"title": "Dune"}']}),
            "traceloop.entity.output": json.dumps(message),
        }
    )

    assert facts.kind is Kind.TOOL and facts.tool is not None
    assert (facts.tool.name, facts.tool.call_id) == ("find_book", "c1")
    assert (facts.tool.arguments, facts.tool.result) == ({"title": "Dune"}, '{"shelf": "C4"}')


def test_the_class_of_a_tool_is_no_name_where_the_message_was_lost() -> None:
    facts = told(
        {
            "gen_ai.operation.name": "execute_tool",
            "traceloop.span.kind": "task",
            "traceloop.entity.name": "DynamicStructuredTool",
            "traceloop.entity.input": json.dumps({"args": ['{"title": "Dune"}']}),
            "traceloop.entity.output": '{"lc":1,"type":"constructor","id":["langchain_core","messages","ToolMes',
        },
        name="execute_tool DynamicStructuredTool",
    )

    assert facts.tool is not None
    assert (facts.tool.name, facts.tool.arguments) == ("", {"title": "Dune"})


def test_a_tool_that_failed_has_an_error_and_no_result() -> None:
    facts = told(
        {"traceloop.span.kind": "tool", "traceloop.entity.input": '{"args": [], "kwargs": {"card": "12"}}'},
        name="renew.tool",
        error="no such card",
    )

    assert facts.tool is not None
    assert (facts.tool.name, facts.tool.error, facts.tool.result) == ("renew", "no such card", None)


def test_a_decorated_task_may_be_a_tool_and_a_frameworks_task_is_none() -> None:
    decorated = told(
        {
            "traceloop.span.kind": "task",
            "traceloop.entity.name": "find_book",
            "traceloop.entity.input": '{"args": ["Dune"], "kwargs": {}}',
        }
    )
    of_a_framework = told({"traceloop.span.kind": "task", "traceloop.entity.input": '{"inputs": {}, "tags": []}'})

    assert decorated.tool is not None and decorated.tool.name == "find_book"
    assert of_a_framework.tool is None


def test_an_older_model_call_is_one_whatever_its_operation_is_called() -> None:
    facts = told(
        {
            "llm.request.type": "response",
            "gen_ai.operation.name": "response",
            "gen_ai.prompt.0.role": "user",
            "gen_ai.prompt.0.content": "Where is Dune?",
            "gen_ai.completion.0.role": "assistant",
            "gen_ai.completion.0.tool_calls.0.name": "find_book",
            "gen_ai.completion.0.tool_calls.0.arguments": '{"title": "Dune"}',
            "gen_ai.completion.0.tool_calls.0.id": "c1",
            "llm.request.functions.0.name": "find_book",
            "llm.request.functions.0.parameters": '{"type": "object"}',
        }
    )

    assert facts.kind is Kind.LLM
    assert texts(facts) == [("user", "Where is Dune?")]
    assert calls(facts) == [("find_book", "c1", {"title": "Dune"})]
    assert [(tool.name, tool.parameters) for tool in facts.tools or ()] == [("find_book", {"type": "object"})]


def test_embeddings_are_no_model_calls() -> None:
    assert told({"llm.request.type": "embedding", "gen_ai.prompt.0.content": "words"}).kind is Kind.OTHER
