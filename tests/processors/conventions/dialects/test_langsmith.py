"""LangSmith's OpenTelemetry export: its own attributes beside `gen_ai.prompt` and `gen_ai.completion`."""

from __future__ import annotations

import json

from evaluators.cases import JsonValue
from processors.conventions.facts import Kind
from processors.conventions.registry import Readers
from processors.otlp import Event
from tests.processors.conventions.told import calls, span, texts, told

LLM: dict[str, JsonValue] = {"langsmith.span.kind": "llm", "gen_ai.operation.name": "chat"}


def constructor(kind: str, **content: JsonValue) -> JsonValue:
    return {"lc": 1, "type": "constructor", "id": ["langchain", "schema", "messages", kind], "kwargs": dict(content)}


def test_serialised_messages_of_langchain_are_read_with_the_genai_conventions() -> None:
    call: JsonValue = {"name": "find_book", "args": {"title": "Dune"}, "id": "c1", "type": "tool_call"}
    answer = constructor("AIMessage", content="", tool_calls=[call])

    facts = told(
        {
            **LLM,
            "gen_ai.prompt": json.dumps({"messages": [[constructor("HumanMessage", content="Where is Dune?")]]}),
            "gen_ai.completion": json.dumps({"generations": [[{"text": "", "message": answer}]]}),
            "langsmith.metadata.thread_id": "th-1",
            "langsmith.trace.session_name": "project",
        }
    )

    assert (facts.dialects, facts.session_id) == (("genai", "langsmith"), "th-1")
    assert texts(facts) == [("user", "Where is Dune?")]
    assert calls(facts) == [("find_book", "c1", {"title": "Dune"})]


def test_tools_stand_in_the_request_of_a_wrapped_client() -> None:
    tool = {"type": "function", "function": {"name": "find_book", "parameters": {"type": "object"}}}
    request = {"messages": [{"role": "user", "content": "Where is Dune?"}], "tools": [tool]}

    facts = told({**LLM, "gen_ai.prompt": json.dumps(request)})

    assert [(tool.name, tool.parameters) for tool in facts.tools or ()] == [("find_book", {"type": "object"})]


def test_a_tools_result_is_taken_out_of_its_wrappers() -> None:
    message = {"content": '{"shelf": "C4"}', "tool_call_id": "c1", "status": "success"}

    facts = told(
        {
            "langsmith.span.kind": "tool",
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": "find_book",
            "gen_ai.prompt": '{"title": "Dune"}',
            "gen_ai.completion": json.dumps({"output": message}),
        }
    )

    assert facts.kind is Kind.TOOL and facts.tool is not None
    assert (facts.tool.call_id, facts.tool.result) == ("c1", '{"shelf": "C4"}')


def test_an_error_is_the_exceptions_words_without_its_stack_trace() -> None:
    told_as = 'ValueError("no card \'12\'")Traceback (most recent call last):\n  File "desk.py", line 1'
    failed = span(
        {
            "langsmith.span.kind": "tool",
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": "renew",
            "gen_ai.completion": "{}",
        },
        error="",
        events=[Event(name="exception", attributes={"exception.type": "Exception", "exception.message": told_as})],
    )

    facts = Readers().read(failed)

    assert facts is not None and facts.tool is not None
    assert (facts.tool.error, facts.tool.result) == ("ValueError: no card '12'", None)


def test_a_traceable_function_without_a_type_may_be_a_tool() -> None:
    attributes: dict[str, JsonValue] = {
        "langsmith.span.kind": "chain",
        "gen_ai.operation.name": "chain",
        "langsmith.trace.name": "find_book",
        "gen_ai.prompt": '{"title": "Dune"}',
        "gen_ai.completion": '{"output": "C4"}',
    }

    function = told({**attributes, "langsmith.metadata.ls_method": "traceable"})

    assert function.kind is Kind.CHAIN and function.tool is not None
    assert (function.tool.name, function.tool.arguments) == ("find_book", {"title": "Dune"})
    assert told(attributes).tool is None


def test_an_answer_that_was_cut_before_its_words_is_not_captured() -> None:
    answer = constructor("AIMessage", content="On shelf C4.")
    whole = json.dumps({"generations": [[{"text": "On shelf C4.", "message": answer}]]})

    facts = told({**LLM, "gen_ai.completion": whole[:40]})

    assert facts.output is None


def test_an_answer_that_was_cut_behind_its_words_is_read() -> None:
    answer = constructor("AIMessage", content="On shelf C4.", response_metadata={"model_name": "m"})
    whole = json.dumps({"generations": [[{"text": "On shelf C4.", "message": answer}]]})

    facts = told({**LLM, "gen_ai.completion": whole[:-12]})

    assert facts.output is not None and [message.text for message in facts.output] == ["On shelf C4."]
