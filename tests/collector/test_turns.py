"""Turns: so many at a time, and who takes too long loses it, but only to others that wait."""

from __future__ import annotations

import asyncio

import pytest

from collector.receivers.turns import Turns


async def for_ever() -> str:
    await asyncio.Event().wait()
    return "never"


async def at_once() -> str:
    return "received"


async def slowly() -> str:
    await asyncio.sleep(0.1)
    return "received"


async def test_without_others_a_turn_may_last() -> None:
    assert await Turns(1, undisturbed_s=0.01, longest_s=30).take(slowly) == "received"


async def test_who_does_nothing_loses_the_turn_to_one_that_waits() -> None:
    turns = Turns(2, undisturbed_s=0.01, longest_s=30)
    idle = [asyncio.ensure_future(turns.take(for_ever)) for _ in range(2)]
    await asyncio.sleep(0)
    assert await turns.take(at_once) == "received"
    with pytest.raises(TimeoutError):
        await idle[0]
    assert not idle[1].done()  # nobody else waited
    idle[1].cancel()


async def test_many_that_do_nothing_lose_their_turns_one_after_the_other() -> None:
    turns = Turns(3, undisturbed_s=0.01, longest_s=30)
    idle = [asyncio.ensure_future(turns.take(for_ever)) for _ in range(12)]
    await asyncio.sleep(0)
    assert await turns.take(at_once) == "received"
    for one in idle:
        one.cancel()
    outcomes = await asyncio.gather(*idle, return_exceptions=True)
    assert all(isinstance(outcome, TimeoutError | asyncio.CancelledError) for outcome in outcomes)
    assert await turns.take(at_once) == "received"


async def test_waiting_and_turn_together_end_some_time() -> None:
    turns = Turns(1, undisturbed_s=30, longest_s=0.05)
    idle = asyncio.ensure_future(turns.take(for_ever))
    await asyncio.sleep(0)
    for refused in (turns.take(at_once), idle):
        with pytest.raises(TimeoutError):
            await refused


async def test_one_that_is_given_up_while_it_waits_takes_nothing_with_it() -> None:
    turns = Turns(1, undisturbed_s=30, longest_s=30)
    at_work = asyncio.ensure_future(turns.take(slowly))
    await asyncio.sleep(0)
    given_up = asyncio.ensure_future(turns.take(at_once))
    await asyncio.sleep(0)
    given_up.cancel()
    assert await turns.take(at_once) == "received"
    assert await at_work == "received"


async def test_a_failure_gives_the_turn_back() -> None:
    async def fails() -> str:
        raise ConnectionError

    turns = Turns(1, undisturbed_s=30, longest_s=30)
    for _ in range(3):
        with pytest.raises(ConnectionError):
            await turns.take(fails)
    assert await turns.take(at_once) == "received"
