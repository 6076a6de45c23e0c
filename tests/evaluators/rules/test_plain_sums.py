"""Numbers that one step of arithmetic gives aren't suspected; their neighbours are."""

from typing import Any

import pytest

from evaluators.rules.grounding import ungrounded
from evaluators.rules.material import answer_of, material_of
from tests.evaluators.runs import call, response

PRICES = {"items": [{"price": 12.5}, {"price": 30.0}, {"price": 7.49}], "currency": "USD"}


def suspected(result: Any, answer: str, user: str = "How much?", **arguments: Any) -> list[str]:
    case = response(answer, call("get_prices", arguments, result), user=user)
    return [found.detail for found in ungrounded(answer_of(case) or "", case.calls, material_of(case))]


@pytest.mark.parametrize(
    ("result", "answer", "arguments"),
    [
        ({"price_per_night": 133, "currency": "USD"}, "Three nights come to $399.", {"nights": 3}),
        (PRICES, "Your total is $49.99.", {}),
        (PRICES, "On average $16.66.", {}),
        (PRICES, "The second costs $17.50 more than the first.", {}),
        ({"amount": 1999, "currency": "usd"}, "You were charged $19.99.", {}),
        ({"rate": 0.9234}, "250 USD are about €230.85.", {"amount": 250}),
    ],
)
def test_a_sum_that_anybody_can_check_is_not_suspected(result: Any, answer: str, arguments: dict[str, Any]) -> None:
    assert suspected(result, answer, **arguments) == []


@pytest.mark.parametrize(
    ("result", "answer", "arguments"),
    [
        ({"price_per_night": 133, "currency": "USD"}, "Three nights come to $389.", {"nights": 3}),
        (PRICES, "Your total is $48.99.", {}),
        ({"amount": 1999, "currency": "usd"}, "You were charged $19.98.", {}),
        ({"rate": 0.9234}, "250 USD are about €231.85.", {"amount": 250}),
    ],
)
def test_what_comes_out_otherwise_is(result: Any, answer: str, arguments: dict[str, Any]) -> None:
    assert len(suspected(result, answer, **arguments)) == 1


def test_a_rate_is_tried_on_what_the_user_named() -> None:
    assert suspected({"rate": 0.9234}, "250 USD are about €230.85.", user="How much is 250 USD in EUR?") == []
