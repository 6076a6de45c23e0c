"""The configuration is read again under load, again and again: nothing that is held or queued is lost."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

from tests.chaos.configuration import EVALUATORS, Setup
from tests.chaos.line import LineState
from tests.chaos.scenarios.scenario import Scenario
from tests.chaos.stage import Scale, Stage, stage

_RELOADED = "configuration reloaded"


async def under_load(folder: Path, scale: Scale, seed: int) -> Stage:
    """Evaluators, waits and exporters change there and back; now and then the backend is down or the process killed."""
    async with stage(folder, scale, seed) as on:
        base = on.setup
        destination = base.destinations[0]
        changes = [
            replace(base, evaluators=EVALUATORS[:2]),
            replace(base, assemble={"quiet_period": "100ms", "hold": "1s"}),
            replace(base, destinations=[replace(destination, more={"timeout": "1s"})]),
            replace(base, destinations=[replace(destination, more={"sending_queue": {"num_consumers": 3}})]),
        ]
        reloads = int(scale.of(4, 40))
        async with on.load():
            for number in range(reloads):
                trouble = on.rng.random()
                if trouble < 0.2:
                    async with on.backend.misbehaving(line=LineState.DOWN):
                        await _reload(on, changes[number % len(changes)])
                else:
                    await _reload(on, changes[number % len(changes)])
                if number % 10 == 9:
                    await on.restart_killed()
            on.process.configure(base)
        on.figure("reloads", reloads)
        await on.conclude()
        return on


async def _reload(on: Stage, setup: Setup) -> None:
    on.process.configure(setup)
    before = on.process.log.count(_RELOADED)
    with on.ledger.trouble("reloading"):
        on.process.reload()
        for _ in range(600):
            if on.process.log.count(_RELOADED) > before:
                break
            await asyncio.sleep(0.1)
        else:
            on.check("a reload ends", False)
    await asyncio.sleep(on.rng.uniform(0.0, on.scale.of(0.5, 2.0)))


SCENARIOS = (Scenario("reloads", "a reload loses nothing that is held or queued", under_load),)
