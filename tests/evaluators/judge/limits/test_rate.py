"""So much per minute and never more, in whichever minute one looks."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from evaluators.judge.limits.rate import MINUTE_S, PerMinute


def test_without_a_limit_nobody_waits() -> None:
    rate = PerMinute(None)
    for _ in range(1000):
        rate.take(10**9, 0.0)
    assert rate.wait_s(10**9, 0.0) == 0


def test_who_comes_when_it_is_used_up_waits_until_enough_is_a_minute_old() -> None:
    rate = PerMinute(100)
    rate.take(60, 0.0)
    rate.take(40, 10.0)
    assert rate.wait_s(1, 20.0) == 40.0
    assert rate.wait_s(60, 20.0) == 40.0
    assert rate.wait_s(61, 20.0) == 50.0
    assert rate.wait_s(60, 60.0) == 0.0


def test_more_than_the_limit_goes_alone() -> None:
    rate = PerMinute(100)
    assert rate.wait_s(500, 0.0) == 0.0
    rate.take(1, 0.0)
    assert rate.wait_s(500, 30.0) == 30.0


def test_what_turns_out_to_be_less_leaves_room_and_what_turns_out_to_be_more_takes_it() -> None:
    rate = PerMinute(100)
    ticket = rate.take(100, 0.0)
    rate.correct(ticket, 20)
    assert rate.wait_s(80, 1.0) == 0.0
    rate.correct(ticket, 90)
    assert rate.wait_s(80, 1.0) == 59.0


def test_a_correction_that_comes_after_the_minute_changes_nothing() -> None:
    rate = PerMinute(10)
    ticket = rate.take(10, 0.0)
    assert rate.wait_s(10, 61.0) == 0.0
    rate.correct(ticket, 1000)
    assert rate.wait_s(10, 61.0) == 0.0


@given(st.integers(1, 50), st.lists(st.tuples(st.integers(1, 50), st.floats(0, 40), st.integers(0, 50)), max_size=60))
def test_no_minute_has_more_than_the_limit(most: int, wanted: list[tuple[int, float, int]]) -> None:
    rate, now_s = PerMinute(most), 0.0
    taken: list[tuple[float, int]] = []
    for amount, later_s, used in wanted:
        now_s += later_s
        waits = 0
        while (wait_s := rate.wait_s(amount, now_s)) > 0:
            now_s += wait_s
            waits += 1
            assert waits < 3, "a wait that is over isn't followed by another"
        ticket = rate.take(amount, now_s)
        rate.correct(ticket, min(used, amount))
        taken.append((now_s, min(used, amount)))
        in_the_last_minute = sum(one for taken_s, one in taken if taken_s + MINUTE_S > now_s)
        assert in_the_last_minute <= max(most, amount)
