"""Which numbers of an answer are plainly stated as facts."""

import pytest

from evaluators.rules.claims import claims, without_code
from evaluators.rules.numbers import quantities
from evaluators.rules.units import Kind


def stated(answer: str) -> list[str]:
    return [claim.quantity.text.strip() for claim in claims(without_code(answer), quantities(answer))]


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("It is 58°F.", ["58°F"]),
        ("It costs $1,299.50, breakfast $18.", ["$1,299.50", "$18"]),
        ("票价320元。", ["320元"]),
        ("About $400. It is 58°F.", ["58°F"]),
        ("Under $150!", []),
        ("Between $100 and $150.", []),
        ("$100-$150", []),
        ("3至5元", []),
        ("5 ft 11 in", []),
        ("Would $125 do?", []),
        ("If you stay longer, it is $300.", []),
        ("Usually it is 64°F.", []),
        ("It is not $5.", []),
        ("大约320元。", []),
        ("Etwa 60 €.", []),
        ("`set 99°F`", []),
        ("```\n$5\n```", []),
        ("see https://x.y/?p=$5", []),
        ("", []),
    ],
)
def test_estimates_bounds_ranges_conditions_questions_and_code_are_left_out(answer: str, expected: list[str]) -> None:
    assert stated(answer) == expected


def test_a_number_in_parentheses_may_be_a_rating_and_one_after_a_price_word_is_a_price() -> None:
    kinds = [c.quantity.kind for c in claims("Titaya's (4.4)", quantities("Titaya's (4.4)"))]
    assert kinds == [Kind.RATING]
    text = "The stock price of SQ on March 14th was 247.9"
    assert [c.quantity.kind for c in claims(text, quantities(text))][-1] is Kind.CURRENCY


def test_blanking_keeps_every_character_in_its_place() -> None:
    text = "a `b` c https://d.e f"
    assert len(without_code(text)) == len(text)
