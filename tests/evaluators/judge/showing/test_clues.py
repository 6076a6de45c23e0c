"""What later words refer to in a text is found, whatever the script and however numbers are written."""

from __future__ import annotations

import pytest

from evaluators.judge.showing.clues import AFTERWARDS, BEFORE, Clues


def _found(text: str, said: str, *, at: int = 5, seen_at: int = 5) -> list[str]:
    clues = Clues()
    clues.hear(said, at)
    return [text[clue.start : clue.end] for clue in clues.in_text(text, seen_at)]


@pytest.mark.parametrize(
    ("text", "said", "found"),
    [
        ('{"price": 1234.5, "tax": 99}', "It costs 1,234.50 EUR.", ["1234.5"]),
        ('{"price": "1,234.50"}', "It costs 1234.5 EUR.", ["1,234.50"]),
        ("价格：１８９元", "It costs 189.", ["１８９"]),
        ('[{"id": "AZ610"}, {"id": "LH232"}]', "Take az610.", ["AZ610"]),
        ("user_4471 and user_4472", "I asked user_4471.", ["user_4471"]),
        ("酒店在北京西站附近", "我推荐北京西站的那家。", ["北京", "京西", "西站"]),
        ("Hotel Aurora is open", "I chose the Aurora.", ["Aurora"]),
        ("it is a cat", "is it a cat", []),
    ],
)
def test_numbers_names_and_identifiers_are_recognised(text: str, said: str, found: list[str]) -> None:
    assert _found(text, said) == found


def test_only_what_is_said_after_a_text_was_seen_refers_to_it() -> None:
    assert _found("AZ610", "AZ610", at=4) == []
    assert _found("AZ610", "AZ610", at=AFTERWARDS) == ["AZ610"]


def test_what_stands_everywhere_tells_less_than_what_stands_once() -> None:
    clues = Clues()
    clues.hear("price of AZ610", 1)
    found = clues.in_text("price 1, price 2, price 3, AZ610", 1)
    assert max(found, key=lambda clue: clue.worth).start == 27


@pytest.mark.parametrize(
    ("said", "taken_up"),
    [("The flight is AZ610.", True), ("It leaves at 09:45.", True), ("I found nothing.", False)],
)
def test_a_result_is_taken_up_when_something_new_of_it_is_said(said: str, taken_up: bool) -> None:
    clues = Clues()
    clues.hear("Which flight goes to Rome?", BEFORE)
    clues.hear(said, 3)
    assert clues.takes_up('{"flight": "AZ610", "to": "Rome", "at": "09:45"}', 3) is taken_up


def test_what_the_user_had_said_before_does_not_make_a_result_taken_up() -> None:
    clues = Clues()
    clues.hear("Is AZ610 late?", BEFORE)
    clues.hear("AZ610: I can't say.", 3)
    assert not clues.takes_up('{"flight": "AZ610"}', 3)
