"""OpenLIT: decorated functions, and calls listed on the spans of model calls."""

from __future__ import annotations

import pytest

from evaluators.cases import JsonValue
from processors.conventions.facts import Kind
from processors.conventions.registry import Readers
from tests.processors.conventions.told import calls, span, told

CHAT: dict[str, JsonValue] = {"gen_ai.operation.name": "chat", "gen_ai.response.finish_reasons": ["tool_calls"]}


def test_a_decorated_function_has_reprs_for_arguments_and_plain_text_for_a_result() -> None:
    facts = told(
        {
            "function.args": "()",
            "function.kwargs": "{'title': \"O'Brien\", 'again': True, 'shelf': None}",
            "gen_ai.output.messages": '{"shelf": "C4"}',
        },
        name="find_book",
    )

    assert (facts.kind, facts.dialects) == (Kind.CHAIN, ("openlit",))
    assert facts.tool is not None
    assert facts.tool.arguments == {"title": "O'Brien", "again": True, "shelf": None}
    assert facts.tool.result == '{"shelf": "C4"}'


def test_a_decorated_functions_result_is_no_answer_of_a_model() -> None:
    facts = told({"function.args": "()", "function.kwargs": "{}", "gen_ai.output.messages": "Good morning"})

    assert facts.output is None


def test_an_agents_words_are_its_one_text_argument() -> None:
    facts = told({"function.args": "('Where is Dune?',)", "function.kwargs": "{}", "gen_ai.output.messages": "On C4."})

    assert (facts.input_text, facts.output_text) == ("Where is Dune?", "On C4.")


def test_a_decorated_function_that_failed_is_known_by_the_scope_alone() -> None:
    failed = span({}, name="renew", error="ValueError: no such card", scope="openlit")
    other = span({}, name="renew", error="ValueError: no such card", scope="openlit.instrumentation.openai")

    facts = Readers().read(failed)

    assert facts is not None and facts.tool is not None
    assert (facts.tool.name, facts.tool.error, facts.tool.arguments) == ("renew", "ValueError: no such card", None)
    assert Readers().read(other) is None


def test_a_listed_call_is_read_where_messages_are_not_captured() -> None:
    facts = told(
        {
            **CHAT,
            "gen_ai.tool.name": "find_book",
            "gen_ai.tool.call.id": "c1",
            "gen_ai.tool.args": '{"title": "Dune, part 1"}',
        }
    )

    assert facts.dialects == ("genai", "openlit")
    assert calls(facts) == [("find_book", "c1", {"title": "Dune, part 1"})]


def test_parallel_calls_that_were_joined_by_commas_are_told_apart() -> None:
    facts = told(
        {
            **CHAT,
            "gen_ai.tool.name": "find_book, find_book",
            "gen_ai.tool.call.id": "c1, c2",
            "gen_ai.tool.args": '{"title": "Dune, part 1"}, {"title": "Emma"}',
        }
    )

    assert calls(facts) == [("find_book", "c1", {"title": "Dune, part 1"}), ("find_book", "c2", {"title": "Emma"})]


@pytest.mark.parametrize("arguments", ['{"title": "Dune"}, {"title"', "Dune, Emma, Persuasion", "{}, {}, {}", ""])
def test_joined_calls_that_cannot_be_told_apart_are_not_guessed(arguments: str) -> None:
    facts = told(
        {
            **CHAT,
            "gen_ai.tool.name": "find_book, renew",
            "gen_ai.tool.call.id": "c1, c2",
            "gen_ai.tool.args": arguments,
        }
    )

    assert facts.output is None


def test_messages_count_before_the_list_of_calls() -> None:
    said = '[{"role": "assistant", "parts": [{"type": "tool_call", "id": "c1", "name": "renew", "arguments": {}}]}]'

    facts = told(
        {
            **CHAT,
            "gen_ai.output.messages": said,
            "gen_ai.tool.name": "find_book",
            "gen_ai.tool.call.id": "c2",
            "gen_ai.tool.args": "{}",
        }
    )

    assert calls(facts) == [("renew", "c1", {})]
