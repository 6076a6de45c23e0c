"""The time, for those parts of the judge's client that wait; a clock of one's own makes tests of waiting quick."""

from __future__ import annotations

import asyncio
import time
from typing import Protocol


class Clock(Protocol):
    """Seconds, and waiting."""

    def now_s(self) -> float:
        """Seconds that only ever grow."""

    def wall_s(self) -> float:
        """Seconds since 1970 (Unix time)."""

    async def sleep(self, wait_s: float) -> None:
        """Wait so long."""


class SystemClock:
    """The machine's own."""

    def now_s(self) -> float:
        """`time.monotonic`."""
        return time.monotonic()

    def wall_s(self) -> float:
        """`time.time`."""
        return time.time()

    async def sleep(self, wait_s: float) -> None:
        """`asyncio.sleep`."""
        await asyncio.sleep(wait_s)
