"""One table of message shapes, from every provider and framework, and what each says."""

from __future__ import annotations

import pytest

from evaluators.cases import JsonValue, Role
from processors.conventions.decoding.messages import Messages
from processors.conventions.facts import CallFacts, MessageFacts

PARIS: dict[str, JsonValue] = {"city": "Paris"}
CALL = MessageFacts(role=Role.ASSISTANT, text="", calls=(CallFacts(name="weather", id="c1", arguments=PARIS),))
RESULT = MessageFacts(role=Role.TOOL, text="14 °C", call_id="c1")


def read(value: JsonValue, default: Role = Role.USER) -> tuple[MessageFacts, ...]:
    found = Messages().read(value, default)
    assert found is not None
    return found


CALL_SHAPES: dict[str, JsonValue] = {
    "OpenAI chat": {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {"id": "c1", "type": "function", "function": {"name": "weather", "arguments": '{"city": "Paris"}'}}
        ],
    },
    "OpenAI responses item": {
        "type": "function_call",
        "call_id": "c1",
        "id": "fc_9",
        "name": "weather",
        "arguments": '{"city": "Paris"}',
    },
    "Anthropic block": {
        "role": "assistant",
        "content": [{"type": "tool_use", "id": "c1", "name": "weather", "input": {"city": "Paris"}}],
    },
    "GenAI part, arguments an object": {
        "role": "assistant",
        "parts": [{"type": "tool_call", "id": "c1", "name": "weather", "arguments": {"city": "Paris"}}],
        "name": None,
    },
    "GenAI part, arguments as text": {
        "role": "assistant",
        "parts": [{"type": "tool_call", "id": "c1", "name": "weather", "arguments": '{"city": "Paris"}'}],
    },
    "arguments encoded twice": {
        "role": "assistant",
        "tool_calls": [{"id": "c1", "function": {"name": "weather", "arguments": '"{\\"city\\": \\"Paris\\"}"'}}],
    },
    "LangChain, serialised": {
        "lc": 1,
        "type": "constructor",
        "id": ["langchain", "schema", "messages", "AIMessage"],
        "kwargs": {"content": "", "tool_calls": [{"name": "weather", "args": {"city": "Paris"}, "id": "c1"}]},
    },
    "LangChain, dumped": {
        "type": "ai",
        "data": {"content": "", "tool_calls": [{"name": "weather", "args": {"city": "Paris"}, "id": "c1"}]},
    },
    "Bedrock": {"role": "assistant", "content": [{"toolUse": {"toolUseId": "c1", "name": "weather", "input": PARIS}}]},
    "Gemini": {"role": "model", "parts": [{"function_call": {"id": "c1", "name": "weather", "args": PARIS}}]},
    "AI SDK": {
        "role": "assistant",
        "content": [{"type": "tool-call", "toolCallId": "c1", "toolName": "weather", "input": PARIS}],
    },
    "given twice, as a part and in the list": {
        "role": "assistant",
        "content": [{"type": "tool_use", "id": "c1", "name": "weather", "input": {"city": "Paris"}}],
        "tool_calls": [{"id": "c1", "function": {"name": "weather", "arguments": '{"city": "Paris"}'}}],
    },
}

RESULT_SHAPES: dict[str, JsonValue] = {
    "OpenAI chat": {"role": "tool", "tool_call_id": "c1", "content": "14 °C"},
    "OpenAI responses item": {"type": "function_call_output", "call_id": "c1", "output": "14 °C"},
    "Anthropic block under the user": {
        "role": "user",
        "content": [{"type": "tool_result", "tool_use_id": "c1", "content": [{"type": "text", "text": "14 °C"}]}],
    },
    "GenAI part, response": {
        "role": "tool",
        "parts": [{"type": "tool_call_response", "id": "c1", "response": "14 °C"}],
    },
    "GenAI part, result, under the user": {
        "role": "user",
        "parts": [{"type": "tool_call_response", "id": "c1", "result": "14 °C"}],
    },
    "LangChain": {"type": "tool", "data": {"content": "14 °C", "tool_call_id": "c1"}},
    "Bedrock": {
        "role": "user",
        "content": [{"toolResult": {"toolUseId": "c1", "content": [{"text": "14 °C"}], "status": "success"}}],
    },
    "AI SDK": {
        "role": "tool",
        "content": [{"type": "tool-result", "toolCallId": "c1", "output": {"type": "text", "value": "14 °C"}}],
    },
}


@pytest.mark.parametrize("shape", CALL_SHAPES.values(), ids=CALL_SHAPES)
def test_a_call_is_read_from_every_shape(shape: JsonValue) -> None:
    assert read([shape]) == (CALL,)


@pytest.mark.parametrize("shape", RESULT_SHAPES.values(), ids=RESULT_SHAPES)
def test_a_result_is_read_from_every_shape_and_is_never_the_users_word(shape: JsonValue) -> None:
    assert read([shape]) == (RESULT,)


