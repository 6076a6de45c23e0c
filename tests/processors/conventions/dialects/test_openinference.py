"""OpenInference, and the instrumentations that bend it."""

from __future__ import annotations

import json

from evaluators.cases import JsonValue, Role
from processors.conventions.decoding.messages import Messages
from processors.conventions.dialects.openinference import OpenInference
from processors.conventions.facts import Kind, SpanFacts
from processors.conventions.registry import Readers
from processors.otlp import Event, Span, StatusCode

SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}}


def read(
    attributes: dict[str, JsonValue], *, name: str = "span", error: str | None = None, **more: object
) -> SpanFacts:
    span = Span(
        trace_id="t",
        span_id="s",
        name=name,
        attributes=attributes,
        status=StatusCode.UNSET if error is None else StatusCode.ERROR,
        status_message=error or "",
        **more,  # type: ignore[arg-type]
    )
    reader = OpenInference(Messages())
    assert reader.reads(span)
    return reader.read(span)


def test_a_model_call_with_flattened_messages_and_tools() -> None:
    facts = read(
        {
            "openinference.span.kind": "LLM",
            "llm.input_messages.0.message.role": "system",
            "llm.input_messages.0.message.content": "rules",
            "llm.input_messages.1.message.role": "user",
            "llm.input_messages.1.message.content": "weather?",
            "llm.output_messages.0.message.role": "assistant",
            "llm.output_messages.0.message.tool_calls.0.tool_call.id": "c1",
            "llm.output_messages.0.message.tool_calls.0.tool_call.function.name": "get_weather",
            "llm.output_messages.0.message.tool_calls.0.tool_call.function.arguments": '{"city": "Rome"}',
            "llm.tools.0.tool.json_schema": json.dumps(
                {"type": "function", "function": {"name": "get_weather", "description": "d", "parameters": SCHEMA}}
            ),
            "llm.tools.1.tool.json_schema": json.dumps({"name": "flat", "parameters": SCHEMA, "type": "function"}),
            "llm.tools.2.tool.json_schema": json.dumps({"name": "anthropic", "input_schema": SCHEMA}),
            "llm.invocation_parameters": '{"tool_choice": {"type": "function", "function": {"name": "get_weather"}}}',
            "llm.model_name": "m-1",
            "session.id": "s-1",
        }
    )
    assert facts.kind is Kind.LLM
    assert facts.input is not None and [(one.role, one.text) for one in facts.input] == [
        (Role.SYSTEM, "rules"),
        (Role.USER, "weather?"),
    ]
    assert facts.output is not None
    (call,) = facts.output[0].calls
    assert (call.id, call.name, call.arguments) == ("c1", "get_weather", {"city": "Rome"})
    assert facts.tools is not None
    assert [(tool.name, tool.description, tool.parameters) for tool in facts.tools] == [
        ("get_weather", "d", SCHEMA),
        ("flat", None, SCHEMA),
        ("anthropic", None, SCHEMA),
    ]
    assert (facts.tool_choice, facts.model, facts.session_id) == ("get_weather", "m-1", "s-1")


def test_text_in_contents_is_text_and_calls_given_twice_are_one() -> None:
    output = "llm.output_messages.0.message"
    facts = read(
        {
            "openinference.span.kind": "LLM",
            f"{output}.role": "assistant",
            f"{output}.contents.0.message_content.type": "text",
            f"{output}.contents.0.message_content.text": "I look.",
            f"{output}.contents.1.message_content.type": "tool_use",
            f"{output}.contents.1.tool_call.id": "c1",
            f"{output}.contents.1.tool_call.function.name": "get_weather",
            f"{output}.contents.1.tool_call.function.arguments": "{}",
            f"{output}.tool_calls.0.tool_call.id": "c1",
            f"{output}.tool_calls.0.tool_call.function.name": "get_weather",
            f"{output}.tool_calls.0.tool_call.function.arguments": "{}",
        }
    )
    assert facts.output is not None
    assert facts.output[0].text == "I look."
    assert [call.id for call in facts.output[0].calls] == ["c1"]


def test_what_the_decoded_messages_lost_comes_from_the_raw_body() -> None:
    request = {"messages": [{"role": "user", "content": [{"type": "text", "text": "which drawer?"}]}]}
    calls = [{"id": "c1", "function": {"name": "f", "arguments": '{"broken": '}}]
    facts = read(
        {
            "openinference.span.kind": "LLM",
            "llm.input_messages.0.message.role": "user",
            "input.value": json.dumps(request),
            "llm.output_messages.0.message.role": "assistant",
            "output.value": json.dumps({"choices": [{"message": {"role": "assistant", "tool_calls": calls}}]}),
        }
    )
    assert facts.input is not None and facts.input[0].text == "which drawer?"
    assert facts.output is not None and facts.output[0].calls[0].arguments == '{"broken": '


