"""Pydantic AI's own attributes, in the formats of its versions."""

from __future__ import annotations

import json

import pytest

from evaluators.cases import JsonValue, Role
from processors.conventions.decoding.messages import Messages
from processors.conventions.dialects.pydantic_ai import PydanticAI
from processors.conventions.facts import Kind, SpanFacts
from processors.conventions.registry import Readers
from processors.otlp import Span
from processors.reading.transcribe import transcribe

CALLED: JsonValue = {"id": "c1", "type": "function", "function": {"name": "find_book", "arguments": '{"isbn": "978"}'}}
PARTS: list[JsonValue] = [
    {"role": "system", "parts": [{"type": "text", "content": "You run a library desk."}]},
    {"role": "user", "parts": [{"type": "text", "content": "Is Emma in?"}]},
    {
        "role": "assistant",
        "parts": [{"type": "tool_call", "id": "c1", "name": "find_book", "arguments": '{"isbn": "978"}'}],
    },
    {
        "role": "user",
        "parts": [{"type": "tool_call_response", "id": "c1", "name": "find_book", "result": {"copies": 2}}],
    },
    {"role": "assistant", "parts": [{"type": "text", "content": "Yes, two copies."}]},
]
"""Results under role user as its formats up to 5 have them; format 6 puts them under role tool."""


def span(attributes: dict[str, JsonValue], **rest: object) -> Span:
    known: dict[str, object] = {"trace_id": "t", "span_id": "s", **rest}
    return Span(attributes=attributes, **known)  # type: ignore[arg-type]


def read(attributes: dict[str, JsonValue]) -> SpanFacts:
    reader = PydanticAI(Messages())
    assert reader.reads(span(attributes))
    return reader.read(span(attributes))


def test_other_peoples_events_and_results_are_not_read() -> None:
    reader = PydanticAI(Messages())
    assert not reader.reads(span({"events": '[{"name": "click"}]', "final_result": "3:1", "tool_response": "x"}))


def test_the_first_format_lists_events_in_an_attribute() -> None:
    events: JsonValue = [
        {"event.name": "gen_ai.system.message", "content": "You run a library desk.", "role": "system"},
        {"event.name": "gen_ai.user.message", "content": "Is Emma in?", "role": "user"},
        {"event.name": "gen_ai.choice", "index": 0, "message": {"role": "assistant", "tool_calls": [CALLED]}},
    ]
    facts = read({"events": json.dumps(events), "gen_ai.operation.name": "chat"})
    assert facts.kind is Kind.LLM
    assert facts.input is not None and [one.role for one in facts.input] == [Role.SYSTEM, Role.USER]
    assert facts.output is not None and facts.output[0].calls[0].arguments == {"isbn": "978"}


def test_lists_cut_by_a_length_limit_keep_what_is_whole_and_say_so() -> None:
    events: JsonValue = [
        {"event.name": "gen_ai.user.message", "content": "Is Emma in?", "role": "user"},
        {"event.name": "gen_ai.choice", "index": 0, "message": {"role": "assistant", "content": "a long answer"}},
    ]
    for attributes in ({"events": json.dumps(events)[:-12]}, {"pydantic_ai.all_messages": json.dumps(PARTS)[:-12]}):
        facts = read(dict(attributes))
        assert facts.truncated
        assert facts.input is not None and facts.input[-1].text == "Is Emma in?"


def test_an_agents_span_holds_the_whole_conversation() -> None:
    facts = read({"pydantic_ai.all_messages": json.dumps(PARTS), "final_result": "Yes, two copies."})
    assert (facts.kind, facts.output_text) == (Kind.AGENT, "Yes, two copies.")
    assert facts.input is not None and facts.input[-1].text == "Is Emma in?"
    assert facts.output is not None and [one.role for one in facts.output] == [
        Role.ASSISTANT,
        Role.TOOL,
        Role.ASSISTANT,
    ]


@pytest.mark.parametrize("role", ["user", "tool"])
def test_an_agents_span_alone_tells_the_run(role: str) -> None:
    parts = json.loads(json.dumps(PARTS))
    parts[3]["role"] = role
    agent = span(
        {
            "gen_ai.operation.name": "invoke_agent",
            "gen_ai.agent.name": "desk",
            "pydantic_ai.all_messages": json.dumps(parts),
            "final_result": "Yes, two copies.",
        }
    )
    (run,) = transcribe("t", [agent]).runs
    (call,) = run.calls
    assert (call.name, call.arguments) == ("find_book", {"isbn": "978"})
    assert call.result is not None and call.result.content == '{"copies":2}'
    assert (run.user_inputs, run.final_answer) == (("Is Emma in?",), "Yes, two copies.")


def test_an_agent_that_was_asked_nothing_but_instructed_still_tells_what_it_did() -> None:
    facts = read({"pydantic_ai.all_messages": json.dumps([PARTS[0], *PARTS[2:]])})
    assert [message.role for message in facts.input or ()] == [Role.SYSTEM]
    assert [call.name for message in facts.output or () for call in message.calls] == ["find_book"]


def test_a_structured_final_result_is_told_as_json() -> None:
    assert read({"final_result": '{"copies": 2}', "agent_name": "desk"}).output_text == '{"copies": 2}'


def test_the_earlier_formats_have_names_of_their_own_for_a_tools_arguments_and_response() -> None:
    facts = Readers().read(
        span(
            {
                "gen_ai.tool.name": "find_book",
                "gen_ai.tool.call.id": "c1",
                "tool_arguments": '{"isbn": "978"}',
                "tool_response": "two copies",
            }
        )
    )
    assert facts is not None and facts.kind is Kind.TOOL and facts.tool is not None
    assert (facts.tool.name, facts.tool.call_id) == ("find_book", "c1")
    assert (facts.tool.arguments, facts.tool.result) == ({"isbn": "978"}, "two copies")


def test_the_request_parameters_say_which_tools_were_offered() -> None:
    schema: JsonValue = {"type": "object", "properties": {"isbn": {"type": "string"}}}
    parameters: JsonValue = {
        "function_tools": [{"name": "find_book", "parameters_json_schema": schema}],
        "output_tools": [],
    }
    facts = read({"model_request_parameters": json.dumps(parameters)})
    assert facts.tools is not None and [(one.name, one.parameters) for one in facts.tools] == [("find_book", schema)]
