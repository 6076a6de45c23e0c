"""Every library is given the same words of a case, in the fields that it has for them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from bench.judges.fields import FIELDS

WEATHER = {
    "name": "weather",
    "description": "Weather of a city.",
    "parameters": {"type": "object", "properties": {"city": {"type": "string"}}},
}
STEP: dict[str, Any] = {
    "messages": [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Weather in Zürich?"},
    ],
    "available_tools": [WEATHER],
    "tool_calls": [{"id": "c1", "name": "weather", "arguments": {"city": "Zürich"}}],
    "tool_results": [{"id": "c1", "name": "weather", "content": '{"sky": "clear"}'}],
    "output": "Clear.",
}
RUN: dict[str, Any] = {
    **STEP,
    "messages": [
        *STEP["messages"],
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "c1", "function": {"name": "weather", "arguments": '{"city": "Zürich"}'}}],
        },
        {"role": "tool", "tool_call_id": "c1", "content": '{"sky": "clear"}'},
        {"role": "assistant", "content": "Clear."},
    ],
}
NOTHING_CALLED = {**STEP, "tool_calls": [], "tool_results": [], "output": "I can't know."}


@pytest.mark.parametrize("evaluator", ["tool_selection", "tool_invocation"])
def test_phoenix_is_given_conversation_tools_with_schemas_and_calls(evaluator: str) -> None:
    fields = FIELDS["phoenix", evaluator](STEP)
    assert fields["input"] == "System: Be brief.\nUser: Weather in Zürich?"
    assert json.loads(fields["available_tools"]) == [WEATHER]
    assert fields["tool_selection"] == 'weather({"city": "Zürich"})'


def test_phoenix_is_told_where_nothing_was_called() -> None:
    fields = FIELDS["phoenix", "tool_selection"](NOTHING_CALLED)
    assert fields["tool_selection"] == "No tool was called. The assistant said: I can't know."


def test_phoenix_is_given_results_and_whether_they_are_errors() -> None:
    failed = {**STEP, "tool_results": [{"id": "c1", "name": "weather", "content": "no such city", "error": True}]}
    assert FIELDS["phoenix", "tool_response_handling"](failed) == {
        "input": "System: Be brief.\nUser: Weather in Zürich?",
        "tool_call": 'weather({"city": "Zürich"})',
        "tool_result": "weather (error): no such city",
        "output": "Clear.",
    }


def test_deepeval_is_given_calls_with_what_their_tools_are_for() -> None:
    fields = FIELDS["deepeval", "tool_selection"](STEP)
    (call,), (tool,) = fields["tools_called"], fields["available_tools"]
    assert (call["name"], call["description"], call["input_parameters"]) == (
        "weather",
        "Weather of a city.",
        {"city": "Zürich"},
    )
    assert tool["input_parameters"] == WEATHER["parameters"]


def test_arguments_that_are_no_object_are_kept_under_a_key_of_their_own() -> None:
    broken = {**STEP, "tool_calls": [{"id": "c1", "name": "weather", "arguments": '{"city": '}]}
    (call,) = FIELDS["deepeval", "tool_invocation"](broken)["tools_called"]
    assert call["input_parameters"] == {"arguments": '{"city": '}


def test_deepeval_is_given_results_of_a_run_once() -> None:
    fields = FIELDS["deepeval", "task_completion"](RUN)
    assert "clear" not in fields["input"]
    assert fields["tools_called"][0]["output"] == '{"sky": "clear"}'
    assert fields["actual_output"] == "Clear."


def test_ragas_is_given_the_messages_that_it_knows() -> None:
    assert FIELDS["ragas", "task_completion"](RUN) == {
        "user_input": [
            {"type": "human", "content": "Weather in Zürich?"},
            {"type": "ai", "content": "", "tool_calls": [{"name": "weather", "args": {"city": "Zürich"}}]},
            {"type": "tool", "content": '{"sky": "clear"}'},
            {"type": "ai", "content": "Clear.", "tool_calls": []},
        ]
    }
