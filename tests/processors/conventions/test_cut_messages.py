"""What a length limit leaves of messages, results and wrappers: it is whole, or it is known that it isn't."""

from __future__ import annotations

import json

import pytest

from evaluators.cases import JsonValue, Role
from processors.conventions.decoding.calls import executed_arguments
from processors.conventions.decoding.cut import cut_json, whole_of
from processors.conventions.decoding.messages import Messages
from processors.conventions.decoding.results import output_of
from processors.conventions.facts import MessageFacts
from processors.conventions.registry import Readers
from processors.otlp import Span
from tests.processors.conventions.told import told

SAID = "Yes, it stands at Riverside."
GAVE = '{"copy": 5127, "shelf": "F-18"}'
ANSWERS: dict[str, JsonValue] = {
    "parts": [{"role": "assistant", "parts": [{"content": SAID, "type": "text"}], "finish_reason": "stop"}],
    "blocks": [{"content": [{"text": SAID, "type": "text"}], "role": "assistant"}],
    "constructor": [{"lc": 1, "id": ["langchain", "schema", "AIMessage"], "kwargs": {"content": SAID, "type": "ai"}}],
    "chat": [{"role": "assistant", "content": SAID}],
}
RESULTS: dict[str, JsonValue] = {
    "parts": [{"role": "tool", "parts": [{"type": "tool_call_response", "id": "c1", "response": json.loads(GAVE)}]}],
    "nested": [{"role": "tool", "parts": [{"type": "tool_call_response", "id": "c1", "response": [{"text": GAVE}]}]}],
    "blocks": [
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": [{"text": GAVE}]}]}
    ],
    "chat": [{"role": "tool", "tool_call_id": "c1", "content": [{"type": "text", "text": GAVE}]}],
}
WRAPPED = {
    "message": {"output": {"content": GAVE, "additional_kwargs": {}, "type": "tool", "tool_call_id": "c1"}},
    "constructor": {"output": {"lc": 1, "id": ["ToolMessage"], "kwargs": {"content": GAVE, "tool_call_id": "c1"}}},
}


def cuts(text: str) -> range:
    return range(2, len(text))


def read(text: str) -> tuple[MessageFacts, ...]:
    return Messages().read(cut_json(text), Role.ASSISTANT) or ()


@pytest.mark.parametrize("shape", ANSWERS)
def test_wherever_an_answer_is_cut_its_words_are_whole_or_not_captured(shape: str) -> None:
    text = json.dumps(ANSWERS[shape])
    for length in cuts(text):
        assert {message.text for message in read(text[:length])} <= {SAID, None}


@pytest.mark.parametrize("shape", RESULTS)
def test_wherever_a_result_is_cut_it_is_whole_or_not_captured(shape: str) -> None:
    text = json.dumps(RESULTS[shape])
    whole = Messages().read(RESULTS[shape], Role.USER) or ()
    for length in cuts(text):
        results = [message for message in read(text[:length]) if message.role is Role.TOOL]
        assert {message.text for message in results} <= {whole[0].text, None}


def test_words_whose_role_stood_behind_the_cut_are_nobodys() -> None:
    text = json.dumps([{"content": "Is it in?", "additional_kwargs": {}, "type": "human"}])
    assert read(text[: text.index("human")]) == ()
    assert [message.role for message in Messages().read(json.loads(text), Role.ASSISTANT) or ()] == [Role.USER]


def test_a_body_cut_behind_a_closed_object_is_no_text() -> None:
    body = '{"id":"resp_1","metadata":{},"output":[{"type":"message"'
    assert whole_of(body[: body.index("{}") + 2], None) == {"id": "resp_1", "metadata": {}}


@pytest.mark.parametrize("shape", WRAPPED)
def test_wherever_a_message_round_a_tools_output_is_cut_the_output_is_whole_or_not_captured(shape: str) -> None:
    text = json.dumps(WRAPPED[shape])
    assert output_of(text).text == GAVE
    shown = text.index("{}" if shape == "message" else '"id"')
    assert {output_of(text[:length]).text for length in range(shown + 2, len(text))} <= {GAVE, None}


def test_a_cut_result_without_a_message_round_it_is_read_as_far_as_it_goes() -> None:
    assert output_of(GAVE[:20]).text == GAVE[:20]


def test_a_wrapper_cut_behind_the_arguments_still_has_them() -> None:
    arguments = {"title": "Dune", "branch": "Riverside"}
    text = json.dumps({"input_str": str(arguments), "tags": ["a"], "metadata": {"step": 1}})
    for length in range(text.index('"tags"'), len(text)):
        assert executed_arguments(text[:length]) == arguments
    assert executed_arguments(text[:30]) == text[:30]


def test_a_schema_beside_a_tools_name_is_no_tool_called_object() -> None:
    facts = told(
        {
            "openinference.span.kind": "LLM",
            "llm.tools.0.tool.name": "find_book",
            "llm.tools.0.tool.json_schema": json.dumps({"type": "object", "properties": {"title": {}}}),
        }
    )
    assert [(tool.name, tool.parameters) for tool in facts.tools or ()] == [
        ("find_book", {"type": "object", "properties": {"title": {}}})
    ]


def test_a_call_of_which_only_the_id_is_left_is_none() -> None:
    key = "llm.output_messages.0.message.tool_calls.0.tool_call.id"
    facts = told({"openinference.span.kind": "LLM", key: "c1"})
    assert [call for message in facts.output or () for call in message.calls] == []


def test_an_execution_without_the_tools_name_is_named_by_its_span() -> None:
    facts = told({"gen_ai.operation.name": "execute_tool"}, name="execute_tool find_book")
    assert facts.tool is not None and facts.tool.name == "find_book"


def test_where_attributes_were_left_out_no_words_are_not_nothing_said() -> None:
    attributes: dict[str, JsonValue] = {
        "openinference.span.kind": "LLM",
        "llm.output_messages.0.message.role": "assistant",
        "llm.output_messages.0.message.contents.0.message_content.type": "text",
    }
    facts = Readers().read(Span(trace_id="t", span_id="s", attributes=attributes, dropped_attributes=3))
    assert facts is not None and [message.text for message in facts.output or ()] == [None]


def test_arguments_in_cut_words_are_known_as_cut() -> None:
    words = "[[ ## next_thought ## ]]\nI look.\n\n[[ ## next_tool_name ## ]]\nfind_book\n\n[[ ## next_tool_args ## ]]\n"
    cut = f'{words}{{"title": "The Salt Road, or how the'[:128]
    assert len(cut) == 128
    attributes: dict[str, JsonValue] = {
        "openinference.span.kind": "LLM",
        "llm.output_messages.0.message.role": "assistant",
        "llm.output_messages.0.message.content": cut,
    }
    span = Span(trace_id="t", span_id="s", name="LM.__call__", attributes=attributes)
    facts = Readers(128).read(span)
    assert facts is not None
    calls = [call for message in facts.output or () for call in message.calls]
    assert all(call.truncated for call in calls)
    assert all(message.truncated for message in facts.output or ())
