"""Whoever wants to send waits at the gate until every limit allows it, by the clock."""

from __future__ import annotations

import asyncio

import pytest

from evaluators.judge.limits.flow import Limits
from evaluators.judge.limits.gate import Gate, Gates
from evaluators.judge.limits.line import Rank, Urgency
from evaluators.judge.limits.not_asked import NotAskedError
from evaluators.verdict import Status
from tests.evaluators.judge_limits import LeapingClock, settings_for

_NEVER_S = 1e12


async def _pass(gate: Gate, clock: LeapingClock, number: int, passed_s: list[float], tokens: int = 10) -> None:
    permit = await gate.enter(Rank(Urgency.SAMPLE, number, tokens), _NEVER_S)
    passed_s.append(clock.ahead_s)
    await asyncio.sleep(0)
    gate.accepted(permit, tokens)


async def _all_pass(limits: Limits, times: int, tokens: int = 10) -> list[float]:
    clock, passed_s = LeapingClock(), list[float]()
    gate = Gate(limits, clock)
    await asyncio.gather(*(_pass(gate, clock, number, passed_s, tokens) for number in range(times)))
    return [round(one) for one in passed_s]


async def test_requests_per_minute() -> None:
    assert await _all_pass(Limits(places=9, requests_per_minute=3), 8) == [0, 0, 0, 60, 60, 60, 120, 120]


async def test_tokens_per_minute() -> None:
    assert await _all_pass(Limits(places=9, tokens_per_minute=35), 5) == [0, 0, 0, 60, 60]


async def test_more_than_the_tokens_of_a_minute_goes_alone() -> None:
    assert await _all_pass(Limits(places=9, tokens_per_minute=35), 3, tokens=100) == [0, 60, 120]


async def test_a_pause_holds_for_those_who_wait_and_those_who_come() -> None:
    clock, passed_s = LeapingClock(), list[float]()
    gate = Gate(Limits(places=1), clock)
    permit = await gate.enter(Rank(Urgency.SAMPLE, 0), _NEVER_S)
    waiting = asyncio.create_task(_pass(gate, clock, 1, passed_s))
    await asyncio.sleep(0)
    gate.refused(permit, 7.0)
    await asyncio.gather(waiting, _pass(gate, clock, 2, passed_s))
    assert [round(one) for one in passed_s] == [7, 7]


async def test_who_has_no_time_for_a_pause_is_told_at_once() -> None:
    clock = LeapingClock()
    gate = Gate(Limits(places=1), clock)
    permit = await gate.enter(Rank(Urgency.SAMPLE, 0), _NEVER_S)
    waiting = asyncio.create_task(gate.enter(Rank(Urgency.SAMPLE, 1), clock.now_s() + 5))
    await asyncio.sleep(0)
    gate.refused(permit, 60.0)
    for entering in (waiting, gate.enter(Rank(Urgency.SAMPLE, 2), clock.now_s() + 5)):
        with pytest.raises(NotAskedError, match="asked to wait 60 s more") as held_back:
            await entering
        assert held_back.value.status is Status.JUDGE_ERROR
    assert len(gate.flow.line) == 0


async def test_whoever_is_dropped_from_a_full_line_is_told() -> None:
    gate = Gate(Limits(places=1, max_queued=1), LeapingClock())
    permit = await gate.enter(Rank(Urgency.SAMPLE, 0), _NEVER_S)
    dropped = asyncio.create_task(gate.enter(Rank(Urgency.SAMPLE, 1), _NEVER_S))
    await asyncio.sleep(0)
    urgent = asyncio.create_task(gate.enter(Rank(Urgency.FAILURE, 2), _NEVER_S))
    with pytest.raises(NotAskedError, match="1 requests that go first wait for the judge"):
        await dropped
    gate.unused(permit)
    assert (await urgent).rank.number == 2


async def test_who_is_given_up_while_waiting_or_just_let_through_leaves_his_place() -> None:
    gate = Gate(Limits(places=1), LeapingClock())
    permit = await gate.enter(Rank(Urgency.SAMPLE, 0), _NEVER_S)
    waiting = [asyncio.create_task(gate.enter(Rank(Urgency.SAMPLE, number), _NEVER_S)) for number in (1, 2, 3)]
    await asyncio.sleep(0)
    waiting[1].cancel()
    await asyncio.sleep(0)
    gate.accepted(permit, 0)
    # The first has got its place by now, but hasn't gone on yet.
    waiting[0].cancel()
    last = await waiting[2]
    assert last.rank.number == 3
    gate.accepted(last, 0)
    assert gate.flow.under_way == 0
    assert len(gate.flow.line) == 0


def test_judges_share_a_gate_by_address_key_and_headers() -> None:
    url = "http://127.0.0.1:1/v1"
    first, same = settings_for(url), settings_for(url, model="fake-2", temperature=0)
    others = [
        settings_for("http://127.0.0.1:2/v1"),
        settings_for(url, api_key="other"),
        settings_for(url, headers={"x-key": "other"}),
    ]
    gates = Gates([first, same, *others])
    assert gates.gate_of(first) is gates.gate_of(same)
    assert len({id(gates.gate_of(one)) for one in (first, *others)}) == 4


def test_what_is_said_of_places_holds_for_all_behind_a_gate_and_defaults_give_way() -> None:
    url = "http://127.0.0.1:1/v1"
    for said, places in (([32], 32), ([32, 8], 8), ([], 4), ([2], 2)):
        judges = [settings_for(url, max_concurrent_requests=one) for one in said] + [settings_for(url)]
        assert Gates(judges).gate_of(judges[0]).flow.limit == places


async def test_a_closed_gate_lets_nobody_through_neither_who_waits_nor_who_comes() -> None:
    clock = LeapingClock()
    gate = Gate(Limits(places=1), clock)
    permit = await gate.enter(Rank(Urgency.SAMPLE, 0), _NEVER_S)
    waiting = asyncio.create_task(gate.enter(Rank(Urgency.SAMPLE, 1), _NEVER_S))
    await asyncio.sleep(0)
    gate.require_open()
    gate.close()
    gate.accepted(permit, 1)
    with pytest.raises(NotAskedError, match="is being stopped"):
        await waiting
    with pytest.raises(NotAskedError, match="is being stopped"):
        await gate.enter(Rank(Urgency.FAILURE, 2), _NEVER_S)
    with pytest.raises(NotAskedError):
        gate.require_open()
    assert (gate.flow.under_way, len(gate.flow.line)) == (0, 0)
