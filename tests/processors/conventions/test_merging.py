"""One account from two: what stands, what is completed, what is taken for the better account."""

from __future__ import annotations

from dataclasses import replace

import pytest

from evaluators.cases import Role, Tool
from processors.conventions.facts import CallFacts, Kind, MessageFacts, SpanFacts, ToolFacts
from processors.conventions.merging import merged, merged_tool

NAMED = Tool(name="find_book")
DESCRIBED = Tool(name="find_book", parameters={"type": "object"})
BARE = SpanFacts(kind=Kind.OTHER, dialect="first")
OTHER = SpanFacts(kind=Kind.OTHER, dialect="second")


def answer(text: str | None, *calls: str) -> tuple[MessageFacts, ...]:
    return (MessageFacts(role=Role.ASSISTANT, text=text, calls=tuple(CallFacts(name=name) for name in calls)),)


def history(*answered: str) -> tuple[MessageFacts, ...]:
    return tuple(MessageFacts(role=Role.TOOL, text="", call_id=call_id) for call_id in answered)


def test_the_first_ones_word_stands_and_the_second_one_completes_it() -> None:
    first = replace(BARE, model="a", agent_name="Desk", error="")
    second = replace(OTHER, model="b", session_id="s", system=("Be brief.",), error="timeout")
    both = merged(first, second)
    assert (both.model, both.agent_name, both.session_id, both.system) == ("a", "Desk", "s", ("Be brief.",))
    assert both.error == ""


@pytest.mark.parametrize("first", [Kind.CHAIN, Kind.OTHER])
def test_a_kind_that_says_nothing_gives_way_to_one_that_does(first: Kind) -> None:
    assert merged(replace(BARE, kind=first), replace(OTHER, kind=Kind.TOOL)).kind is Kind.TOOL
    assert merged(replace(BARE, kind=Kind.AGENT), replace(OTHER, kind=Kind.TOOL)).kind is Kind.AGENT
    assert merged(replace(BARE, kind=first), replace(OTHER, kind=Kind.OTHER)).kind is first


@pytest.mark.parametrize(
    ("less", "more"),
    [
        (None, ()),
        ((), answer("In.")),
        (answer(None), answer("In.")),
        (answer("Let me see."), answer(None, "find_book")),
        (answer("Let me see.", "find_book"), answer(None, "find_book", "lend")),
    ],
)
def test_the_output_with_more_calls_counts_and_then_the_one_with_words(
    less: tuple[MessageFacts, ...] | None, more: tuple[MessageFacts, ...]
) -> None:
    poor, rich = replace(BARE, output=less), replace(OTHER, output=more, whole=True)
    for both in (merged(poor, rich), merged(rich, poor)):
        assert (both.output, both.whole) == (more, True)


def test_of_outputs_that_say_as_much_the_first_one_counts() -> None:
    assert merged(replace(BARE, output=answer("A")), replace(OTHER, output=answer("B"))).output == answer("A")


def test_the_input_that_tells_more_results_apart_counts() -> None:
    glued, apart = replace(BARE, input=history("c1")), replace(OTHER, input=history("c1", "c2"))
    assert merged(glued, apart).input == merged(apart, glued).input == apart.input
    said = replace(OTHER, input=(MessageFacts(role=Role.USER, text="?"),))
    assert merged(replace(BARE, input=()), said).input == ()


@pytest.mark.parametrize(
    ("less", "more"),
    [
        (replace(BARE), replace(OTHER, tools=(NAMED,))),
        (replace(BARE, tools=(NAMED,)), replace(OTHER, tools=(DESCRIBED,))),
        (replace(BARE, tools=(DESCRIBED,), tools_cut=True), replace(OTHER, tools=(NAMED,))),
        (replace(BARE), replace(OTHER, tools=(NAMED,), tools_cut=True)),
    ],
)
def test_a_whole_list_of_tools_counts_and_then_the_one_with_schemas(less: SpanFacts, more: SpanFacts) -> None:
    for both in (merged(less, more), merged(more, less)):
        assert (both.tools, both.tools_cut) == (more.tools, more.tools_cut)


def test_that_no_tools_were_offered_stands() -> None:
    assert merged(replace(BARE, tools=()), replace(OTHER, tools=(DESCRIBED,))).tools == ()


@pytest.mark.parametrize("flag", ["truncated", "partial", "hidden", "in_code"])
def test_what_is_missing_from_either_account_is_missing(flag: str) -> None:
    marked = replace(OTHER, **{flag: True})
    assert getattr(merged(BARE, marked), flag) is getattr(merged(marked, BARE), flag) is True


def test_all_dialects_that_were_spoken_are_named_once() -> None:
    both = merged(merged(BARE, OTHER), replace(OTHER, dialect="third"))
    assert merged(both, OTHER).dialects == ("first", "second", "third")


def test_an_execution_is_completed_field_by_field() -> None:
    client = ToolFacts(name="find_book", arguments={"title": "Emma"}, error="")
    server = ToolFacts(name="search", call_id="c1", arguments={}, result="in", error="refused", truncated=True)
    both = merged(replace(BARE, tool=client), replace(OTHER, tool=server)).tool
    assert both == merged_tool(client, server)
    assert both == ToolFacts(
        name="find_book", call_id="c1", arguments={"title": "Emma"}, result="in", error="refused", truncated=True
    )


def test_a_result_that_was_cut_elsewhere_is_whole_here() -> None:
    assert not merged_tool(ToolFacts(result="all of it"), ToolFacts(result="all", truncated=True)).truncated


def test_a_name_alone_gives_way_to_that_of_an_account_that_tells_more() -> None:
    by_class = ToolFacts(name="DynamicStructuredTool")
    by_call = ToolFacts(name="find_book", call_id="c1", arguments={"title": "Emma"}, result="in")

    assert [merged_tool(*pair).name for pair in ((by_class, by_call), (by_call, by_class))] == ["find_book"] * 2


def test_a_name_alone_gives_way_where_the_other_account_knows_that_it_is_none() -> None:
    by_class = ToolFacts(name="DynamicStructuredTool")
    unnamed = ToolFacts(name="", arguments={"title": "Emma"})

    assert [merged_tool(*pair).name for pair in ((by_class, unnamed), (unnamed, by_class))] == ["", ""]
