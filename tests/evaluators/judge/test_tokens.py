"""Estimated tokens are near what tokenizers count, rather above it, whatever the script."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluators.judge.tokens import TOKEN, estimate_tokens, weigh


@pytest.mark.parametrize(
    ("text", "counted"),
    [
        # What o200k_base counts.
        ("The cheapest flight to Rome leaves at nine in the morning and costs less than the train.", 18),
        ('{"id":"AZ610","price_eur":189,"seats":4}', 17),
        ("请帮我预订明天从北京到上海的机票，靠窗的座位。", 21),
        ("Die Straße zum Flughafen ist wegen Bauarbeiten gesperrt.", 12),
        ("4111111111111111", 6),
        ("😀🎉🚀", 5),
    ],
)
def test_an_estimate_is_above_what_is_counted_but_not_by_much(text: str, counted: int) -> None:
    assert counted <= estimate_tokens(text) <= 3 * counted + 3


@given(st.text(st.characters()), st.text(st.characters()))
def test_two_texts_together_weigh_what_they_weigh_apart(first: str, second: str) -> None:
    assert weigh(first + second) == weigh(first) + weigh(second)


def test_a_character_of_chinese_is_a_token_and_four_letters_of_a_word_are() -> None:
    assert weigh("北京") == 2 * TOKEN
    assert weigh("beijing ") == 2 * TOKEN


def test_an_empty_text_is_no_token() -> None:
    assert estimate_tokens("") == 0
