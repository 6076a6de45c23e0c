"""`make demo`: a real agent, a real sidecar, and what a newcomer sees."""

from __future__ import annotations

import asyncio
import os
import sys

from examples.travel_desk.scenarios import SCENARIOS


async def test_the_live_demo_shows_every_run_judged_and_ends_by_itself() -> None:
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "examples/demo.py",
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env=os.environ | {"COLUMNS": "120", "OTEL_SDK_DISABLED": "true", "HTTP_PROXY": "http://192.0.2.1:9"},
    )
    async with asyncio.timeout(120):
        output, errors = await process.communicate()
    text = output.decode()
    assert process.returncode == 0, errors.decode()
    assert all(f"agent {scenario.title} " in text for scenario in SCENARIOS)
    closing = [line for line in text.splitlines() if " · trace " in line]
    assert sum(line.startswith("✗") for line in closing) == sum(scenario.faulty for scenario in SCENARIOS)
    assert sum(line.startswith("✓") for line in closing) == sum(not scenario.faulty for scenario in SCENARIOS)
