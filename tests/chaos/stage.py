"""Everything a scenario needs: backends, a sidecar, load, a ledger, and a list of what was found.

At its end every scenario is held to the same promises (`conclude`): nothing acknowledged is missing anywhere, nothing
was changed, all copies are alike, what came twice had a reason, the account was even whenever it was looked at.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from tests.chaos import accounts
from tests.chaos.backend import Backend
from tests.chaos.configuration import Destination, Setup
from tests.chaos.ledger import Ledger
from tests.chaos.load import Load
from tests.chaos.process import Process
from tests.chaos.traffic import Times, Traffic, plausible
from tests.chaos.watch import Watch, watching

ARRIVES_WITHIN_S = 180.0
_HURT = ("Traceback", "never retrieved", "was destroyed", "never awaited")


@dataclass(frozen=True)
class Scale:
    """How much a scenario does. `long`: for the report, not for every test run."""

    long: bool
    kills: int
    spans_per_s: float

    def of(self, short: float, long: float) -> float:
        """The one or the other."""
        return long if self.long else short


SHORT = Scale(long=False, kills=5, spans_per_s=400.0)
LONG = Scale(long=True, kills=100, spans_per_s=600.0)


@dataclass(frozen=True, slots=True)
class Check:
    """Something that has to be so."""

    what: str
    holds: bool


@dataclass
class Stage:
    """See the module's text."""

    scale: Scale
    seed: int
    rng: random.Random
    ledger: Ledger
    backends: Sequence[Backend]
    setup: Setup
    process: Process
    watch: Watch
    checks: list[Check] = field(default_factory=list)
    figures: dict[str, str] = field(default_factory=dict)
    loads: list[Load] = field(default_factory=list)

    @property
    def backend(self) -> Backend:
        """The first one."""
        return self.backends[0]

    # -- what is found -----------------------------------------------------------------------------------------------

    def check(self, what: str, holds: bool) -> None:
        """Write down whether it is so."""
        self.checks.append(Check(what, holds))

    def figure(self, name: str, value: object) -> None:
        """Write down a number."""
        self.figures[name] = (
            f"{value:,.1f}" if isinstance(value, float) else f"{value:,}" if isinstance(value, int) else str(value)
        )

    # -- load --------------------------------------------------------------------------------------------------------

    @asynccontextmanager
    async def load(
        self, *, share: float = 1.0, times: Times = plausible, agents: float = 0.5, spans_per_request: int = 40
    ) -> AsyncIterator[Load]:
        """Send meanwhile; in the end all of it is acknowledged. `share` of the scale's pace."""
        traffic = Traffic(self.rng.randrange(1 << 30), agents=agents, spans_per_request=spans_per_request, times=times)
        load = Load(
            self.ledger,
            traffic,
            self.process.ports.grpc,
            self.process.ports.http,
            spans_per_s=self.scale.spans_per_s * share,
            seed=self.rng.randrange(1 << 30),
        )
        self.loads.append(load)
        async with load:
            yield load

    async def restart_killed(self) -> None:
        """Kill it, and start it again."""
        await self.kill()
        await self.process.start()

    async def kill(self) -> None:
        """Kill it."""
        with self.ledger.trouble("killed"):
            await self.process.kill()

    # -- waiting -----------------------------------------------------------------------------------------------------

    async def everything_arrived(self, *backends: Backend) -> bool:
        """Wait until all that is acknowledged has arrived (everywhere, or at these); False if it takes too long."""
        deadline_s = time.monotonic() + ARRIVES_WITHIN_S
        for backend in backends or self.backends:
            while self.ledger.missing(backend.name):
                if time.monotonic() > deadline_s or not self.process.is_running:
                    return False
                await asyncio.sleep(0.2)
        return True

    async def until(self, condition: Callable[[accounts.Samples], bool], within_s: float = ARRIVES_WITHIN_S) -> bool:
        """Wait until metrics say so; False if it takes too long."""
        deadline_s = time.monotonic() + within_s
        while time.monotonic() < deadline_s:
            samples = await self.process.scrape()
            if samples is not None and condition(samples):
                return True
            await asyncio.sleep(0.2)
        return False

    # -- the end -----------------------------------------------------------------------------------------------------

    async def conclude(self, *, even_copies: bool = True, explained: bool = True) -> None:
        """Hold everything to the promises of the module's text."""
        await self.everything_arrived()
        is_idle = await self.until(
            lambda samples: (
                not accounts.total(samples, "processor_held_spans") + accounts.total(samples, "exporter_queue_spans")
            )
        )
        self.check("nothing is held or queued in the end", is_idle)
        self.check("SIGTERM ends it with exit code 0", await self.process.stop() == 0)
        orphans = await self.process.orphans()
        self.check(f"no process was left behind: {len(orphans)} were", not orphans)
        self.check("its log tells of no fault", not any(word in self.process.log for word in _HURT))
        for backend in self.backends:
            found = self.ledger.findings(backend.name)
            where = f" at {backend.name}" if len(self.backends) > 1 else ""
            self.check(f"everything acknowledged arrived{where}: {len(found.missing)} missing", not found.missing)
            self.check(f"bytes are as they were sent{where}: {found.changed} changed", not found.changed)
            if explained:
                self.check(f"what came twice had a reason{where}: {found.unexplained} without", not found.unexplained)
            if even_copies:
                self.check(f"all copies are alike: {found.uneven} differ", not found.uneven)
            repeats = ", ".join(f"{count:,} {why}" for why, count in found.repeats.items())
            total = sum(found.repeats.values()) + found.unexplained
            self.figure(
                f"arrived{where}",
                f"{found.acknowledged - len(found.missing):,} of {found.acknowledged:,} acknowledged spans",
            )
            self.figure(
                f"twice{where}",
                f"{total:,} ({total / max(found.acknowledged, 1):.2%})" + (f": {repeats}" if repeats else ""),
            )
            self.figure("with scores", found.scored)
            if found.missing:
                self.figure(
                    f"missing{where}", ", ".join(f"{trace.hex()}/{span.hex()}" for trace, span in found.missing[:5])
                )
        self.check(
            f"the account was even in all {self.watch.scrapes} scrapes: {len(self.watch.uneven)} not",
            not self.watch.uneven,
        )
        if self.watch.uneven:
            self.figure("off by", ", ".join(f"{off:g}" for off in self.watch.uneven[:10]))
        for_good = [words for load in self.loads for words in load.refused_for_good]
        self.check(f"no sender was told to drop anything: {len(for_good)} were {for_good[:2] or ''}", not for_good)
        undated = sum(load.undated for load in self.loads)
        self.check(f"every refusal over HTTP said when to come again: {undated} didn't", not undated)
        refusals = (
            sum((load.refusals for load in self.loads), start=type(self.loads[0].refusals)()) if self.loads else {}
        )
        self.figure(
            "requests",
            f"{sum(load.requests for load in self.loads):,}, sent again after: {_told(refusals) or 'nothing'}",
        )
        self.figure("memory", f"{self.watch.highest_rss_mib():.0f} MiB at most")


def _told(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {what}" for what, count in sorted(counts.items()))


@asynccontextmanager
async def stage(
    folder: Path,
    scale: Scale,
    seed: int,
    *,
    destinations: Sequence[Destination] = (Destination("backend", 0),),
    environment: Mapping[str, str] | None = None,
    **setup: object,
) -> AsyncIterator[Stage]:
    """Set it up, with a sidecar that runs. Ports of destinations are those of backends of their names."""
    ledger = Ledger()
    async with AsyncExitStack() as stack:
        backends = []
        placed = []
        for number, one in enumerate(destinations):
            backend = Backend(one.name, ledger, seed + number)
            await stack.enter_async_context(backend.running())
            backends.append(backend)
            line = backend.grpc_line if one.over == "grpc" else backend.http_line
            placed.append(replace(one, port=line.port))
        wanted = Setup(placed, **setup)  # type: ignore[arg-type]
        process = Process(folder, wanted, environment)
        stack.push_async_callback(process.close)
        await process.start()
        watch = await stack.enter_async_context(watching(process, [one.exporter for one in placed]))
        yield Stage(scale, seed, random.Random(seed), ledger, backends, wanted, process, watch)
