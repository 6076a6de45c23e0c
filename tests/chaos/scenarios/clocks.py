"""The wall clock jumps by years, and spans bear impossible times: no timer minds."""

from __future__ import annotations

import asyncio
from pathlib import Path

from tests.chaos.scenarios.scenario import Scenario
from tests.chaos.stage import Scale, Stage, stage
from tests.chaos.traffic import wrong
from tests.chaos.wall_clock import WallClock

_JUMPS_S = (3600, -3600, 10 * 365 * 86_400, -10 * 365 * 86_400, -45 * 365 * 86_400, 0)


async def jumps(folder: Path, scale: Scale, seed: int) -> Stage:
    """Forwards and backwards while it works and while it is down."""
    clock = WallClock(folder)
    async with stage(folder, scale, seed, environment=clock.environment) as on:
        for round_ in range(int(scale.of(1, 3))):
            async with on.load(times=wrong):
                for offset_s in _JUMPS_S:
                    clock.jump(offset_s)
                    await asyncio.sleep(scale.of(0.3, 4.0))
                    if scale.long and round_:
                        await on.kill()
                        clock.jump(-offset_s)
                        await on.process.start()
                if not scale.long:
                    await on.kill()
                    clock.jump(_JUMPS_S[2])
                    await on.process.start()
        on.figure("clock set by", clock.how)
        waits_s = on.ledger.waits_s(on.backend.name)
        on.check("spans arrive while the clock is wrong", bool(waits_s) or await on.everything_arrived())
        await on.conclude()
        return on


SCENARIOS = (Scenario("clocks", "wrong clocks change nothing", jumps),)
