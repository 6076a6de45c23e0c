"""Calls out of messages that a length limit cut: what isn't whole is known not to be."""

from __future__ import annotations

import json

import pytest

from processors.conventions.decoding.cut import cut_json
from processors.conventions.decoding.parts import parts_of
from processors.conventions.facts import CallFacts

_ARGUMENTS = {"title": "The Salt Road", "where": {"branch": "Riverside", "floor": 2}}
_PARTS = json.dumps(
    [
        {"type": "text", "content": "I look it up."},
        {"type": "tool_call", "id": "call_1", "name": "find_book", "arguments": _ARGUMENTS},
        {"type": "tool_call", "id": "call_2", "arguments": _ARGUMENTS, "name": "find_book"},
    ]
)


@pytest.mark.parametrize("length", range(2, len(_PARTS)))
def test_wherever_a_message_is_cut_each_call_has_its_name_and_is_whole_or_known_as_cut(length: int) -> None:
    calls = [part for part in parts_of(cut_json(_PARTS[:length])) if isinstance(part, CallFacts)]

    assert {call.name for call in calls} <= {"find_book"}
    assert all(call.truncated or call.arguments == _ARGUMENTS for call in calls)
    assert all(call.arguments != {} for call in calls)
