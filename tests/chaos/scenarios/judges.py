"""Judges that hang, refuse or talk nonsense: telemetry goes on as if there were none."""

from __future__ import annotations

import asyncio
from pathlib import Path

from tests.chaos.scenarios.scenario import Scenario
from tests.chaos.stage import Scale, Stage, stage
from tests.evaluators.judge_server import Behaviour, JudgeServer, Received, Response, breaks_off, hangs, raw, status

# What is taken for an endpoint that is down comes last, since nobody is asked for a while then.
_MOODS: dict[str, Behaviour] = {
    "talks garbage": raw(b"\x00\xff not JSON" * 50),
    "breaks off": breaks_off(20),
    "429": status(429, "slow down", retry_after="1"),
    "500": status(500),
    "hangs": hangs,
}


_LONGEST_WAIT_S = 60


async def mad(folder: Path, scale: Scale, seed: int) -> Stage:
    """One kind of trouble after the other."""
    current: list[Behaviour] = [raw(b"")]

    def behave(received: Received) -> Response:
        return current[0](received)

    async with JudgeServer(behave) as server:
        judge = {"model": "judge-1", "base_url": server.base_url, "api_key": "key", "timeout": "5s"}
        async with stage(folder, scale, seed, judge=judge) as on:
            for name, mood in _MOODS.items():
                current[0] = mood
                before = len(server.received)
                async with on.load(share=scale.of(0.2, 1.0), agents=1.0):
                    await asyncio.sleep(scale.of(1.5, 15.0))
                    if name == next(iter(_MOODS)):
                        await _asked(server)
                on.figure(
                    f"requests to a judge that {name}" if name[0].isalpha() else f"requests answered {name}",
                    len(server.received) - before,
                )
            await on.conclude()
            on.check("judges were asked", bool(server.received))
            waits_s = on.ledger.waits_s(on.backend.name)
            if scale.long:
                on.figure(
                    "from acknowledgement to backend, median and p99",
                    f"{waits_s[len(waits_s) // 2]:.2f}, {waits_s[len(waits_s) * 99 // 100]:.2f} s",
                )
            return on


async def _asked(server: JudgeServer) -> None:
    """Wait for the first request: the client of judges is loaded only then."""
    for _ in range(_LONGEST_WAIT_S * 10):
        if server.received:
            return
        await asyncio.sleep(0.1)


SCENARIOS = (Scenario("judges", "a judge that is down, slow or mad leaves telemetry unaffected", mad),)
