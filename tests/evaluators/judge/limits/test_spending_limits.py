"""Budgets hold in every hour and every day, and say when they free up."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluators.judge.limit_settings import BudgetSettings
from evaluators.judge.limits.spending import Amount
from evaluators.judge.limits.spending_limits import SpendingLimits

_NOON = 1_796_040_000.0
"""2026-11-30 12:00 UTC."""
_MINUTE = 60.0
_HOUR = 3600.0


def _limits(**values: Any) -> SpendingLimits:
    return SpendingLimits(BudgetSettings.model_validate(values))


def test_without_budgets_nothing_is_refused() -> None:
    assert _limits().refusal(Amount(10**9, 10**9, 10**15), _NOON) is None


@pytest.mark.parametrize(
    ("budget", "amount", "said"),
    [
        ({"calls": 3}, Amount(calls=1), "budget::per_hour::calls (3) is used up; it frees up at 2026-11-30 13:01 UTC"),
        ({"tokens": 300}, Amount(1, 100), "budget::per_hour::tokens (300) is used up; it frees up at 2026-11-30 13:01"),
        ({"money": 0.03}, Amount(1, 0, 10_000), "budget::per_hour::money (0.03) is used up; it frees up at 2026-11-30"),
    ],
)
def test_what_is_used_up_is_named_with_when_it_frees_up(budget: dict[str, float], amount: Amount, said: str) -> None:
    limits = _limits(per_hour=budget)
    for _ in range(3):
        assert limits.refusal(amount, _NOON) is None
        limits.take(amount, _NOON)
    assert (limits.refusal(amount, _NOON) or "").startswith(said)
    assert limits.refusal(amount, _NOON + 61 * _MINUTE) is None


def test_the_day_holds_where_the_hour_would_allow_more() -> None:
    limits = _limits(per_hour={"calls": 2}, per_day={"calls": 3})
    for now_s in (_NOON, _NOON, _NOON + 2 * _HOUR):
        assert limits.refusal(Amount(1), now_s) is None
        limits.take(Amount(1), now_s)
    refusal = limits.refusal(Amount(1), _NOON + 4 * _HOUR) or ""
    assert refusal.startswith("budget::per_day::calls (3) is used up; it frees up at 2026-12-01 12:01 UTC")
    assert limits.refusal(Amount(1), _NOON + 24 * _HOUR + _MINUTE) is None


def test_what_can_never_fit_is_told_apart() -> None:
    refusal = _limits(per_hour={"tokens": 100}).refusal(Amount(1, 5000), _NOON)
    assert refusal == "budget::per_hour::tokens (100) is less than one request needs, 5000 tokens; raise it"


def test_a_budget_of_nothing_lets_nothing_through() -> None:
    assert _limits(per_day={"calls": 0}).refusal(Amount(1), _NOON) is not None


def test_what_turns_out_to_be_less_leaves_room() -> None:
    limits = _limits(per_hour={"tokens": 100})
    entry = limits.take(Amount(1, 100), _NOON)
    assert limits.refusal(Amount(1, 50), _NOON) is not None
    difference = limits.settle(entry, Amount(1, 40))
    assert difference.amount == Amount(0, -60)
    assert limits.refusal(Amount(1, 50), _NOON) is None


def test_what_turns_out_to_be_more_counts() -> None:
    limits = _limits(per_hour={"tokens": 100})
    limits.settle(limits.take(Amount(1, 10), _NOON), Amount(1, 100))
    assert limits.refusal(Amount(1, 10), _NOON) is not None


def test_a_clock_that_is_put_back_blocks_nothing_for_ever() -> None:
    limits = _limits(per_hour={"calls": 1})
    limits.take(Amount(1), _NOON + 365 * 24 * _HOUR)
    assert limits.refusal(Amount(1), _NOON) is not None
    assert limits.refusal(Amount(1), _NOON + 61 * _MINUTE) is None


@given(st.integers(1, 10), st.lists(st.floats(0, 40 * _MINUTE), max_size=80))
def test_no_hour_has_more_than_its_budget(most: int, pauses: list[float]) -> None:
    limits, now_s = _limits(per_hour={"calls": most}), _NOON
    taken: list[float] = []
    for pause_s in pauses:
        now_s += pause_s
        if limits.refusal(Amount(1), now_s) is None:
            limits.take(Amount(1), now_s)
            taken.append(now_s)
        assert sum(1 for one in taken if one > now_s - _HOUR) <= most