@pytest.mark.parametrize(
    ("shape", "role", "text"),
    [
        ({"role": "user", "content": "hi"}, Role.USER, "hi"),
        ({"role": "developer", "content": "rules"}, Role.SYSTEM, "rules"),
        ({"role": "human", "content": [{"type": "text", "text": "a"}, {"text": "b"}]}, Role.USER, "a\nb"),
        ({"parts": [{"type": "reasoning", "content": "hm"}, {"type": "text", "content": "so"}]}, Role.USER, "so"),
        ({"type": "message", "role": "ai", "content": [{"type": "output_text", "text": "x"}]}, Role.ASSISTANT, "x"),
        ({"type": "human", "data": {"content": "hi"}}, Role.USER, "hi"),
        ({"role": "user"}, Role.USER, None),
        ({"role": "assistant", "content": ""}, Role.ASSISTANT, ""),
    ],
)
def test_text_and_role(shape: JsonValue, role: Role, text: str | None) -> None:
    (message,) = read(shape)
    assert (message.role, message.text, message.calls) == (role, text, ())


def test_one_message_with_results_and_words_of_the_user_is_two() -> None:
    found = read(
        [
            {
                "role": "user",
                "content": [
                    {"type": "tool_result", "tool_use_id": "c1", "content": "14 °C", "is_error": True},
                    {"type": "text", "text": "and tomorrow?"},
                ],
            }
        ]
    )
    assert [(message.role, message.text, message.failed) for message in found] == [
        (Role.TOOL, "14 °C", True),
        (Role.USER, "and tomorrow?", None),
    ]


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ('{"city": "Par', '{"city": "Par'),
        ("", {}),
        ("null", {}),
        (None, None),
        ('{"INVALID_JSON": "{\\"city\\": "}', '{"city": '),
        ("[1]", "[1]"),
    ],
)
def test_arguments_that_are_no_object_stay_as_they_were(arguments: JsonValue, expected: JsonValue) -> None:
    (message,) = read({"role": "assistant", "tool_calls": [{"function": {"name": "f", "arguments": arguments}}]})
    assert message.calls[0].arguments == expected


def test_a_result_that_is_json_keeps_its_text() -> None:
    (message,) = read({"role": "tool", "tool_call_id": "c1", "content": '{"celsius": 14.0}'})
    assert message.text == '{"celsius": 14.0}'


def test_pictures_are_noted_and_are_no_text() -> None:
    (message,) = read({"role": "user", "content": [{"type": "image_url", "image_url": {"url": "x"}}]})
    assert message.media == ("image_url",)


def test_tools_that_the_provider_runs_are_marked() -> None:
    (message,) = read([{"type": "web_search_call", "id": "ws_1", "action": {"query": "x"}}], Role.ASSISTANT)
    assert [(call.name, call.provider_executed) for call in message.calls] == [("web_search", True)]


def test_a_repeated_message_is_the_same_object() -> None:
    messages = Messages()
    history: list[JsonValue] = [{"role": "user", "content": "hi"}]
    first = messages.read(history, Role.USER)
    second = messages.read([*history, {"role": "assistant", "content": "yes"}], Role.USER)
    assert first is not None and second is not None
    assert first[0] is second[0]


def test_without_ids_two_equal_calls_are_two() -> None:
    call: JsonValue = {"type": "tool_call", "name": "f", "arguments": {}}
    (message,) = read({"role": "assistant", "parts": [call, call]})
    assert len(message.calls) == 2


@pytest.mark.parametrize("hidden", ["<elided>", "__REDACTED__"])
def test_a_placeholder_for_hidden_content_is_no_content(hidden: str) -> None:
    found = read(
        [
            {"role": "user", "content": hidden},
            {"role": "assistant", "parts": [{"type": "text", "content": hidden}]},
            {"role": "tool", "tool_call_id": "c1", "content": hidden},
        ]
    )
    assert [message.text for message in found] == [None, None, None]


def test_messages_as_pairs_of_role_and_content() -> None:
    found = read([["system", "rules"], ["user", "hi"]])
    assert [(message.role, message.text) for message in found] == [(Role.SYSTEM, "rules"), (Role.USER, "hi")]


def test_of_a_batch_the_first_conversation_counts() -> None:
    found = read([[{"role": "user", "content": "first"}], [{"role": "user", "content": "second"}]])
    assert [message.text for message in found] == ["first"]


@pytest.mark.parametrize(
    "content",
    [[{"type": "text"}], [{"type": "text", "content": None}], [{"type": "text", "content": "<redacted>"}], "<elided>"],
    ids=["type alone", "null", "placeholder", "placeholder as text"],
)
def test_a_text_whose_words_were_withheld_is_not_captured(content: JsonValue) -> None:
    (message,) = read({"role": "user", "parts" if isinstance(content, list) else "content": content})
    assert (message.text, message.media) == (None, ())


def test_an_empty_text_says_nothing_and_a_picture_is_no_text() -> None:
    (empty,) = read({"role": "user", "parts": [{"type": "text", "content": ""}]})
    assert empty.text == ""
    (picture,) = read({"role": "user", "parts": [{"type": "image"}]})
    assert (picture.text, picture.media) == ("", ("image",))


def test_the_repr_of_a_text_part_is_its_words() -> None:
    part = "{'annotations': [], 'text': 'It is 14 °C.', 'type': 'output_text', 'logprobs': []}"
    (message,) = read({"role": "assistant", "parts": [{"type": "text", "content": part}]})
    assert message.text == "It is 14 °C."
    (quoted,) = read({"role": "assistant", "parts": [{"type": "text", "content": "{'type': 'output_text', broken"}]})
    assert quoted.text == "{'type': 'output_text', broken"
