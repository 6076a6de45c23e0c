"""Looks at a sidecar again and again while a scenario runs: is its account even, how much memory does it use?"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from tests.chaos import accounts
from tests.chaos.process import Process

_EVERY_S = 0.4


@dataclass(frozen=True, slots=True)
class Look:
    """One moment: resident memory, size of the journal, spans held, spans queued for all exporters."""

    moment_s: float
    rss_mib: float
    journal_mib: float
    held: float
    queued: float


@dataclass
class Watch:
    """What was seen. `uneven`: by how many spans the account was wrong, each time it was."""

    looks: list[Look] = field(default_factory=list)
    scrapes: int = 0
    uneven: list[float] = field(default_factory=list)
    last: accounts.Samples = field(default_factory=dict)

    def highest_rss_mib(self, since_s: float = 0.0) -> float:
        """The most memory it was seen to use."""
        return max((look.rss_mib for look in self.looks if look.moment_s >= since_s), default=0.0)

    def highest_journal_mib(self) -> float:
        """The most its journal was seen to take."""
        return max((look.journal_mib for look in self.looks), default=0.0)

    async def look(self, process: Process, exporters: Sequence[str]) -> None:
        """Look once."""
        samples = await process.scrape()
        if samples is None:
            return
        self.scrapes += 1
        self.last = samples
        self.uneven += [off for exporter in exporters if (off := accounts.imbalance(samples, exporter))]
        held = accounts.total(samples, "processor_held_spans")
        queued = accounts.total(samples, "exporter_queue_spans")
        self.looks.append(Look(time.monotonic(), process.rss_mib(), process.journal_mib(), held, queued))


@asynccontextmanager
async def watching(process: Process, exporters: Sequence[str]) -> AsyncIterator[Watch]:
    """Look all the time."""
    watch = Watch()

    async def go_on() -> None:
        while True:
            await watch.look(process, exporters)
            await asyncio.sleep(_EVERY_S)

    task = asyncio.create_task(go_on())
    try:
        yield watch
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task
