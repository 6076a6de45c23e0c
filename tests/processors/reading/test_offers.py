"""Tools offered by name, completed by what their executions' spans say."""

from __future__ import annotations

import json
from dataclasses import replace

from evaluators.cases import JsonValue
from processors.otlp import Span
from processors.reading.transcribe import transcribe

SCHEMA: JsonValue = {"type": "object", "properties": {"isbn": {"type": "string"}}, "required": ["isbn"]}


def span(span_id: str, parent: str | None, attributes: dict[str, JsonValue]) -> Span:
    place = int(span_id[1:])
    return Span(
        trace_id="t", span_id=span_id, parent_id=parent, start_ns=place, end_ns=place + 1, attributes=attributes
    )


def trace(*executed: str) -> list[Span]:
    asked: JsonValue = [{"role": "user", "parts": [{"type": "text", "content": "Is Emma in?"}]}]
    calls: list[JsonValue] = [
        {"type": "tool_call", "id": f"c{at}", "name": name, "arguments": {"isbn": "978"}}
        for at, name in enumerate(executed)
    ]
    said: JsonValue = [{"role": "assistant", "parts": calls}]
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
        *(
            span(
                f"t{at + 2}",
                "a0",
                {
                    "gen_ai.operation.name": "execute_tool",
                    "gen_ai.tool.name": name,
                    "gen_ai.tool.call.id": f"c{at}",
                    "gen_ai.tool.json_schema": json.dumps(SCHEMA),
                    "gen_ai.tool.description": f"Does {name}.",
                },
            )
            for at, name in enumerate(executed)
        ),
    ]


def test_tools_offered_by_name_have_the_schemas_that_their_executions_show() -> None:
    (run,) = transcribe("t", trace("find_book", "lend")).runs
    assert [(tool.name, tool.description, tool.parameters) for tool in run.turns[0].tools or ()] == [
        ("find_book", "Does find_book.", SCHEMA),
        ("lend", "Does lend.", SCHEMA),
    ]


def test_a_list_that_would_be_known_in_part_is_left_alone() -> None:
    (run,) = transcribe("t", trace("find_book")).runs
    assert [(tool.name, tool.parameters) for tool in run.turns[0].tools or ()] == [("find_book", None), ("lend", None)]
    assert "schemas" in run.missing


def test_a_tool_that_was_executed_and_not_offered_stays_out() -> None:
    (run,) = transcribe("t", trace("find_book", "lend", "burn")).runs
    assert [tool.name for tool in run.turns[0].tools or ()] == ["find_book", "lend"]


def told_by_agent() -> list[Span]:
    """An agent's span that says what the agent had, and a span of an execution; none of a model call."""
    return [each for each in trace("burn") if not each.span_id.startswith("m")]


def test_a_call_that_no_model_call_tells_of_was_offered_what_the_agents_span_lists() -> None:
    (run,) = transcribe("t", told_by_agent()).runs
    (call,) = run.loose_calls
    assert [tool.name for tool in call.offered or ()] == ["find_book", "lend"]


def test_a_list_whose_end_was_cut_off_tells_nothing_of_a_call_that_isnt_in_it() -> None:
    (run,) = transcribe("t", [replace(each, dropped_attributes=1) for each in told_by_agent()]).runs
    assert run.loose_calls[0].offered is None


def test_a_tool_that_another_tool_called_is_not_held_against_an_agents_list() -> None:
    match: dict[str, JsonValue] = {"gen_ai.tool.name": "match", "gen_ai.tool.call.arguments": '{"title": "Emma"}'}
    spans = [*told_by_agent(), span("t9", "t2", {"gen_ai.operation.name": "execute_tool", **match})]
    (run,) = transcribe("t", spans).runs
    assert {call.name: call.offered is None for call in run.loose_calls} == {"burn": False, "match": True}
