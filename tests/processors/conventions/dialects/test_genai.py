"""The GenAI conventions in their forms of several years."""

from __future__ import annotations

import json

import pytest

from evaluators.cases import JsonValue, Role
from processors.conventions.decoding.messages import Messages
from processors.conventions.dialects.genai import GenAI
from processors.conventions.facts import Kind, SpanFacts
from processors.otlp import Event, Span, StatusCode

SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}}
ASKED: list[JsonValue] = [{"role": "user", "parts": [{"type": "text", "content": "weather?"}]}]
CALLED: list[JsonValue] = [
    {
        "role": "assistant",
        "parts": [
            {"type": "tool_call", "id": "c1", "name": "get_weather", "arguments": {"city": "Rome"}},
            {"type": "text", "content": "I look."},
        ],
        "finish_reason": "tool_call",
    }
]


def read(attributes: dict[str, JsonValue], *events: Event, status: StatusCode = StatusCode.UNSET) -> SpanFacts:
    span = Span(trace_id="t", span_id="s", attributes=attributes, events=events, status=status)
    reader = GenAI(Messages())
    assert reader.reads(span)
    return reader.read(span)


def assert_is_the_call(facts: SpanFacts) -> None:
    assert facts.kind is Kind.LLM
    assert facts.input is not None and [(one.role, one.text) for one in facts.input][-1] == (Role.USER, "weather?")
    assert facts.output is not None
    (call,) = facts.output[0].calls
    assert (call.id, call.name, call.arguments) == ("c1", "get_weather", {"city": "Rome"})


def test_messages_as_json_text() -> None:
    facts = read(
        {
            "gen_ai.operation.name": "chat",
            "gen_ai.input.messages": json.dumps(ASKED),
            "gen_ai.output.messages": json.dumps(CALLED),
            "gen_ai.system_instructions": '[{"type": "text", "content": "rules"}]',
            "gen_ai.conversation.id": "k-1",
            "gen_ai.response.id": "r-1",
            "gen_ai.response.finish_reasons": ["tool_calls"],
        }
    )
    assert_is_the_call(facts)
    assert facts.output is not None and facts.output[0].text == "I look."
    assert (facts.system, facts.session_id, facts.response_id) == (("rules",), "k-1", "r-1")
    assert facts.finish_reasons == ("tool_calls",)


def test_messages_as_structured_values() -> None:
    assert_is_the_call(
        read({"gen_ai.operation.name": "chat", "gen_ai.input.messages": ASKED, "gen_ai.output.messages": CALLED})
    )


def test_messages_in_the_details_event() -> None:
    details: dict[str, JsonValue] = {"gen_ai.input.messages": ASKED, "gen_ai.output.messages": CALLED}
    event = Event(name="gen_ai.client.inference.operation.details", attributes=details)
    assert_is_the_call(read({"gen_ai.operation.name": "chat"}, event))


def test_message_events_with_bodies() -> None:
    function: JsonValue = {"name": "get_weather", "arguments": '{"city": "Rome"}'}
    calls: JsonValue = [{"id": "c1", "type": "function", "function": function}]
    facts = read(
        {"gen_ai.operation.name": "chat"},
        Event(name="gen_ai.system.message", body={"content": "rules"}),
        Event(name="gen_ai.user.message", body={"content": "weather?"}),
        Event(name="gen_ai.choice", body={"index": 0, "message": {"role": "assistant", "tool_calls": calls}}),
    )
    assert_is_the_call(facts)
    beside = read(
        {"gen_ai.operation.name": "chat"},
        Event(name="gen_ai.user.message", body={"content": "weather?"}),
        Event(name="gen_ai.choice", body={"message": {"content": ""}, "tool_calls": calls}),
    )
    assert_is_the_call(beside)


def test_message_events_with_attributes() -> None:
    use: JsonValue = [{"toolUse": {"toolUseId": "c1", "name": "get_weather", "input": {"city": "Rome"}}}]
    facts = read(
        {"gen_ai.operation.name": "chat"},
        Event(name="gen_ai.user.message", attributes={"content": '[{"text": "weather?"}]'}),
        Event(name="gen_ai.choice", attributes={"message": json.dumps(use), "finish_reason": "tool_use"}),
    )
    assert_is_the_call(facts)


