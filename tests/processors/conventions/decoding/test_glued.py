"""Calls that were run into one are told apart where that is certain, and nowhere else."""

from __future__ import annotations

import pytest

from evaluators.cases import Role
from processors.conventions.decoding.glued import unglued
from processors.conventions.facts import CallFacts, MessageFacts

TOOLS = ("find_book", "opening_hours", "find")


def told(name: str, arguments: object, call_id: str | None = "call_1call_2") -> list[tuple[str | None, str, object]]:
    call = CallFacts(name=name, id=call_id, arguments=arguments)  # type: ignore[arg-type]
    found = unglued([MessageFacts(role=Role.ASSISTANT, calls=(call,))], TOOLS)
    return [(one.id, one.name, one.arguments) for one in found[0].calls]


def test_two_calls_in_one() -> None:
    assert told("opening_hoursfind_book", '{"branch": "Central"}{"title": "Dune"}') == [
        ("call_1", "opening_hours", {"branch": "Central"}),
        ("call_2", "find_book", {"title": "Dune"}),
    ]


def test_two_calls_of_one_tool() -> None:
    assert [name for _, name, _ in told("find_bookfind_book", '{"a": 1}, {"a": 2}')] == ["find_book", "find_book"]


def test_ids_that_cant_be_told_apart_are_not_known() -> None:
    assert [call_id for call_id, _, _ in told("findfind_book", "{}{}", "xyz")] == [None, None]


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("find_book", '{"a": 1}{"a": 2}'),
        ("opening_hoursfind_book", '{"a": 1}'),
        ("opening_hoursfind_book", {"a": 1}),
        ("opening_hoursfind_book", '{"a": 1}{"a": '),
        ("opening_hoursfind_book", "[1][2]"),
        ("opening_hoursrenew", '{"a": 1}{"a": 2}'),
        ("nobody", "{}{}"),
        ("", "{}{}"),
    ],
)
def test_everything_else_stays_one_call(name: str, arguments: object) -> None:
    assert told(name, arguments) == [("call_1call_2", name, arguments)]
