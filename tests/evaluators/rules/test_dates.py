"""Days by other names."""

import pytest

from evaluators.rules.dates import days, days_in, same_day


@pytest.mark.parametrize(
    ("date", "expected"),
    [
        ("2026-03-15", {(2026, 3, 15)}),
        ("2026-03-15T10:00:00Z", {(2026, 3, 15)}),
        ("15.03.2026", {(2026, 3, 15)}),
        ("03/04/2026", {(2026, 3, 4), (2026, 4, 3)}),
        ("March 15th, 2026", {(2026, 3, 15)}),
        ("15 March", {(None, 3, 15)}),
        ("15. März 2026", {(2026, 3, 15)}),
        ("15 de marzo de 2026", {(2026, 3, 15)}),
        ("2026年3月15日", {(2026, 3, 15)}),
        ("三月十五日", {(None, 3, 15)}),
        ("二〇二六年三月十五日", {(2026, 3, 15)}),
        ("May 2024", set()),
        ("2026-13-45", set()),
    ],
)
def test_a_date_names_the_days_it_may_mean(date: str, expected: set[tuple[int | None, int, int]]) -> None:
    assert days(date) == expected


def test_all_days_of_a_text_are_found() -> None:
    assert days_in("from 2026-03-15 to March 20") == {(2026, 3, 15), (None, 3, 20)}


def test_a_missing_year_fits_every_year() -> None:
    assert same_day((None, 3, 15), (2026, 3, 15))
    assert not same_day((2025, 3, 15), (2026, 3, 15))
