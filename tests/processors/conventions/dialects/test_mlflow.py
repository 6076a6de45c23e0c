"""MLflow Tracing, as its instrumentations and its decorator write it."""

from __future__ import annotations

import json

from evaluators.cases import JsonValue
from processors.conventions.facts import Kind
from tests.processors.conventions.told import calls, texts, told

FIND_BOOK: JsonValue = {
    "type": "function",
    "function": {"name": "find_book", "parameters": {"properties": {"title": {"pattern": "^[A-Z]"}}}},
}
REQUEST: JsonValue = {
    "model": "m",
    "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Where is Dune?"}],
    "tools": [FIND_BOOK],
}
CALL: JsonValue = {"id": "c1", "function": {"name": "find_book", "arguments": '{"title": "Dune"}'}, "type": "function"}


def response(**message: JsonValue) -> str:
    return json.dumps({"id": "r1", "choices": [{"finish_reason": "tool_calls", "message": message}]})


def test_a_model_call_is_read_from_its_request_and_response() -> None:
    facts = told(
        {
            "mlflow.spanType": '"CHAT_MODEL"',
            "mlflow.spanInputs": json.dumps(REQUEST),
            "mlflow.spanOutputs": response(role="assistant", content=None, tool_calls=[CALL]),
            "mlflow.llm.model": '"m-2"',
        }
    )

    assert (facts.kind, facts.dialects, facts.model) == (Kind.LLM, ("mlflow",), "m-2")
    assert texts(facts) == [("system", "Be brief."), ("user", "Where is Dune?")]
    assert calls(facts) == [("find_book", "c1", {"title": "Dune"})]
    assert facts.finish_reasons == ("tool_calls",)


def test_schemas_are_those_of_the_request_and_not_the_shortened_ones_beside_it() -> None:
    shortened = [{"type": "function", "function": {"name": "find_book", "parameters": {"properties": {"title": {}}}}}]

    facts = told(
        {
            "mlflow.spanType": '"CHAT_MODEL"',
            "mlflow.spanInputs": json.dumps(REQUEST),
            "mlflow.chat.tools": json.dumps(shortened),
        }
    )

    assert facts.tools is not None
    assert facts.tools[0].parameters == {"properties": {"title": {"pattern": "^[A-Z]"}}}


def test_schemas_beside_the_request_count_where_it_has_none() -> None:
    facts = told(
        {
            "mlflow.spanType": '"CHAT_MODEL"',
            "mlflow.spanInputs": '{"messages": [{"role": "user", "content": "x"}]}',
            "mlflow.chat.tools": json.dumps([FIND_BOOK]),
        }
    )

    assert [tool.name for tool in facts.tools or ()] == ["find_book"]


def test_a_tools_result_is_decoded_once() -> None:
    facts = told(
        {
            "mlflow.spanType": '"TOOL"',
            "mlflow.spanInputs": '{"title": "Dune"}',
            "mlflow.spanOutputs": json.dumps('{"shelf": "C4"}'),
            "tool_call_id": '"c1"',
        },
        name="find_book",
    )

    assert facts.kind is Kind.TOOL and facts.tool is not None
    assert (facts.tool.name, facts.tool.call_id) == ("find_book", "c1")
    assert (facts.tool.arguments, facts.tool.result) == ({"title": "Dune"}, '{"shelf": "C4"}')


def test_a_function_without_a_type_may_be_a_tool() -> None:
    facts = told(
        {
            "mlflow.spanType": '"UNKNOWN"',
            "mlflow.spanFunctionName": '"find_book"',
            "mlflow.spanInputs": '{"title": "Dune"}',
        },
        name="find_book",
        error="no such shelf",
    )

    assert facts.kind is Kind.CHAIN and facts.tool is not None
    assert (facts.tool.name, facts.tool.arguments, facts.tool.error) == (
        "find_book",
        {"title": "Dune"},
        "no such shelf",
    )


def test_an_agents_one_argument_is_what_it_was_asked() -> None:
    facts = told(
        {
            "mlflow.spanType": '"AGENT"',
            "mlflow.spanInputs": '{"words": "Where is Dune?"}',
            "mlflow.spanOutputs": '"On shelf C4."',
        }
    )

    assert (facts.kind, facts.input_text, facts.output_text) == (Kind.AGENT, "Where is Dune?", "On shelf C4.")


def test_the_thread_of_a_run_of_langchain_is_its_session() -> None:
    facts = told({"mlflow.spanType": '"CHAIN"', "metadata": '{"thread_id": "th-1", "ls_integration": "langgraph"}'})

    assert facts.session_id == "th-1"
