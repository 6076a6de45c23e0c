"""An endpoint that is down is left alone, and tried by one request at a time."""

from __future__ import annotations

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from evaluators.judge.limits.breaker import LONGEST_PAUSE_S, Breaker, BreakerState
from evaluators.judge.report import Outcome

DOWN = (
    Outcome.UNREACHABLE,
    Outcome.SERVER_ERROR,
    Outcome.UNAUTHORIZED,
    Outcome.NOT_FOUND,
    Outcome.TIMED_OUT,
    Outcome.UNREADABLE,
)
NEUTRAL = (Outcome.ABANDONED,)
UP = tuple(outcome for outcome in Outcome if outcome not in (*DOWN, *NEUTRAL))


def _fail(breaker: Breaker, times: int, now_s: float = 0.0, outcome: Outcome = Outcome.UNREACHABLE) -> None:
    for _ in range(times):
        ticket = breaker.admit(now_s)
        assert ticket is not None
        breaker.ended(ticket, outcome, "can't be reached", now_s)


@pytest.mark.parametrize("outcome", DOWN)
def test_so_many_failures_in_a_row_open_it(outcome: Outcome) -> None:
    breaker = Breaker(3, 30)
    _fail(breaker, 2, outcome=outcome)
    assert breaker.state is BreakerState.CLOSED
    _fail(breaker, 1, outcome=outcome)
    assert breaker.state is BreakerState.OPEN
    assert breaker.admit(29.9) is None
    assert breaker.wait_s(10.0) == 20.0
    assert (breaker.failed, breaker.reason) == (3, "can't be reached")


@pytest.mark.parametrize("outcome", UP)
def test_an_answer_of_whatever_worth_ends_the_row(outcome: Outcome) -> None:
    breaker = Breaker(3, 30)
    for _ in range(5):
        _fail(breaker, 2)
        _fail(breaker, 1, outcome=outcome)
    assert breaker.state is BreakerState.CLOSED


def test_what_was_given_up_here_says_nothing() -> None:
    breaker = Breaker(2, 30)
    for outcome in (Outcome.UNREACHABLE, Outcome.ABANDONED, Outcome.UNREACHABLE):
        _fail(breaker, 1, outcome=outcome)
    assert breaker.state is BreakerState.OPEN


def test_after_the_pause_one_request_tries() -> None:
    breaker = Breaker(1, 30)
    _fail(breaker, 1)
    probe = breaker.admit(30.0)
    assert probe is not None
    assert breaker.admit(30.0) is None
    breaker.ended(probe, Outcome.OK, "", 31.0)
    assert breaker.state is BreakerState.CLOSED
    assert breaker.admit(31.0) is not None


def test_a_try_that_fails_doubles_the_pause_up_to_a_bound() -> None:
    breaker, now_s = Breaker(1, 30), 0.0
    _fail(breaker, 1)
    pauses = []
    for _ in range(6):
        pause_s = breaker.wait_s(now_s)
        pauses.append(pause_s)
        now_s += pause_s
        _fail(breaker, 1, now_s)
    assert pauses == [30, 60, 120, 240, LONGEST_PAUSE_S, LONGEST_PAUSE_S]


def test_after_it_was_closed_the_first_pause_is_short_again() -> None:
    breaker = Breaker(1, 30)
    _fail(breaker, 1, 0.0)
    _fail(breaker, 1, 30.0)
    _fail(breaker, 1, 90.0, Outcome.OK)
    _fail(breaker, 1, 100.0)
    assert breaker.wait_s(100.0) == 30


def test_a_try_that_was_given_up_leaves_the_next_one_to_try() -> None:
    breaker = Breaker(1, 30)
    _fail(breaker, 1)
    _fail(breaker, 1, 30.0, Outcome.ABANDONED)
    assert breaker.admit(30.0) is not None
    assert breaker.admit(30.0) is None


def test_what_was_sent_before_it_opened_is_no_try() -> None:
    breaker = Breaker(1, 30)
    early = breaker.admit(0.0)
    assert early is not None
    _fail(breaker, 1)
    probe = breaker.admit(30.0)
    breaker.ended(early, Outcome.OK, "", 31.0)
    assert probe is not None
    assert breaker.state is BreakerState.HALF_OPEN
    assert breaker.admit(31.0) is None


class _Machine(RuleBasedStateMachine):
    """Any order of requests and ends."""

    def __init__(self) -> None:
        super().__init__()
        self.breaker = Breaker(3, 10)
        self.now_s = 0.0
        self.under_way: list[int] = []
        self.probes: list[int] = []

    @rule(seconds=st.floats(0, 40))
    def time_passes(self, seconds: float) -> None:
        self.now_s += seconds

    @rule()
    def somebody_asks(self) -> None:
        was_closed = self.breaker.state is BreakerState.CLOSED
        ticket = self.breaker.admit(self.now_s)
        if ticket is not None:
            self.under_way.append(ticket)
            if not was_closed:
                self.probes.append(ticket)

    @rule(outcome=st.sampled_from(Outcome), which=st.integers(0, 20))
    def one_ends(self, outcome: Outcome, which: int) -> None:
        if self.under_way:
            ticket = self.under_way.pop(which % len(self.under_way))
            if ticket in self.probes:
                self.probes.remove(ticket)
            self.breaker.ended(ticket, outcome, "failed", self.now_s)

    @invariant()
    def one_tries_at_a_time(self) -> None:
        if self.breaker.state is BreakerState.HALF_OPEN:
            assert len(self.probes) <= 1

    @invariant()
    def it_opens_again_some_time(self) -> None:
        assert self.breaker.wait_s(self.now_s) <= LONGEST_PAUSE_S


TestAnyOrder = _Machine.TestCase
TestAnyOrder.settings = settings(max_examples=60, stateful_step_count=40, deadline=None)
