"""Tools offered by name, completed by what their executions' spans say."""

from __future__ import annotations

import json

from evaluators.cases import JsonValue
from processors.otlp import Span
from processors.reading.transcribe import transcribe

SCHEMA: JsonValue = {"type": "object", "properties": {"isbn": {"type": "string"}}, "required": ["isbn"]}


def span(span_id: str, parent: str | None, attributes: dict[str, JsonValue]) -> Span:
    place = int(span_id[1:])
    return Span(
        trace_id="t", span_id=span_id, parent_id=parent, start_ns=place, end_ns=place + 1, attributes=attributes
    )


def trace(executed: str) -> list[Span]:
    asked: JsonValue = [{"role": "user", "parts": [{"type": "text", "content": "Is Emma in?"}]}]
    call: JsonValue = {"type": "tool_call", "id": "c1", "name": executed, "arguments": {"isbn": "978"}}
    said: JsonValue = [{"role": "assistant", "parts": [call]}]
    return [
        span(
            "a0",
            None,
            {
                "gen_ai.operation.name": "invoke_agent",
                "gen_ai.agent.name": "desk",
                "gen_ai.agent.tools": '["find_book", "lend"]',
            },
        ),
        span(
            "m1",
            "a0",
            {
                "gen_ai.operation.name": "chat",
                "gen_ai.input.messages": json.dumps(asked),
                "gen_ai.output.messages": json.dumps(said),
            },
        ),
        span(
            "t2",
            "a0",
            {
                "gen_ai.operation.name": "execute_tool",
                "gen_ai.tool.name": executed,
                "gen_ai.tool.call.id": "c1",
                "gen_ai.tool.json_schema": json.dumps(SCHEMA),
                "gen_ai.tool.description": "Finds a book.",
            },
        ),
    ]


def test_a_tool_offered_by_name_has_the_schema_that_its_execution_shows() -> None:
    (run,) = transcribe("t", trace("find_book")).runs
    tools = {tool.name: tool for tool in run.turns[0].tools or ()}
    assert tools["find_book"].parameters == SCHEMA
    assert tools["find_book"].description == "Finds a book."
    assert tools["lend"].parameters is None


def test_a_tool_that_was_executed_and_not_offered_stays_out() -> None:
    (run,) = transcribe("t", trace("burn")).runs
    assert [(tool.name, tool.parameters) for tool in run.turns[0].tools or ()] == [("find_book", None), ("lend", None)]
