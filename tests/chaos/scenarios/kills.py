"""The sidecar ends, in whatever way, and the next one goes on."""

from __future__ import annotations

import asyncio
from pathlib import Path

from tests.chaos.line import LineState
from tests.chaos.scenarios.scenario import Run, Scenario
from tests.chaos.stage import Scale, Stage, stage


def _killed(durability: str, share: float) -> Run:
    async def run(folder: Path, scale: Scale, seed: int) -> Stage:
        async with stage(folder, scale, seed, durability=durability) as on:
            kills = max(int(scale.kills * share), 1)
            early = 0
            async with on.load():
                for _ in range(kills):
                    # Mostly while it works, sometimes before it is ready.
                    await on.process.begin() if not on.process.is_running else None
                    is_early = on.rng.random() < 0.15
                    early += is_early
                    if not is_early:
                        await on.process.ready()
                    await asyncio.sleep(on.rng.uniform(0.0, scale.of(1.0, 2.0)))
                    await on.kill()
                await on.process.start()
            on.figure("kills", f"{kills}, {early} of them before it was ready")
            await on.conclude()
            return on

    return run


async def killed_while_restoring(folder: Path, scale: Scale, seed: int) -> Stage:
    """Killed again and again while it takes back what waits for a backend that is down."""
    async with stage(folder, scale, seed) as on:
        async with on.backend.misbehaving(line=LineState.DOWN):
            async with on.load():
                await asyncio.sleep(scale.of(2.0, 20.0))
            await on.kill()
            kills = int(scale.of(2, 30))
            for _ in range(kills):
                await on.process.begin()
                await asyncio.sleep(on.rng.uniform(0.3, scale.of(2.0, 4.0)))
                await on.kill()
        await on.process.start()
        on.figure("kills while starting", kills)
        await on.conclude()
        return on


async def stopped_with_backend_down(folder: Path, scale: Scale, seed: int) -> Stage:
    """SIGTERM under load while the backend is down: it ends in time, and the next one delivers the rest."""
    async with stage(folder, scale, seed) as on:
        async with on.load():
            stops = int(scale.of(1, 5))
            for _ in range(stops):
                await asyncio.sleep(scale.of(0.5, 2.0))
                async with on.backend.misbehaving(line=LineState.DOWN):
                    await asyncio.sleep(scale.of(0.5, 2.0))
                    on.check("SIGTERM with the backend down ends it with exit code 0", await on.process.stop() == 0)
                await on.process.start()
        on.figure("stops", stops)
        letters = list(folder.glob("spanjudge-dead-letters-*"))
        on.check("nothing went to the dead letters", not letters)
        await on.conclude()
        return on


SCENARIOS = (
    Scenario("killed", "kill -9 at any moment loses no acknowledged span", _killed("disk", 1.0)),
    Scenario("killed-process", "nor does it with durability: process", _killed("process", 0.2), in_tests=False),
    Scenario("killed-restoring", "nor while a start takes back what is owed", killed_while_restoring),
    Scenario("stopped", "SIGTERM leaves on disk what can't be delivered", stopped_with_backend_down),
)