def test_message_events_whose_body_is_the_message_as_text() -> None:
    function: JsonValue = {"name": "get_weather", "arguments": '{"city": "Rome"}'}
    answer: JsonValue = {"message": {"role": "assistant", "tool_calls": [{"id": "c1", "function": function}]}}
    facts = read(
        {"gen_ai.operation.name": "chat", "gen_ai.response.finish_reason": "FinishReason.TOOL_CALLS"},
        Event(name="gen_ai.user.message", body='{"role": "user", "content": "weather?"}'),
        Event(name="gen_ai.choice", body=json.dumps(answer)),
    )
    assert_is_the_call(facts)
    assert facts.finish_reasons == ("TOOL_CALLS",)
    plain = read({"gen_ai.operation.name": "chat"}, Event(name="gen_ai.user.message", body='{"city": "Rome"}'))
    assert plain.input is not None and plain.input[0].text == '{"city": "Rome"}'


def test_message_events_with_the_message_as_json_in_one_attribute() -> None:
    function: JsonValue = {"name": "get_weather", "arguments": '{"city": "Rome"}'}
    answer: JsonValue = {"message": {"tool_calls": [{"id": "c1", "function": function}]}, "finish_reason": "tool_calls"}
    facts = read(
        {"gen_ai.operation.name": "chat"},
        Event(
            name="gen_ai.user.message",
            attributes={"gen_ai.system": "s", "gen_ai.event.content": '{"role": "user", "content": "weather?"}'},
        ),
        Event(name="gen_ai.choice", attributes={"gen_ai.event.content": json.dumps(answer)}),
    )
    assert_is_the_call(facts)


@pytest.mark.parametrize("reasons", [["stop"], '["stop"]', "stop"])
def test_finish_reasons_come_as_a_list_a_text_of_one_or_a_word(reasons: JsonValue) -> None:
    facts = read({"gen_ai.operation.name": "chat", "gen_ai.response.finish_reasons": reasons})
    assert facts.finish_reasons == ("stop",)


def test_of_definitions_with_and_without_schemas_the_fuller_ones_count() -> None:
    bare: JsonValue = '[{"name": "get_weather", "parameters": null}]'
    full: JsonValue = [{"name": "get_weather", "parameters": SCHEMA}]
    details = Event(name="gen_ai.client.inference.operation.details", attributes={"gen_ai.tool.definitions": full})
    facts = read({"gen_ai.operation.name": "chat", "gen_ai.tool.definitions": bare}, details)
    assert facts.tools is not None and facts.tools[0].parameters == SCHEMA


def test_instructions_may_stand_under_their_earlier_name() -> None:
    facts = read({"gen_ai.operation.name": "invoke_agent", "system_prompt": "You know the weather."})
    assert facts.system == ("You know the weather.",)


def test_content_that_was_replaced_by_a_placeholder_is_not_captured() -> None:
    facts = read(
        {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": "f",
            "gen_ai.tool.call.arguments": "<redacted>",
            "gen_ai.tool.call.result": "<redacted>",
        }
    )
    assert facts.tool is not None and (facts.tool.arguments, facts.tool.result) == (None, None)


