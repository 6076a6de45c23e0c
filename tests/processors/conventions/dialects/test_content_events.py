"""Content in the events of the conventions' second form, as JSON or as lines of text."""

from __future__ import annotations

import json

from evaluators.cases import JsonValue
from processors.conventions.facts import SpanFacts
from processors.conventions.registry import Readers
from processors.otlp import Event
from tests.processors.conventions.told import calls, span, texts


def told(prompt: str | None, completion: str | None, **attributes: JsonValue) -> SpanFacts:
    events = [
        Event(name=f"gen_ai.content.{name}", attributes={f"gen_ai.{name}": text})
        for name, text in (("prompt", prompt), ("completion", completion))
        if text is not None
    ]
    facts = Readers().read(span({"gen_ai.operation.name": "chat", **attributes}, events=events))
    assert facts is not None
    return facts


def test_lines_that_begin_with_a_role_are_messages() -> None:
    facts = told("system: Be brief.\nuser: Two lines:\nWhere is Dune?\nassistant: None\ntool: C4", "On C4.")

    assert texts(facts) == [
        ("system", "Be brief."),
        ("user", "Two lines:\nWhere is Dune?"),
        ("assistant", ""),
        ("tool", "C4"),
    ]
    assert facts.output is not None and [message.text for message in facts.output] == ["On C4."]


def test_calls_are_the_repr_of_a_list_beside_the_events() -> None:
    repr_of_calls = str([{"id": "c1", "function": {"arguments": '{"title": "Dune"}', "name": "find_book"}}])

    facts = told("user: Where is Dune?", "None", **{"gen_ai.response.tool_calls": repr_of_calls})

    assert calls(facts) == [("find_book", "c1", {"title": "Dune"})]
    assert facts.output is not None and facts.output[0].text == ""


def test_messages_as_json_are_read_as_such() -> None:
    facts = told('[{"role": "user", "content": "Where is Dune?"}]', '[{"role": "assistant", "content": "On C4."}]')

    assert texts(facts) == [("user", "Where is Dune?")]
    assert facts.output is not None and facts.output[0].text == "On C4."


def test_text_without_roles_is_the_users() -> None:
    assert texts(told("Where is Dune?\nuser: me", None)) == [("user", "Where is Dune?\nuser: me")]


def test_without_an_answers_event_no_answer_was_captured() -> None:
    assert told("user: x", None, **{"gen_ai.response.tool_calls": "None"}).output is None


def test_tools_are_a_list_in_a_list_and_calls_stand_in_the_place_of_words() -> None:
    tools = json.dumps([json.dumps([{"type": "function", "function": {"name": "find_book", "parameters": {}}}])])
    call = {"id": "c1", "type": "function", "function": {"name": "find_book", "arguments": '{"title": "Dune"}'}}

    facts = told(
        '[{"role": "user", "content": "Where is Dune?"}]',
        json.dumps([{"role": "assistant", "content": [call]}]),
        **{"gen_ai.request.tools": tools},
    )

    assert [tool.name for tool in facts.tools or ()] == ["find_book"]
    assert calls(facts) == [("find_book", "c1", {"title": "Dune"})]