def test_tool_name_makes_a_tool_whatever_the_kind_says_and_its_parameters_are_the_schema() -> None:
    facts = read(
        {
            "openinference.span.kind": "AGENT",
            "tool.name": "transfer_to_weather_agent",
            "tool.parameters": json.dumps(SCHEMA),
            "input.value": '{"city": "Rome"}',
            "output.value": "ok",
        }
    )
    assert facts.kind is Kind.TOOL
    assert facts.tool is not None
    assert (facts.tool.arguments, facts.tool.result) == ({"city": "Rome"}, "ok")


def test_a_hand_off_span_is_no_tool() -> None:
    facts = read(
        {"openinference.span.kind": "TOOL", "input.value": "Triage", "output.value": "Travel"},
        name="handoff to Travel agent",
    )
    assert facts.kind is Kind.HANDOFF


def test_results_come_out_of_the_messages_that_frameworks_wrap_round_them() -> None:
    dumped = json.dumps({"type": "tool", "data": {"content": '{"t": 14}', "tool_call_id": "c1", "status": "success"}})
    failed = json.dumps({"type": "tool", "data": {"content": "no such city", "tool_call_id": "c1", "status": "error"}})
    base: dict[str, JsonValue] = {
        "openinference.span.kind": "TOOL",
        "tool.name": "f",
        "input.value": "{'city': 'Rome'}",
    }

    good, bad = read({**base, "output.value": dumped}).tool, read({**base, "output.value": failed}).tool

    assert good is not None and bad is not None
    assert (good.call_id, good.result, good.error, good.arguments) == ("c1", '{"t": 14}', None, {"city": "Rome"})
    assert bad.error == "no such city"


def test_keyword_arguments_come_out_of_their_wrapper() -> None:
    facts = read(
        {
            "openinference.span.kind": "TOOL",
            "tool.name": "f",
            "input.value": '{"args": [], "sanitize_inputs_outputs": true, "kwargs": {"city": "Rome"}}',
        }
    )
    assert facts.tool is not None and facts.tool.arguments == {"city": "Rome"}


def test_hidden_content_is_not_captured_and_no_text() -> None:
    hidden: JsonValue = "__REDACTED__"
    model = read({"openinference.span.kind": "LLM", "input.value": hidden, "output.value": hidden})
    tool = read(
        {"openinference.span.kind": "TOOL", "tool.name": "f", "input.value": hidden, "output.value": hidden}
    ).tool
    agent = read({"openinference.span.kind": "AGENT", "input.value": hidden, "output.value": hidden})

    assert (model.input, model.output, model.hidden) == (None, None, True)
    assert tool is not None and (tool.arguments, tool.result) == (None, None)
    assert (agent.input_text, agent.output_text) == (None, None)


def test_a_failed_tool_gives_its_error_from_status_or_exception() -> None:
    base: dict[str, JsonValue] = {"openinference.span.kind": "TOOL", "tool.name": "f"}
    raised = Event(name="exception", attributes={"exception.type": "ValueError", "exception.message": "bad date"})

    by_status = read(base, error="ValueError: bad date").tool
    by_event = read(base, error="", events=(raised,)).tool
    unknown = read(base, error="").tool

    assert [tool.error for tool in (by_status, by_event, unknown) if tool is not None] == [
        "ValueError: bad date",
        "bad date",
        "",
    ]


def test_an_interrupt_for_approval_is_pending_and_no_error() -> None:
    raised = Event(name="exception", attributes={"exception.type": "langgraph.errors.GraphInterrupt"})
    facts = read({"openinference.span.kind": "TOOL", "tool.name": "f"}, error="GraphInterrupt()", events=(raised,))
    assert facts.tool is not None
    assert (facts.tool.pending, facts.tool.error, facts.error) == (True, None, None)


def test_on_a_tool_span_of_two_dialects_the_arguments_are_the_input_value() -> None:
    span = Span(
        trace_id="t",
        span_id="s",
        attributes={
            "openinference.span.kind": "TOOL",
            "tool.name": "get_weather",
            "input.value": '{"city": "Rome"}',
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": "get_weather",
            "gen_ai.tool.call.id": "c1",
            "gen_ai.tool.call.arguments": json.dumps(SCHEMA),
            "gen_ai.tool.call.result": "14",
        },
    )
    facts = Readers().read(span)
    assert facts is not None and facts.tool is not None
    assert (facts.tool.arguments, facts.tool.call_id, facts.tool.result) == ({"city": "Rome"}, "c1", "14")


def messages_of(*messages: dict[str, JsonValue]) -> SpanFacts:
    attributes: dict[str, JsonValue] = {"openinference.span.kind": "LLM"}
    for number, message in enumerate(messages):
        attributes.update({f"llm.input_messages.{number}.{key}": value for key, value in message.items()})
    return read(attributes)


def results(facts: SpanFacts) -> list[tuple[str | None, str | None, bool | None]]:
    return [(one.call_id, one.text, one.failed) for one in facts.input or () if one.role is Role.TOOL]


