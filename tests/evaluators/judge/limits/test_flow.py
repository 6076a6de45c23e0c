"""Every limit of one address and key holds, in whatever order requests come and end."""

from __future__ import annotations

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from evaluators.judge.limits.flow import LONGEST_PAUSE_S, Flow, Limits, Permit, Wait
from evaluators.judge.limits.line import Rank, Urgency


def _flow(waiting: int, **limits: int) -> Flow:
    flow = Flow(Limits(**{"places": 4, **limits}))
    for number in range(waiting):
        flow.line.join(Rank(Urgency.SAMPLE, number, tokens=10))
    return flow


def _all(flow: Flow, now_s: float) -> list[Permit]:
    permits = []
    while isinstance(permit := flow.next(now_s), Permit):
        permits.append(permit)
    return permits


def test_as_many_go_as_there_are_places() -> None:
    flow = _flow(9)
    permits = _all(flow, 0.0)
    assert [permit.rank.number for permit in permits] == [0, 1, 2, 3]
    flow.accepted(permits[0], 10)
    assert len(_all(flow, 0.0)) == 1


def test_requests_per_minute_hold() -> None:
    flow = _flow(9, requests_per_minute=3, places=9)
    assert len(_all(flow, 0.0)) == 3
    assert flow.next(5.0) == Wait(55.0, "requests_per_minute was used up")
    assert len(_all(flow, 60.0)) == 3


def test_tokens_per_minute_hold_and_are_corrected_by_what_was_used() -> None:
    flow = _flow(9, tokens_per_minute=35, places=9)
    permits = _all(flow, 0.0)
    assert len(permits) == 3
    flow.accepted(permits[0], 1)
    assert len(_all(flow, 0.0)) == 1
    flow.accepted(permits[1], 30)
    wait = flow.next(0.0)
    assert isinstance(wait, Wait)
    assert wait.why == "tokens_per_minute was used up"


def test_what_was_not_sent_used_nothing() -> None:
    flow = _flow(2, requests_per_minute=1, tokens_per_minute=10)
    (permit,) = _all(flow, 0.0)
    flow.unused(permit)
    assert len(_all(flow, 0.0)) == 1


def test_retry_after_holds_for_everybody_and_then_one_tries_alone() -> None:
    flow = _flow(12)
    first, *others = _all(flow, 0.0)
    flow.refused(first, 7.0, 1.0)
    for permit in others:
        flow.accepted(permit, 10)
    assert flow.next(1.0) == Wait(7.0, "the endpoint asked to wait (Retry-After)")
    assert flow.next(7.9) == Wait(8.0 - 7.9, "the endpoint asked to wait (Retry-After)")
    (probe,) = _all(flow, 8.0)
    assert flow.limit == 1
    flow.accepted(probe, 10)
    assert len(_all(flow, 8.0)) == 2, "half of four"


def test_a_try_that_is_refused_pauses_everybody_again() -> None:
    flow = _flow(12)
    permits = _all(flow, 0.0)
    for permit in permits:
        flow.refused(permit, 5.0, 0.0)
    (probe,) = _all(flow, 5.0)
    flow.refused(probe, 5.0, 6.0)
    assert isinstance(flow.next(10.9), Wait)
    assert len(_all(flow, 11.0)) == 1


def test_a_try_that_is_given_up_is_followed_by_another() -> None:
    flow = _flow(12)
    for permit in _all(flow, 0.0):
        flow.refused(permit, 5.0, 0.0)
    (probe,) = _all(flow, 5.0)
    flow.abandoned(probe, 0)
    assert len(_all(flow, 5.0)) == 1


def test_a_shorter_pause_does_not_end_a_longer_one_and_none_is_endless() -> None:
    flow = _flow(12)
    first, second, *_ = _all(flow, 0.0)
    flow.refused(first, 10**9, 0.0)
    flow.refused(second, 1.0, 0.0)
    assert flow.paused_until_s == LONGEST_PAUSE_S


def test_a_429_without_retry_after_halves_the_places_and_pauses_nobody() -> None:
    flow = _flow(12)
    permits = _all(flow, 0.0)
    for permit in permits:
        flow.refused(permit, None, 0.0)
    assert len(_all(flow, 0.0)) == 2


class _Machine(RuleBasedStateMachine):
    """Any order of requests and ends, with all limits at once."""

    def __init__(self) -> None:
        super().__init__()
        self.limits = Limits(places=3, requests_per_minute=5, tokens_per_minute=100, max_queued=6)
        self.flow = Flow(self.limits)
        self.now_s = 0.0
        self.number = 0
        self.under_way: list[Permit] = []
        self.sent_s: list[float] = []
        self.used: dict[Permit, tuple[float, int]] = {}

    @rule(seconds=st.floats(0, 30))
    def time_passes(self, seconds: float) -> None:
        self.now_s += seconds

    @rule(urgency=st.sampled_from(Urgency), tokens=st.integers(1, 100))
    def somebody_waits(self, urgency: Urgency, tokens: int) -> None:
        self.number += 1
        self.flow.line.join(Rank(urgency, self.number, tokens))

    @rule()
    def the_next_goes(self) -> None:
        paused_until_s = self.flow.paused_until_s
        first = self.flow.line.first
        found = self.flow.next(self.now_s)
        if isinstance(found, Permit):
            assert found.rank == first
            assert self.now_s >= paused_until_s
            self.under_way.append(found)
            self.sent_s.append(self.now_s)
            self.used[found] = (self.now_s, found.rank.tokens)
            assert sum(1 for one in self.sent_s if one + 60 > self.now_s) <= 5
            assert sum(tokens for one, tokens in self.used.values() if one + 60 > self.now_s) <= 100

    @rule(which=st.integers(0, 9), how=st.sampled_from(["accepted", "refused", "abandoned"]), wait_s=st.floats(0, 20))
    def one_ends(self, which: int, how: str, wait_s: float) -> None:
        if not self.under_way:
            return
        permit = self.under_way.pop(which % len(self.under_way))
        taken_s, tokens = self.used[permit]
        if how == "accepted":
            self.flow.accepted(permit, tokens)
        elif how == "refused":
            self.used[permit] = (taken_s, 0)
            self.flow.refused(permit, wait_s, self.now_s)
        else:
            self.flow.abandoned(permit, tokens)

    @invariant()
    def counts_are_right(self) -> None:
        assert self.flow.under_way == len(self.under_way) <= 3
        assert 1 <= self.flow.limit <= 3
        assert len(self.flow.line) <= 6

    def teardown(self) -> None:
        # Whatever happened: once all has ended and time has passed, whoever waits gets through.
        for permit in self.under_way:
            self.flow.accepted(permit, permit.rank.tokens)
        self.under_way.clear()
        for _ in range(len(self.flow.line)):
            self.now_s += 120
            found = self.flow.next(self.now_s)
            assert isinstance(found, Permit)
            self.flow.accepted(found, found.rank.tokens)


TestAnyOrder = _Machine.TestCase
TestAnyOrder.settings = settings(max_examples=60, stateful_step_count=40, deadline=None)
