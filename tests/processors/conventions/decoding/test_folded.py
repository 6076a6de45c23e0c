"""Histories that stand as JSON in the text of one message."""

from __future__ import annotations

import json

import pytest

from evaluators.cases import JsonValue
from tests.processors.conventions.told import texts, told

ITEMS: list[JsonValue] = [
    {"role": "user", "content": "Where is Dune?"},
    {"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "find_book", "arguments": '{"title": "Dune"}'},
    {"type": "function_call_output", "call_id": "c1", "output": "C4"},
]


def given(*said: str) -> dict[str, JsonValue]:
    messages = [{"role": "user", "parts": [{"type": "text", "content": text}]} for text in said]
    return {"gen_ai.operation.name": "chat", "gen_ai.input.messages": json.dumps(messages)}


def test_items_in_the_text_of_the_users_message_are_the_messages() -> None:
    facts = told(given(json.dumps(ITEMS)))

    assert texts(facts) == [("user", "Where is Dune?"), ("assistant", ""), ("tool", "C4")]
    assert facts.input is not None
    assert [(call.name, call.id) for call in facts.input[1].calls] == [("find_book", "c1")]


@pytest.mark.parametrize(
    "text", ['[{"title": "Dune"}]', '[{"role": "reader", "content": "x"}]', '[{"type": "book"}', "[]"]
)
def test_other_json_that_a_user_sends_is_the_users_text(text: str) -> None:
    assert texts(told(given(text))) == [("user", text)]