def test_several_results_in_one_message_of_autogen() -> None:
    result = {"name": "find_book", "content": "two copies", "is_error": False}
    facts = messages_of(
        {
            "message.role": "function",
            "function.0": json.dumps({**result, "call_id": "c1"}),
            "function.1": json.dumps({**result, "call_id": "c2", "is_error": True}),
        }
    )
    assert results(facts) == [("c1", "two copies", False), ("c2", "two copies", True)]


def test_several_results_in_one_message_of_beeai() -> None:
    facts = messages_of(
        {
            "message.role": "Role.TOOL",
            "message.contents.0.message.tool_call_id": "c1",
            "message.contents.0.message_content.type": "text",
            "message.contents.0.message_content.text": "two copies",
            "message.contents.1.message.tool_call_id": "c2",
            "message.contents.1.message_content.text": "none",
        }
    )
    assert results(facts) == [("c1", "two copies", None), ("c2", "none", None)]


def test_texts_by_place_are_one_message() -> None:
    facts = messages_of({"message.role": "assistant", "message.content.0": "One.", "message.content.1": "Two."})
    assert facts.input is not None and facts.input[0].text == "One.\nTwo."


def test_tools_with_gaps_among_them_dont_tell_what_was_offered() -> None:
    described = {"llm.tools.1.tool.json_schema": json.dumps({"name": "transfer_to_desk", "parameters": SCHEMA})}
    assert read({"openinference.span.kind": "LLM", **described}).tools is None


def test_making_an_agent_is_no_work_of_it() -> None:
    facts = Readers().read(
        Span(
            trace_id="t",
            span_id="s",
            attributes={"openinference.span.kind": "AGENT", "gen_ai.operation.name": "create_agent"},
        )
    )
    assert facts is not None and facts.kind is Kind.OTHER


def test_of_two_accounts_of_a_history_the_one_that_tells_results_apart_stands() -> None:
    parts = [
        {"type": "tool_call_response", "id": call_id, "response": text} for call_id, text in (("c1", "a"), ("c2", "b"))
    ]
    facts = Readers().read(
        Span(
            trace_id="t",
            span_id="s",
            attributes={
                "openinference.span.kind": "LLM",
                "llm.input_messages.0.message.role": "tool",
                "llm.input_messages.0.message.tool_call_id": "c2",
                "llm.input_messages.0.message.contents.0.message_content.text": "a",
                "llm.input_messages.0.message.contents.1.message_content.text": "b",
                "gen_ai.operation.name": "chat",
                "gen_ai.input.messages": json.dumps([{"role": "tool", "parts": parts}]),
            },
        )
    )
    assert facts is not None and results(facts) == [("c1", "a", None), ("c2", "b", None)]


def test_what_the_flattened_messages_lost_is_taken_from_the_bodies() -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "find_book", "arguments": "{}"}}
    rules = [{"type": "text", "text": "rules"}]
    facts = read(
        {
            "openinference.span.kind": "LLM",
            "input.value": json.dumps(
                {"messages": [{"role": "system", "content": rules}, {"role": "user", "content": "Is Dune in?"}]}
            ),
            "output.value": json.dumps({"choices": [{"message": {"role": "assistant", "tool_calls": [call]}}]}),
            "llm.input_messages.0.message.role": "system",
            "llm.input_messages.1.message.role": "user",
            "llm.input_messages.1.message.content": "Is Dune in?",
            "llm.output_messages.0.message.role": "assistant",
            "llm.output_messages.0.message.tool_calls.0.tool_call.function.name": "find_book",
            "llm.output_messages.0.message.tool_calls.0.tool_call.function.arguments": "{}",
        }
    )
    assert facts.input is not None and [one.text for one in facts.input] == ["rules", "Is Dune in?"]
    assert facts.output is not None and [one.id for one in facts.output[0].calls] == ["c1"]


def test_responses_in_a_list_are_read_one_after_the_other() -> None:
    answer = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Two copies."}]}
    facts = read({"openinference.span.kind": "LLM", "output.value": json.dumps([{"id": "r", "output": [answer]}])})
    assert facts.output is not None and [one.text for one in facts.output] == ["Two copies."]


def test_state_that_was_cut_is_nobodys_words() -> None:
    facts = read({"openinference.span.kind": "CHAIN", "input.value": '{"agent": {"role": "de', "output.value": "Yes."})
    assert (facts.input_text, facts.output_text) == (None, "Yes.")


def test_the_same_words_without_a_role_are_the_users_in_and_the_models_out() -> None:
    words = {f"llm.{side}_messages.0.message.content": "Emma" for side in ("input", "output")}
    facts = read({"openinference.span.kind": "LLM", **words})
    assert [message.role for message in (*(facts.input or ()), *(facts.output or ()))] == [Role.USER, Role.ASSISTANT]


def test_of_a_definition_that_was_cut_the_name_is_left_and_no_schema() -> None:
    whole = json.dumps({"type": "function", "function": {"name": "get_weather", "parameters": SCHEMA}})
    facts = read({"openinference.span.kind": "LLM", "llm.tools.0.tool.json_schema": whole[:-30]})
    assert facts.tools is not None and [(tool.name, tool.parameters) for tool in facts.tools] == [("get_weather", None)]
