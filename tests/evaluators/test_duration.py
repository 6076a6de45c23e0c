"""Durations are written as in Go and kept as seconds."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field, ValidationError

from evaluators.duration import Duration, format_duration, parse_duration


class _Settings(BaseModel):
    timeout: Duration = Field(default=6.0, gt=0)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("0", 0.0),
        ("0s", 0.0),
        ("10s", 10.0),
        ("1m30s", 90.0),
        ("1h", 3600.0),
        ("1.5h", 5400.0),
        ("250ms", 0.25),
        ("100us", 0.0001),
        ("100µs", 0.0001),
        (".5s", 0.5),
        (" 3s ", 3.0),
    ],
)
def test_a_duration_is_read_as_go_reads_it(text: str, seconds: float) -> None:
    assert parse_duration(text) == pytest.approx(seconds)


@pytest.mark.parametrize("text", ["", "10", "10 s", "s", "-1s", "1d", "10sec", "1m 30s", "٣s", "1e3s", "infs", "1..5s"])
def test_what_is_no_duration_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(ValueError, match="such as 500ms"):
        parse_duration(text)


@given(st.integers(min_value=0, max_value=10**9))
def test_a_duration_survives_being_written_and_read_again(milliseconds: int) -> None:
    seconds = milliseconds / 1000
    assert parse_duration(format_duration(seconds)) == pytest.approx(seconds, abs=1e-6)


def test_settings_hold_seconds_and_are_written_as_durations() -> None:
    settings = _Settings.model_validate({"timeout": "1m30s"})
    assert settings.timeout == 90.0
    assert settings.model_dump(mode="json") == {"timeout": "1m30s"}
    assert _Settings().model_dump(mode="json") == {"timeout": "6s"}


def test_a_bare_number_is_refused_because_its_unit_is_a_guess() -> None:
    with pytest.raises(ValidationError, match="write 30s for seconds or 30ms for milliseconds"):
        _Settings.model_validate({"timeout": 30})


def test_limits_of_a_field_hold_after_the_reading() -> None:
    with pytest.raises(ValidationError, match="greater than 0"):
        _Settings.model_validate({"timeout": "0s"})
