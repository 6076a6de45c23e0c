"""Turns that there is no room for are told in a line, without a word of theirs."""

from __future__ import annotations

from evaluators.judge.showing.briefs import told_in_a_line, told_together
from evaluators.judge.showing.pieces import Brief, Returned


def _brief(number: int, *, failed: bool = False, tool: str = "search") -> Brief:
    returned = [Returned(call=f"c{number - 1}", chars=100, failed=failed)]
    return Brief(name=f"turn {number}", place=f" [e{number}]", calls=[(f"c{number}", tool)], returned=returned)


def test_a_turn_says_what_it_saw_said_and_called() -> None:
    brief = _brief(7)
    brief.said_chars = 90
    assert told_in_a_line(brief) == (
        "turn 7 [e7], in short: result of c6, 100 characters; says 90 characters; calls c7 search"
    )


def test_a_turn_without_anything_says_so() -> None:
    assert told_in_a_line(Brief(name="turn 2")) == "turn 2, in short: nothing recorded"


def test_turns_that_follow_each_other_are_counted_by_tool() -> None:
    told = told_together([_brief(3), _brief(4, tool="book"), _brief(5)])
    assert told == (
        "turn 3 to turn 5, in short: calls c3 to c5: search 2 times, book 1 times; none failed; "
        "300 characters of results and words"
    )


def test_failures_are_named_among_many() -> None:
    told = told_together([_brief(number, failed=number % 2 == 0) for number in range(1, 60)])
    assert "failed: c1, c3, c5, c7, c9, c11, c13, c15, c17, c19, c21, c23 and 17 more" in told
