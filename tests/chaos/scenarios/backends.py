"""Backends that are down, slow, deaf, forgetful, or take only small requests: in the end they have everything."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

from tests.chaos import accounts
from tests.chaos.backend import WELL, Mood
from tests.chaos.configuration import Destination
from tests.chaos.line import LineState
from tests.chaos.otlp_bytes import SpanBytes
from tests.chaos.scenarios.scenario import Scenario
from tests.chaos.stage import Scale, Stage, stage
from tests.chaos.traffic import Sent, request_of
from tests.collector.otlp_samples import span

BOTH = (Destination("over-grpc", 0), Destination("over-http", 0, over="http"))
_LIMIT_MIB = 48
# What the process needs beside what it holds: requests in hand, the allocator's slack.
_BESIDE_MIB = 120.0


async def down(folder: Path, scale: Scale, seed: int) -> Stage:
    """Down for long: the journal grows, memory doesn't, and then everything arrives."""
    limits = {"limit_mib": _LIMIT_MIB}
    async with stage(folder, scale, seed, assemble=limits, journal={"max_size_mib": 2048}) as on:
        async with on.load(share=scale.of(1.0, 0.5)):
            await asyncio.sleep(scale.of(0.5, 10.0))
        baseline_mib = on.process.rss_mib()
        async with on.backend.misbehaving(line=LineState.DOWN):
            # As fast as it goes: more than it may hold in memory.
            async with on.load(share=scale.of(2.0, 20.0), agents=1.0, spans_per_request=200):
                await asyncio.sleep(scale.of(2.0, 60.0))
            journal_mib, highest_mib = on.process.journal_mib(), on.watch.highest_rss_mib()
        on.figure("journal", f"{journal_mib:.0f} MiB while it was down")
        on.figure("memory before, and at most while it was down", f"{baseline_mib:.0f}, {highest_mib:.0f} MiB")
        on.check(
            f"memory stays within limit_mib ({_LIMIT_MIB}) and {_BESIDE_MIB:.0f} MiB of before",
            highest_mib <= baseline_mib + _LIMIT_MIB + _BESIDE_MIB,
        )
        await on.conclude()
        return on


async def unavailable(folder: Path, scale: Scale, seed: int) -> Stage:
    """UNAVAILABLE and 503 for 70 % of requests, then with a time to wait, which is 429 over HTTP."""
    async with stage(folder, scale, seed, destinations=BOTH) as on:
        for mood in (Mood(unavailable=0.7), Mood(unavailable=0.7, wait_s=1.0)):
            await _be(on, mood, seconds=scale.of(1.0, 30.0))
        await on.conclude()
        return on


async def unheard(folder: Path, scale: Scale, seed: int) -> Stage:
    """Answers that are slow, never come, break off, or are wrong: what was taken comes again, all else once."""
    async with stage(folder, scale, seed, destinations=BOTH) as on:
        moods = (
            (Mood(delay_s=0.3), LineState.OPEN),
            (Mood(delay_s=3.0), LineState.OPEN),
            (WELL, LineState.DEAF),
            (WELL, LineState.BREAKING),
            (Mood(forgetful=0.5), LineState.OPEN),
        )
        for mood, line in moods:
            await _be(on, mood, line, seconds=scale.of(0.8, 20.0))
        await on.conclude()
        return on


async def _be(on: Stage, mood: Mood, line: LineState = LineState.OPEN, *, seconds: float) -> None:
    async with on.load():
        first, *others = [backend.misbehaving(mood, line) for backend in on.backends]
        async with first:
            for other in others:
                await other.__aenter__()
            await asyncio.sleep(seconds)
            for other in others:
                await other.__aexit__(None, None, None)


async def sizes(folder: Path, scale: Scale, seed: int) -> Stage:
    """Requests of more than so many bytes are refused; one span is larger than that itself."""
    async with stage(folder, scale, seed, destinations=BOTH) as on:
        giant = SpanBytes(b"g" * 16, b"g" * 8, span("x" * 100_000, b"g" * 16, b"g" * 8))
        key = (giant.trace_id, giant.span_id)
        on.ledger.given_up.add(key)
        async with (
            on.backends[0].misbehaving(Mood(max_bytes=30_000)),
            on.backends[1].misbehaving(Mood(max_bytes=30_000)),
        ):
            async with on.load() as load:
                await load.send_aside(Sent(request_of([giant]), [giant]))
                await asyncio.sleep(scale.of(1.0, 30.0))
            await on.everything_arrived()
            letters = await on.until(
                lambda samples: accounts.total(samples, "exporter_dead_lettered_spans_total") == len(on.backends)
            )
        on.check("the one span that is too large is in the dead letters of both, and nothing else", letters)
        lines = [
            json.loads(line)
            for path in folder.glob("spanjudge-dead-letters-*")
            for line in path.read_text().splitlines()
        ]
        on.check("with a reason", len(lines) == len(on.backends) and all(one["reason"] for one in lines))
        await on.conclude()
        return on


async def one_dead(folder: Path, scale: Scale, seed: int) -> Stage:
    """Two destinations, one of which is down: the other one gets everything meanwhile."""
    destinations = (Destination("alive", 0), Destination("dead", 0))
    async with stage(folder, scale, seed, destinations=destinations) as on:
        alive, dead = on.backends
        async with on.load():
            await asyncio.sleep(scale.of(0.5, 5.0))
        async with dead.misbehaving(line=LineState.DOWN):
            async with on.load():
                await asyncio.sleep(scale.of(1.5, 30.0))
            on.check("the one that is alive got everything meanwhile", await on.everything_arrived(alive))
            on.figure("owed to the dead one meanwhile", len(on.ledger.missing(dead.name)))
            await on.restart_killed()
        await on.conclude()
        return on


SCENARIOS = (
    Scenario("down", "a backend that is down costs disk and no memory, and then gets everything", down),
    Scenario("unavailable", "70 % UNAVAILABLE, 503 or 429 end with sent = received", unavailable),
    Scenario("unheard", "so do answers that are slow, never come, break off, or are wrong", unheard),
    Scenario("sizes", "requests are cut to what a backend takes; a span it can't take is a dead letter", sizes),
    Scenario("one-dead", "a dead destination keeps nothing from the others", one_dead),
)