def test_a_tools_own_status_says_that_it_failed() -> None:
    facts = read({"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "f", "gen_ai.tool.status": "error"})
    assert facts.tool is not None and facts.tool.error == ""


def test_message_events_without_content_are_not_captured() -> None:
    calls: JsonValue = [{"id": "c1", "function": {"name": "get_weather"}}]
    facts = read(
        {"gen_ai.operation.name": "chat"},
        Event(name="gen_ai.user.message"),
        Event(name="gen_ai.choice", body={"message": {"role": "assistant", "tool_calls": calls}}),
    )
    assert facts.input is not None and facts.input[0].text is None
    assert facts.output is not None and facts.output[0].calls[0].arguments is None


def test_the_first_form_with_numbered_prompts() -> None:
    facts = read(
        {
            "gen_ai.prompt.0.role": "user",
            "gen_ai.prompt.0.content": "weather?",
            "gen_ai.completion.0.role": "assistant",
            "gen_ai.completion.0.tool_calls.0.id": "c1",
            "gen_ai.completion.0.tool_calls.0.name": "get_weather",
            "gen_ai.completion.0.tool_calls.0.arguments": '{"city": "Rome"}',
            "llm.request.functions.0.name": "get_weather",
            "llm.request.functions.0.parameters": json.dumps(SCHEMA),
        }
    )
    assert_is_the_call(facts)
    assert facts.tools is not None and [(one.name, one.parameters) for one in facts.tools] == [("get_weather", SCHEMA)]


@pytest.mark.parametrize(
    "definition",
    [
        {"type": "function", "name": "get_weather", "parameters": SCHEMA},
        {"type": "function", "function": {"name": "get_weather", "parameters": SCHEMA}},
        {"name": "get_weather", "input_schema": SCHEMA},
        {"name": "get_weather", "inputSchema": SCHEMA},
        {"toolSpec": {"name": "get_weather", "inputSchema": {"json": SCHEMA}}},
        {"function_declarations": [{"name": "get_weather", "parameters": SCHEMA}]},
        json.dumps({"name": "get_weather", "parameters": SCHEMA}),
    ],
    ids=["flat", "wrapped", "Anthropic", "camel case", "Bedrock", "Gemini", "as text"],
)
def test_tool_definitions_of_every_shape(definition: JsonValue) -> None:
    for value in (json.dumps([definition]), [definition]):
        facts = read({"gen_ai.operation.name": "chat", "gen_ai.tool.definitions": value})
        assert facts.tools is not None
        assert [(tool.name, tool.parameters) for tool in facts.tools] == [("get_weather", SCHEMA)]


def test_a_definition_without_a_schema_has_none() -> None:
    facts = read({"gen_ai.operation.name": "chat", "gen_ai.tool.definitions": '[{"name": "f", "parameters": null}]'})
    assert facts.tools is not None and facts.tools[0].parameters is None


def test_a_tool_name_on_a_model_call_makes_no_tool_of_it() -> None:
    facts = read({"gen_ai.operation.name": "chat", "gen_ai.tool.name": "a, b", "gen_ai.tool.call.id": "c1, c2"})
    assert (facts.kind, facts.tool) == (Kind.LLM, None)


def test_an_execution() -> None:
    facts = read(
        {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": "get_weather",
            "gen_ai.tool.call.id": "c1",
            "gen_ai.tool.call.arguments": '{"city": "Rome"}',
            "gen_ai.tool.call.result": '{"t": 14}',
        }
    )
    assert facts.tool is not None
    assert (facts.tool.name, facts.tool.call_id, facts.tool.arguments) == ("get_weather", "c1", {"city": "Rome"})
    assert (facts.tool.result, facts.tool.error) == ('{"t": 14}', None)


def test_an_execution_in_events_has_its_arguments_in_the_message_and_its_result_in_the_choice() -> None:
    facts = read(
        {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "get_weather"},
        Event(name="gen_ai.tool.message", attributes={"content": '{"city": "Rome"}', "role": "tool"}),
        Event(name="gen_ai.choice", attributes={"message": '[{"text": "14"}]'}),
    )
    assert facts.tool is not None
    assert (facts.tool.arguments, facts.tool.result) == ({"city": "Rome"}, "14")


def test_an_error_type_alone_says_that_an_execution_failed() -> None:
    facts = read({"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "f", "error.type": "ValueError"})
    assert facts.tool is not None and facts.tool.error == ""


@pytest.mark.parametrize(
    ("operation", "kind"),
    [
        ("invoke_agent", Kind.AGENT),
        ("invoke_workflow", Kind.WORKFLOW),
        ("invoke_swarm", Kind.WORKFLOW),
        ("create_agent", Kind.OTHER),
        ("embeddings", Kind.OTHER),
        ("evaluation", Kind.EVALUATION),
        ("agent_step", Kind.CHAIN),
        ("generate_content", Kind.LLM),
        ("CHAIN", Kind.CHAIN),
    ],
)
def test_the_operation_says_what_a_span_is(operation: str, kind: Kind) -> None:
    assert read({"gen_ai.operation.name": operation}).kind is kind


def test_messages_cut_by_a_length_limit_keep_what_is_whole_and_say_so() -> None:
    whole = json.dumps([*ASKED, {"role": "assistant", "parts": [{"type": "text", "content": "a long answer"}]}])
    facts = read({"gen_ai.operation.name": "chat", "gen_ai.input.messages": whole[:-12]})
    assert facts.truncated
    assert facts.input is not None and facts.input[0].text == "weather?"
    assert all("long" not in (message.text or "") for message in facts.input)


def test_a_tool_and_the_call_it_answers_are_an_execution_without_an_operation() -> None:
    attributes: dict[str, JsonValue] = {"gen_ai.tool.name": "get_weather", "gen_ai.tool.call.id": "c1"}

    facts = read(attributes, status=StatusCode.ERROR)

    assert facts.kind is Kind.TOOL and facts.tool is not None
    assert (facts.tool.name, facts.tool.call_id, facts.tool.error) == ("get_weather", "c1", "")
    assert read({**attributes, "gen_ai.request.model": "m"}).kind is not Kind.TOOL


def test_a_span_with_an_agents_instructions_and_no_operation_is_the_agents() -> None:
    facts = read({"system_prompt": "rules", "gen_ai.prompt": "weather?", "gen_ai.completion": "Fine."})
    assert (facts.kind, facts.system) == (Kind.AGENT, ("rules",))
