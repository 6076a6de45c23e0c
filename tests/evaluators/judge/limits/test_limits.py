"""A judge's limits at a real HTTP server: pace, pauses, the line, the deadline, the breaker."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from evaluators.judge.limits.clock import SystemClock
from evaluators.judge.limits.gate import Gates
from evaluators.judge.question import JudgeAnswer, JudgeFailure
from evaluators.judge.report import Asked
from evaluators.verdict import Status
from tests.evaluators.judge_cases import CALLS, choice, invocation
from tests.evaluators.judge_limits import (
    RUN,
    LeapingClock,
    Told,
    ask,
    ask_many,
    judge_at,
    reasons,
    settings_for,
)
from tests.evaluators.judge_server import (
    Behaviour,
    JudgeServer,
    Received,
    Response,
    hangs,
    says,
    slow,
    status,
    well,
    without_usage,
)


def _arrivals(clock: LeapingClock, *behaviours: Behaviour) -> tuple[JudgeServer, list[float]]:
    """A server, and when by the clock each request reached it, from the first on."""
    arrived_s: list[float] = []

    def noted(behaviour: Behaviour) -> Behaviour:
        def behave(received: Received) -> Response:
            arrived_s.append(clock.now_s() - (arrived_s[0] if arrived_s else 0.0))
            if len(arrived_s) == 1:
                start_s.append(arrived_s[0])
            return behaviour(received)

        return behave

    start_s: list[float] = []
    return JudgeServer(*map(noted, behaviours)), arrived_s


# -- pace


async def test_an_endpoint_that_takes_few_at_a_time_gets_few_at_a_time_and_all_are_answered() -> None:
    def takes_two(received: Received) -> Response:
        return status(429)(received) if server.at_once > 2 else slow(0.01)(received)

    server = JudgeServer(takes_two)
    async with server:
        judge = judge_at(server, max_concurrent_requests=16, max_retries=10)
        answers = await ask_many(judge, 40)
        limit = judge.levels().limit
        await judge.close()
    assert not reasons(answers)
    assert limit < 16


async def test_retry_after_holds_for_everybody_and_one_tries_first() -> None:
    clock = LeapingClock()
    server, arrived_s = _arrivals(clock, status(429, retry_after="7"), slow(0.05))
    async with server:
        judge = judge_at(server, clock=clock, max_concurrent_requests=2)
        answers = await ask_many(judge, 8)
        await judge.close()
    assert not reasons(answers)
    # Two were under way; of the others none came before the seven seconds were over.
    assert all(one >= 7 for one in arrived_s[2:])
    assert len(arrived_s) == 9


async def test_retry_after_may_be_a_date() -> None:
    clock = LeapingClock()
    when = format_datetime(datetime.now(UTC) + timedelta(seconds=90), usegmt=True)
    server, arrived_s = _arrivals(clock, status(429, retry_after=when), well)
    async with server:
        judge = judge_at(server, clock=clock)
        answers = await ask(judge)
        await judge.close()
    assert not reasons(answers)
    assert 80 < arrived_s[1] < 100


async def test_a_pause_beyond_the_deadline_is_not_waited_for_by_anybody() -> None:
    told = Told()
    async with JudgeServer(status(429, retry_after="3000")) as server:
        judge = judge_at(server, told=told, max_concurrent_requests=1)
        answers = await ask_many(judge, 5)
        later = await ask(judge)
        await judge.close()
    assert len(server.received) == 1
    assert "limits the rate of requests (429)" in reasons(answers)[0]
    for reason in [*reasons(answers)[1:], *reasons(later)]:
        assert "asked to wait" in reason
        assert "longer than limits.deadline leaves" in reason
    assert {answer.status for answer in answers if isinstance(answer, JudgeFailure)} == {Status.JUDGE_ERROR}
    assert told.asked == {Asked.FAILED: 1, Asked.PAUSED: 5}


@pytest.mark.parametrize(
    ("limit", "why"),
    [
        ({"requests_per_minute": 1}, "requests_per_minute was used up"),
        ({"tokens_per_minute": 1_200}, "tokens_per_minute was used up"),
    ],
)
async def test_requests_and_tokens_per_minute_hold(limit: dict[str, int], why: str) -> None:
    async with JudgeServer() as server:
        judge = judge_at(server, clock=SystemClock(), limits={**limit, "deadline": "2s"})
        answers = await ask_many(judge, 3)
        await judge.close()
    assert len(server.received) == 1
    assert len(reasons(answers)) == 2
    assert all(f"no place for the request within 2 s (limits::deadline): {why}" in one for one in reasons(answers))


async def test_tokens_that_are_not_reported_count_all_the_same() -> None:
    async with JudgeServer(without_usage) as server:
        judge = judge_at(server, clock=SystemClock(), limits={"tokens_per_minute": 1_200, "deadline": "2s"})
        answers = await ask_many(judge, 2)
        await judge.close()
    assert len(server.received) == 1
    assert "tokens_per_minute was used up" in reasons(answers)[0]


async def test_judges_with_one_address_and_key_share_their_pace() -> None:
    async with JudgeServer() as server:
        slowed = {"limits": {"requests_per_minute": 2, "deadline": "2s"}}
        other = {"model": "fake-2", "limits": {"deadline": "2s"}}
        gates = Gates([settings_for(server, **slowed), settings_for(server, **other)])
        judges = [judge_at(server, clock=SystemClock(), gates=gates, **values) for values in (slowed, other)]
        await asyncio.gather(*(ask_many(judge, 2) for judge in judges))
        for judge in judges:
            await judge.close()
    assert len(server.received) == 2


async def test_judges_with_other_keys_do_not() -> None:
    async with JudgeServer() as server:
        slowed = {"limits": {"requests_per_minute": 1, "deadline": "2s"}}
        other = {"api_key": "other"}
        gates = Gates([settings_for(server, **slowed), settings_for(server, **other)])
        judges = [judge_at(server, clock=SystemClock(), gates=gates, **values) for values in (slowed, other)]
        answers = [*await ask(judges[0]), *await ask_many(judges[1], 5)]
        for judge in judges:
            await judge.close()
    assert not reasons(answers)


# -- the line


async def test_what_is_most_urgent_goes_first_and_the_last_is_dropped() -> None:
    told = Told()
    async with JudgeServer(slow(0.2), well) as server:
        judge = judge_at(server, told=told, max_concurrent_requests=1, limits={"max_queued": 2})
        first = asyncio.create_task(ask(judge, [choice(0)]))
        await asyncio.sleep(0.05)
        waiting = [
            asyncio.create_task(judge.ask(RUN, [question]))
            for question in (
                replace(invocation(CALLS[1]), findings=()),
                replace(invocation(CALLS[2]), findings=("suspicious",)),
                replace(invocation(CALLS[0]), findings=()),
            )
        ]
        answers = [answer for answered in await asyncio.gather(first, *waiting) for answer in answered]
        queued = judge.levels().queued
        await judge.close()
    asked_of = [received.user.rpartition("\nq1 ")[2].split(":")[0] for received in server.received]
    assert asked_of[1:] == ["tool_invocation on c1", "tool_invocation on c3"]
    assert isinstance(answers[1], JudgeFailure)
    assert answers[1].status is Status.OVER_BUDGET
    assert answers[1].reason.startswith("2 requests that go first wait for the judge; raise limits.max_queued")
    assert told.asked == {Asked.ANSWERED: 3, Asked.QUEUE_FULL: 1}
    assert queued == 0


async def test_the_deadline_counts_from_asking() -> None:
    told = Told()
    async with JudgeServer(slow(30), well) as server:
        judge = judge_at(server, told=told, max_concurrent_requests=1, limits={"deadline": "5s"})
        answers = await ask_many(judge, 2)
        await judge.close()
    assert [answer.status for answer in answers if isinstance(answer, JudgeFailure)] == [Status.TIMED_OUT] * 2
    assert "gave no valid answer within 5 s (limits::deadline)" in reasons(answers)[0]
    assert "no place for the request within 5 s (limits::deadline): all places were taken" in reasons(answers)[1]
    assert len(server.received) == 1
    assert told.asked == {Asked.TIMED_OUT: 2}


async def test_where_nobody_waits_the_deadline_counts_from_the_first_place() -> None:
    async with JudgeServer(slow(0.5)) as server:
        judge = judge_at(server, patient=True, max_concurrent_requests=1, limits={"deadline": "2s", "max_queued": 1})
        answers = await ask_many(judge, 5)
        await judge.close()
    assert not reasons(answers)


async def test_nothing_is_tried_again_past_the_deadline() -> None:
    async with JudgeServer(status(503, retry_after="100")) as server:
        judge = judge_at(server, limits={"deadline": "60s"})
        answers = await ask(judge)
        await judge.close()
    assert len(server.received) == 1
    assert "failed (503)" in reasons(answers)[0]


async def test_an_endpoint_that_takes_requests_and_says_nothing_costs_its_time_out_each_and_then_nothing() -> None:
    async with JudgeServer(hangs) as server:
        judge = judge_at(server, timeout="100ms", max_concurrent_requests=1, breaker={"failures": 2})
        answers = await ask_many(judge, 4)
        await judge.close()
    assert len(server.received) == 2
    assert "gave no answer within 0.1 s" in reasons(answers)[0]
    assert "2 requests in a row failed" in reasons(answers)[3]


# -- the breaker


@pytest.mark.parametrize("behaviour", [status(500), status(401), status(403), status(404)])
async def test_an_endpoint_that_fails_again_and_again_is_left_alone_and_then_tried_by_one(behaviour: Behaviour) -> None:
    clock, told = LeapingClock(), Told()
    async with JudgeServer(behaviour, behaviour, behaviour, behaviour, well) as server:
        judge = judge_at(server, clock=clock, told=told, max_retries=0, breaker={"failures": 3, "pause": "30s"})
        for _ in range(3):
            await ask(judge)
        open_at = judge.levels().breaker_open
        held_back = await ask_many(judge, 4)
        sent_while_open = len(server.received)
        clock.ahead_s += 31
        await ask(judge)
        again = await ask(judge)
        clock.ahead_s += 61
        answers = [*await ask(judge), *await ask_many(judge, 3)]
        await judge.close()
    assert open_at
    assert sent_while_open == 3
    assert {answer.status for answer in held_back if isinstance(answer, JudgeFailure)} == {Status.JUDGE_ERROR}
    for reason in reasons(held_back):
        assert reason.startswith("not asked, as 3 requests in a row failed, and it is tried again in ")
        assert "; the last failure: http://127.0.0.1:" in reason
    assert "it is tried again in 60 s" in reasons(again)[0]
    assert all(isinstance(answer, JudgeAnswer) for answer in answers)
    assert told.asked == {Asked.FAILED: 4, Asked.BREAKER_OPEN: 5, Asked.ANSWERED: 4}


async def test_while_one_tries_the_others_are_not_asked() -> None:
    clock = LeapingClock()
    async with JudgeServer(status(500), slow(0.05)) as server:
        judge = judge_at(server, clock=clock, max_retries=0, breaker={"failures": 1})
        await ask(judge)
        clock.ahead_s += 31
        answers = await ask_many(judge, 4)
        await judge.close()
    assert len(server.received) == 2
    assert len(reasons(answers)) == 3
    assert all("one request is trying it now" in reason for reason in reasons(answers))


@pytest.mark.parametrize("behaviour", [says("junk"), status(429), status(400), says(None, refusal="no")])
async def test_junk_refusals_and_limits_of_rate_do_not_open_it(behaviour: Behaviour) -> None:
    async with JudgeServer(behaviour) as server:
        judge = judge_at(server, max_retries=0, breaker={"failures": 2})
        for _ in range(4):
            await ask(judge)
        assert not judge.levels().breaker_open
        await judge.close()


async def test_repetitions_count_and_end_when_it_opens() -> None:
    async with JudgeServer(status(500)) as server:
        judge = judge_at(server, max_retries=9, breaker={"failures": 2})
        answers = await ask(judge)
        await judge.close()
    assert len(server.received) == 2
    assert "failed (500)" in reasons(answers)[0]


# -- nothing stays


async def test_a_failure_leaves_nothing_behind_for_the_next_question() -> None:
    async with JudgeServer(says("junk"), says("junk"), status(400), says(None, refusal="no"), well) as server:
        judge = judge_at(server)
        failed = [answer for _ in range(3) for answer in await ask(judge)]
        answers = await ask(judge)
        await judge.close()
    assert len(reasons(failed)) == 3
    assert isinstance(answers[0], JudgeAnswer)
    assert answers[0].usage.requests == 1
    assert "An earlier answer" not in server.received[-1].user


async def test_junk_is_told_without_what_was_written() -> None:
    told = Told()
    async with JudgeServer(says('{"q1": {"label": "the password is swordfish"}}')) as server:
        judge = judge_at(server, told=told)
        await ask(judge)
        await judge.close()
    assert told.asked == {Asked.JUNK: 1}
    assert "gave no valid answer, twice" in told.problems[0]
    assert "swordfish" not in repr(told)


async def test_cancelling_who_waits_lets_the_next_one_through() -> None:
    async with JudgeServer(slow(0.1), well) as server:
        judge = judge_at(server, max_concurrent_requests=1)
        first = asyncio.create_task(ask(judge))
        await asyncio.sleep(0.02)
        second, third = asyncio.create_task(ask(judge)), asyncio.create_task(ask(judge))
        await asyncio.sleep(0.02)
        second.cancel()
        answers = [*await first, *await third]
        levels = judge.levels()
        await judge.close()
    assert all(isinstance(answer, JudgeAnswer) for answer in answers)
    assert (levels.queued, levels.under_way) == (0, 0)
    assert len(server.received) == 2
