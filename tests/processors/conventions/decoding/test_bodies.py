"""Request and response bodies of shapes that nobody writes."""

from __future__ import annotations

import pytest

from evaluators.cases import JsonValue
from processors.conventions.decoding.bodies import (
    request_messages,
    request_system,
    request_tools,
    response_messages,
    tool_choice_of,
)
from processors.conventions.decoding.messages import Messages


@pytest.mark.parametrize("odd", [None, 1, [], {}, [{}], {"role": []}, "words"])
@pytest.mark.parametrize("key", ["type", "role", "content", "choices", "output", "generations", "tool_calls", "parts"])
def test_a_value_of_any_type_in_any_place_doesnt_make_reading_raise(key: str, odd: JsonValue) -> None:
    for body in ({key: odd}, [{key: odd}], {"messages": [{key: odd}]}, {"output": [{key: odd}]}):
        for read in (request_messages, response_messages):
            found = read(body, Messages())
            assert found is None or all(message.role for message in found)


def test_parameters_may_stand_in_a_group_of_their_own() -> None:
    tools: JsonValue = [{"type": "function", "function": {"name": "find_book", "parameters": {"type": "object"}}}]
    body: JsonValue = {"model": "m", "kwargs": {"tools": tools, "tool_choice": "required", "system": "Be brief."}}

    assert [tool.name for tool in request_tools(body) or ()] == ["find_book"]
    assert tool_choice_of(body) == "required"
    assert request_system(body) == "Be brief."
