"""Formats that a description states, and values that don't have them."""

import pytest

from evaluators.rules.stated_formats import unmet_format


@pytest.mark.parametrize(
    ("description", "value"),
    [
        ("Departure date, YYYY-MM-DD", "tomorrow"),
        ("in the format YYYY-MM-DD", "20/03/2026"),
        ("date in yyyy-mm-dd format", "Mar.17,1915"),
        ("Time as HH:MM", "7 pm"),
        ("IATA airport code", "New York"),
        ("ids have the form u_<digits>", "4471"),
        ("ISO 8601 date-time", "next week"),
        ("ISO 4217 currency code", "dollars"),
        ("the record's UUID", "12"),
    ],
)
def test_a_value_without_the_stated_format_is_told(description: str, value: str) -> None:
    assert unmet_format(value, {"description": description}) is not None


@pytest.mark.parametrize(
    ("description", "value"),
    [
        ("Departure date, YYYY-MM-DD", "2026-03-20"),
        ("YYYY-MM-DD or DD/MM/YYYY", "20/03/2026"),
        ("YYYY-MM-DD, or 'today'", "today"),
        ("in the format MM-DD-YYY", "01-01-2021"),
        ("in the format of 'dd/mm/yyyy HH:MM'", "12/03/2023 15:00"),
        ("Time as HH:MM", "19:30"),
        ("Time as HH:MM", "07:30 PM"),
        ("IATA airport code", "JFK"),
        ("IATA airport code or the name of the city", "Chicago"),
        ("ids have the form u_<digits>", "u_4471"),
        ("ISO 8601", "2026-03-20T10:00:00Z"),
        ("City name", "anything"),
        ("", "anything"),
        ("DD", "x"),
        ("MD or DO", "physician"),
    ],
)
def test_a_value_with_the_format_or_without_one_stated_is_left_alone(description: str, value: str) -> None:
    assert unmet_format(value, {"description": description}) is None


@pytest.mark.parametrize(
    ("declared", "value", "met"),
    [
        ("date", "2026-03-20", True),
        ("date", "20 March", False),
        ("date-time", "2026-03-20T10:00:00+01:00", True),
        ("email", "a@b.example", True),
        ("email", "nobody", False),
        ("uri", "https://example.com", True),
        ("color", "reddish", True),
    ],
)
def test_a_declared_format_is_checked_when_nothing_is_stated(declared: str, value: str, met: bool) -> None:
    assert (unmet_format(value, {"format": declared}) is None) is met


def test_the_default_and_the_empty_text_have_every_format() -> None:
    assert unmet_format("dontcare", {"description": "YYYY-MM-DD", "default": "dontcare"}) is None
    assert unmet_format(" ", {"description": "YYYY-MM-DD"}) is None
