"""The record of what became of traces is bounded, and says from when on it is whole."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from collector.accounts.accounts import MAX_EVENTS, MAX_PASSED, Accounts
from collector.accounts.events import Answered, Arrived, Left


class Clock:
    def __init__(self) -> None:
        self.now_s = 100.0

    def __call__(self) -> float:
        return self.now_s


@pytest.fixture
def clock() -> Iterator[Clock]:
    yield Clock()


def trace(number: int) -> bytes:
    return number.to_bytes(16)


def test_events_come_back_in_order_with_their_times(clock: Clock) -> None:
    accounts = Accounts(clock)
    accounts.arrived(trace(1), "otlp", 3, 0, 1)
    clock.now_s += 2
    accounts.answered(trace(1), b"sealed", {b"late"}, None, final=True)
    accounts.left(trace(1), 3, 2, early=False)
    account = accounts.of(trace(1))
    assert account is not None
    assert account.events == [
        Arrived(100.0, "otlp", 3, 0, 1),
        Answered(102.0, b"sealed", frozenset({b"late"}), None, True),
        Left(102.0, 3, 2, False),
    ]


def test_past_its_bytes_the_oldest_traces_go_and_the_record_says_since_when_it_is_whole(clock: Clock) -> None:
    accounts = Accounts(clock, max_bytes=50_000)
    for number in range(1000):
        clock.now_s += 1
        accounts.arrived(trace(number), "otlp", 1, 0, 0)
        accounts.answered(trace(number), bytes(1000), frozenset(), None, final=True)
        assert accounts.size_bytes < 55_000
    assert accounts.of(trace(0)) is None and accounts.of(trace(999)) is not None
    oldest = next(number for number in range(1000) if accounts.of(trace(number)) is not None)
    assert accounts.since_s == 101.0 + oldest


def test_past_its_age_a_trace_is_forgotten(clock: Clock) -> None:
    accounts = Accounts(clock, max_age_s=60)
    accounts.arrived(trace(1), "otlp", 1, 0, 0)
    clock.now_s += 61
    accounts.arrived(trace(2), "otlp", 1, 0, 0)
    assert accounts.of(trace(1)) is None and len(accounts) == 1


def test_one_trace_has_its_share_of_events_and_then_they_are_only_counted(clock: Clock) -> None:
    accounts = Accounts(clock)
    for _ in range(MAX_EVENTS + 5):
        accounts.arrived(trace(1), "otlp", 1, 0, 0)
    account = accounts.of(trace(1))
    assert account is not None
    assert (len(account.events), account.omitted) == (MAX_EVENTS, 5)


def test_traces_that_passed_are_known_by_their_last_tens_of_thousands(clock: Clock) -> None:
    accounts = Accounts(clock)
    for number in range(2 * MAX_PASSED + 1):
        accounts.passed(trace(number), float(number))
    assert accounts.passed_s(trace(0)) is None
    assert accounts.passed_s(trace(MAX_PASSED)) == float(MAX_PASSED)
    assert accounts.passed_s(trace(2 * MAX_PASSED)) == float(2 * MAX_PASSED)


def test_traces_are_found_by_the_beginning_of_their_id(clock: Clock) -> None:
    accounts = Accounts(clock)
    accounts.arrived(b"\xab" * 16, "otlp", 1, 0, 0)
    accounts.passed(b"\xac" * 16, 1.0)
    assert list(accounts.with_prefix("abab")) == [b"\xab" * 16]
    assert list(accounts.with_prefix("acacacac")) == [b"\xac" * 16]
