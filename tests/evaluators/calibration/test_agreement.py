"""Agreement with people, as figures."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluators.calibration.agreement import Pair, agreement_of, better_threshold, share


def pairs(caught: int, missed: int, false_alarms: int, cleared: int) -> list[Pair]:
    return (
        [Pair(True, True)] * caught
        + [Pair(True, False)] * missed
        + [Pair(False, True)] * false_alarms
        + [Pair(False, False)] * cleared
    )


def test_the_figures_are_those_of_the_literature() -> None:
    # The example of Wikipedia's article on Cohen's kappa: 20, 5, 10, 15 of 50 give 0.7 by 0.5 by chance.
    figures = agreement_of(pairs(20, 10, 5, 15))
    assert figures is not None and figures.kappa is not None and figures.balanced_accuracy is not None
    assert figures.agreement.value == pytest.approx(0.7)
    assert figures.kappa.value == pytest.approx(0.4)
    assert figures.base_rate == pytest.approx(0.6)
    assert figures.balanced_accuracy.value == pytest.approx((20 / 30 + 15 / 20) / 2)


@pytest.mark.parametrize(
    ("part", "whole", "low", "high"),
    [(0, 10, 0.0, 0.2775), (5, 10, 0.2366, 0.7634), (10, 10, 0.7225, 1.0), (81, 263, 0.2553, 0.3662)],
)
def test_shares_have_wilsons_interval(part: int, whole: int, low: float, high: float) -> None:
    figure = share(part, whole)
    assert (figure.low, figure.high) == (pytest.approx(low, abs=5e-4), pytest.approx(high, abs=5e-4))


def test_nothing_is_said_where_there_is_nothing_to_compare() -> None:
    assert agreement_of([]) is None
    only_good = agreement_of(pairs(0, 0, 1, 9))
    assert only_good is not None and only_good.balanced_accuracy is None
    all_alike = agreement_of(pairs(0, 0, 0, 9))
    assert all_alike is not None and all_alike.kappa is None


def test_a_judge_that_calls_everything_good_agrees_no_more_than_chance() -> None:
    figures = agreement_of(pairs(0, 10, 0, 90))
    assert figures is not None and figures.kappa is not None
    assert figures.agreement.value == pytest.approx(0.9)
    assert figures.kappa.value == pytest.approx(0.0)


def test_few_cases_without_a_difference_do_not_count_as_certain() -> None:
    few, many = agreement_of(pairs(3, 0, 0, 3)), agreement_of(pairs(300, 0, 0, 300))
    assert few is not None and few.kappa is not None and many is not None and many.kappa is not None
    assert few.kappa.low < 0.6 < 0.95 < many.kappa.low


@given(st.tuples(*[st.integers(0, 40)] * 4))
def test_every_figure_is_finite_and_lies_within_its_interval(counts: tuple[int, int, int, int]) -> None:
    figures = agreement_of(pairs(*counts))
    if figures is None:
        assert sum(counts) == 0
        return
    assert figures.pairs == sum(counts)
    for figure in (figures.agreement, figures.balanced_accuracy, figures.kappa):
        if figure is not None:
            assert math.isfinite(figure.value)
            assert figure.low - 1e-9 <= figure.value <= figure.high + 1e-9


def scored(*told: tuple[bool, float]) -> list[Pair]:
    return [Pair(bad, score < 0.5, score) for bad, score in told]


def test_the_nearest_threshold_that_parts_good_from_bad_is_proposed() -> None:
    found = better_threshold(scored((True, 0.5), (True, 0.6), (False, 0.75), (False, 1.0)), 0.5)
    assert found is not None
    assert (found.threshold, found.now, found.then) == (0.75, 0.5, 1.0)


def test_a_threshold_that_serves_as_well_as_any_stays() -> None:
    assert better_threshold(scored((True, 0.2), (False, 0.9)), 0.5) is None


def test_scores_that_say_nothing_have_no_better_threshold() -> None:
    assert better_threshold(scored((True, 0.7), (False, 0.7)), 0.5) is None
    assert better_threshold([Pair(True, True)], 0.5) is None


def test_what_is_bad_whatever_its_score_stays_bad_at_every_threshold() -> None:
    pairs_with_a_leak = [Pair(True, True, 1.0, critical=True), Pair(False, True, 0.4), Pair(False, False, 0.9)]
    found = better_threshold(pairs_with_a_leak, 0.5)
    assert found is not None
    assert (found.threshold, found.then) == (0.4, 1.0)
