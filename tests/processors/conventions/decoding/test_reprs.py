"""Reprs of objects are read as data, and nothing in them is run."""

from __future__ import annotations

import pytest

from evaluators.cases import Role
from processors.conventions.decoding.messages import Messages
from processors.conventions.decoding.reprs import from_repr


def test_an_object_becomes_its_keyword_arguments() -> None:
    text = "ChatMessage(role=<MessageRole.USER: 'user'>, extra={'n': 1}, blocks=[Block(text=\"it's\")], at=<A at 0x1f>)"
    assert from_repr(text) == {"role": "user", "extra": {"n": 1}, "blocks": [{"text": "it's"}], "at": None}


@pytest.mark.parametrize(
    "text",
    [
        "plain words",
        "I call f(x) now",
        "open('x')",
        "f(a=__import__('os'))",
        "f(a=b)",
        "f(" + "(" * 5000 + ")" * 5000 + ")",
        "f(a=" + "-" * 50_000 + "1)",
        "f(a='" + "x" * 200_000 + "')",
    ],
)
def test_everything_else_is_no_object(text: str) -> None:
    found = from_repr(text)
    assert found is None or "os" not in str(found)


def test_messages_written_as_reprs_are_messages() -> None:
    call = "ChoiceDeltaToolCall(id='c1', function=Function(arguments='{\"city\": \"Rome\"}', name='get_weather'))"
    found = Messages().read(
        [
            "ChatMessage(role=<MessageRole.USER: 'user'>, blocks=[TextBlock(block_type='text', text='hi')])",
            f"ChatMessage(role='assistant', additional_kwargs={{'tool_calls': [{call}]}}, blocks=[])",
        ],
        Role.USER,
    )
    assert found is not None
    assert [(message.role, message.text) for message in found] == [(Role.USER, "hi"), (Role.ASSISTANT, "")]
    assert [(one.id, one.name, one.arguments) for one in found[1].calls] == [("c1", "get_weather", {"city": "Rome"})]


def test_a_text_part_that_is_the_repr_of_a_call_is_the_call() -> None:
    text = "ResponseFunctionToolCall(arguments='{\"city\": \"Rome\"}', call_id='c1', name='get_weather', id='fc_1')"
    found = Messages().read([{"role": "assistant", "parts": [{"type": "text", "content": text}]}], Role.ASSISTANT)
    assert found is not None
    assert [(one.id, one.arguments) for one in found[0].calls] == [("c1", {"city": "Rome"})]
    assert found[0].text == ""
