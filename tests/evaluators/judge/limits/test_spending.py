"""What a request used is known or estimated, and never nothing because it is unknown."""

from __future__ import annotations

import pytest

from evaluators.judge.limit_settings import PriceSettings
from evaluators.judge.limits.spending import ANSWER_TOKENS, Expected, amount, expected, used
from evaluators.judge.report import Outcome
from evaluators.verdict import Usage

_BEFORE = Expected(read=1000, written=500)
_KNOWN = Usage(requests=1, prompt_tokens=800, completion_tokens=90)
_UNKNOWN = Usage(requests=1)
_ANSWER = "word " * 40


def test_an_answer_is_expected_to_each_question() -> None:
    assert expected(1000, 3) == Expected(1000, 3 * ANSWER_TOKENS)


def test_money_is_price_times_tokens() -> None:
    prices = PriceSettings(input=0.40, output=1.60)
    assert amount(1_000_000, 500_000, prices).micros == 1_200_000
    assert amount(1000, 1000, None).micros == 0


def test_what_the_endpoint_reports_counts() -> None:
    assert used(_BEFORE, _KNOWN, Outcome.OK, _ANSWER, 200) == (Expected(800, 90), False)


def test_what_it_does_not_report_is_estimated() -> None:
    after, is_estimate = used(_BEFORE, _UNKNOWN, Outcome.OK, _ANSWER, 200)
    assert is_estimate
    assert after.read == 1000
    assert 40 <= after.written <= 200


def test_half_a_report_is_completed() -> None:
    half = Usage(requests=1, completion_tokens=90)
    assert used(_BEFORE, half, Outcome.OK, _ANSWER, 200) == (Expected(1000, 90), True)


@pytest.mark.parametrize(
    ("outcome", "http_status"),
    [
        (Outcome.UNREACHABLE, None),
        (Outcome.RATE_LIMITED, 429),
        (Outcome.OUT_OF_QUOTA, 429),
        (Outcome.UNAUTHORIZED, 401),
        (Outcome.NOT_FOUND, 404),
        (Outcome.REJECTED, 400),
        (Outcome.ADAPTED, 400),
        (Outcome.TOO_LARGE, 413),
    ],
)
def test_what_no_model_read_used_no_tokens(outcome: Outcome, http_status: int | None) -> None:
    assert used(_BEFORE, _UNKNOWN, outcome, None, http_status) == (Expected(0, 0), False)


@pytest.mark.parametrize(
    ("outcome", "http_status"),
    [
        (Outcome.TIMED_OUT, None),
        (Outcome.ABANDONED, None),
        (Outcome.SERVER_ERROR, 500),
        (Outcome.UNREACHABLE, 200),
        (Outcome.ADAPTED, 200),
        (Outcome.UNREADABLE, 200),
    ],
)
def test_what_a_model_may_have_read_counts_as_read(outcome: Outcome, http_status: int | None) -> None:
    after, is_estimate = used(_BEFORE, _UNKNOWN, outcome, None, http_status)
    assert is_estimate
    assert after.read == 1000
