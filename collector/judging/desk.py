"""Where jobs are handed in: to the judging process that there is now, whatever plan it was started with.

A process with another plan takes over at once; the one before finishes what it has begun, and after a while what it
hasn't finished is begun anew by its successor.  So a change of plan costs no job its result.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import NamedTuple

from collector.judging.jobs import JobSource
from collector.judging.process import JudgingProcess

# How long a process that was replaced may work on what it has begun, and how many of them may at a time.
FINISHING_S = 60.0
MAX_FINISHING = 2


class _Finishing(NamedTuple):
    """A process that was replaced: the task that ends it, and the way to make it end now."""

    task: asyncio.Task[None]
    hurry: asyncio.Event


class JudgingDesk:
    """See the module's text. It is the assembler's `Desk`.

    Args:
        plan: what to judge with.
        make: makes the process for a plan; it isn't started yet.
        submitted: told of each job that is handed in.
    """

    def __init__(
        self,
        plan: object,
        make: Callable[[object], JudgingProcess],
        submitted: Callable[[JobSource], None] = lambda _: None,
    ) -> None:
        self._make = make
        self._submitted = submitted
        self._current = make(plan)
        self._finishing: dict[JudgingProcess, _Finishing] = {}

    async def start(self) -> None:
        """Start the process; jobs may be submitted before it is up."""
        await self._current.start()

    def submit(self, job: JobSource) -> None:
        """See `collector.holding.contract.Desk`."""
        self._submitted(job)
        self._current.submit(job)

    def withdraw(self, trace_id: bytes) -> bool:
        """See `collector.holding.contract.Desk`."""
        # What a process before this one had and hadn't begun was handed over.
        return self._current.withdraw(trace_id)

    def place_of(self, trace_id: bytes) -> str | None:
        """Where a trace's job is: in the `queue`, with the `rules`, or waiting for a `judge`; None if there is none."""
        places = (process.place_of(trace_id) for process in (self._current, *self._finishing))
        return next((place for place in places if place is not None), None)

    def pids(self) -> list[int]:
        """The numbers of the processes that judge, as the system knows them."""
        return [process.pid for process in (self._current, *self._finishing) if process.pid is not None]

    async def switch(self, plan: object) -> None:
        """Judge by another plan from now on."""
        old, self._current = self._current, self._make(plan)
        await self._current.start()
        self._take_over(old.give_back())
        while len(self._finishing) >= MAX_FINISHING:
            await self._end(next(iter(self._finishing)))
        hurry = asyncio.Event()
        task = asyncio.create_task(self._finish(old, hurry), name="judging process that was replaced")
        self._finishing[old] = _Finishing(task, hurry)

    def _take_over(self, jobs: list[JobSource]) -> None:
        for job in jobs:
            self._current.submit(job)

    async def _finish(self, process: JudgingProcess, hurry: asyncio.Event) -> None:
        ends = [asyncio.create_task(process.idle()), asyncio.create_task(hurry.wait())]
        await asyncio.wait(ends, timeout=FINISHING_S, return_when=asyncio.FIRST_COMPLETED)
        for one in ends:
            one.cancel()
        left = await process.end()
        del self._finishing[process]
        self._take_over(left)

    async def _end(self, process: JudgingProcess) -> None:
        """Don't wait for a process any longer."""
        finishing = self._finishing[process]
        finishing.hurry.set()
        await finishing.task

    def wind_down(self) -> None:
        """Let no judge be asked any more; what is under way may still be answered."""
        for process in (self._current, *self._finishing):
            process.wind_down()

    async def idle(self) -> None:
        """Wait until every job has its result."""
        while self._finishing:
            tasks = [finishing.task for finishing in self._finishing.values()]
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        await self._current.idle()

    async def stop(self) -> None:
        """End all processes, which may take a second. Jobs without a result get one that says so."""
        for process in list(self._finishing):
            await self._end(process)
        await self._current.stop()
