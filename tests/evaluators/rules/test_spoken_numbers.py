"""Numbers that were said and written down as words."""

import pytest

from evaluators.rules.numbers import numbers


@pytest.mark.parametrize(
    ("said", "value"),
    [
        ("a table for twenty-five people", 25),
        ("Thirty nine of them", 39),
        ("one hundred and twenty", 120),
        ("a hundred euros", 100),
        ("two thousand", 2_000),
        ("three hundred fifty", 350),
        ("two hundred and fifty thousand three hundred and one", 250_301),
        ("one million two hundred thousand", 1_200_000),
        ("in nineteen eighty-four", 1984),
        ("by twenty twenty-six", 2026),
        ("my number is four four seven one", 4471),
        ("fifteen, please", 15),
        ("ninety", 90),
    ],
)
def test_it_is_the_number_that_was_said(said: str, value: float) -> None:
    assert value in numbers(said)


@pytest.mark.parametrize(
    ("said", "value"),
    [
        ("tone deaf, often", 10),
        ("thousands of them", 1_000),
        ("millions", 1_000_000),
        ("twentyfive", 20),
        ("a tent", 10),
    ],
)
def test_what_only_begins_like_one_is_none(said: str, value: float) -> None:
    assert value not in numbers(said)


def test_words_without_end_are_read_in_no_time() -> None:
    assert isinstance(numbers("nine " * 100_000), set)
    assert isinstance(numbers("a hundred and " * 50_000), set)
