"""Whatever an endpoint does, in whatever order: every question comes to an end, and every request is accounted for."""

from __future__ import annotations

import asyncio
import random
from pathlib import Path

import pytest

from evaluators.judge.question import JudgeAnswer, JudgeFailure
from evaluators.judge.report import Asked
from evaluators.usage import total
from evaluators.verdict import Status
from tests.evaluators.judge_cases import CALLS, choice, goals, invocation
from tests.evaluators.judge_limits import RUN, LeapingClock, Told, judge_at
from tests.evaluators.judge_server import (
    Behaviour,
    JudgeServer,
    Received,
    Response,
    breaks_off,
    raw,
    says,
    slow,
    status,
    well,
    without_usage,
)

_WEATHER: tuple[Behaviour, ...] = (
    well,
    well,
    well,
    without_usage,
    slow(0.01),
    slow(30),
    status(429),
    status(429, retry_after="0"),
    status(429, retry_after="3"),
    status(429, retry_after="Mon, 30 Nov 2037 12:00:00 GMT"),
    status(500),
    status(503, retry_after="1"),
    status(401),
    status(400, "no"),
    says("junk"),
    says("{}"),
    says(None, refusal="no"),
    says('{"q1": {', finish_reason="length"),
    raw(b"<html>"),
    breaks_off(0),
    breaks_off(30),
)
_FAILURES = {Status.JUDGE_ERROR, Status.TIMED_OUT, Status.OVER_BUDGET, Status.TOO_LARGE}


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("with_cache", [False, True])
async def test_nothing_is_lost_left_over_or_counted_twice(tmp_path: Path, seed: int, with_cache: bool) -> None:
    dice, told = random.Random(seed), Told()

    def weather(received: Received) -> Response:
        return dice.choice(_WEATHER)(received)

    kinds = [choice(0), choice(1), goals(), invocation(CALLS[2], CALLS[3])]
    asked = [[dice.choice(kinds) for _ in range(dice.randint(1, 4))] for _ in range(30)]
    async with JudgeServer(weather) as server:
        judge = judge_at(
            server,
            told=told,
            clock=LeapingClock(),
            timeout="150ms",
            max_concurrent_requests=5,
            limits={"max_queued": 8, "requests_per_minute": 40},
            breaker={"failures": 8},
            budget={"per_hour": {"tokens": 120_000}, "file": tmp_path / "budgets.db"},
            cache={} if with_cache else None,
        )
        answers = await asyncio.wait_for(asyncio.gather(*(judge.ask(RUN, questions) for questions in asked)), 60)
        levels = judge.levels()
        await judge.close()
    assert list(map(len, answers)) == list(map(len, asked))
    flat = [answer for several in answers for answer in several]
    assert {answer.status for answer in flat if isinstance(answer, JudgeFailure)} <= _FAILURES
    assert all(answer.reason for answer in flat if isinstance(answer, JudgeFailure))
    assert (levels.queued, levels.under_way) == (0, 0)
    assert total(answer.usage for answer in flat).requests == len(told.spent) >= len(server.received) > 0
    assert sum(told.asked.values()) == len(flat)
    answered = sum(isinstance(answer, JudgeAnswer) for answer in flat)
    assert told.asked.get(Asked.ANSWERED, 0) + told.asked.get(Asked.CACHED, 0) == answered
