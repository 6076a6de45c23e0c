"""The one thread that writes: what came while it was writing and syncing goes together into the next group.

In: records and tasks, from the event loop, in their order.  Out: what became of them, told on the event loop.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import Callable, Sequence
from queue import Empty, SimpleQueue

from collector.journal.errors import JournalWriteError
from collector.journal.storage import GROUP_BYTES, RETRY_S, Append, Closed, Outcome, Storage

_log = logging.getLogger(__name__)

Told = Callable[[Sequence[tuple[Append, Outcome]], Sequence[Closed]], None]
Task = Callable[[Storage], Callable[[], None]]
"""What is done in the thread; what it returns is called on the event loop."""


class Writer:
    """See the module's text.

    Args:
        storage: the files; nobody else writes to them while this runs.
        told: called on the event loop for each group of records that was dealt with.
        wrote: called in the thread with the seconds that each group took, syncing included.
    """

    def __init__(self, storage: Storage, told: Told, wrote: Callable[[float], None] = lambda _: None) -> None:
        self._storage = storage
        self._told = told
        self._wrote = wrote
        self._queue: SimpleQueue[Append | Task | None] = SimpleQueue()
        self._loop = asyncio.get_running_loop()
        self._thread = threading.Thread(target=self._run, name="journal", daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def submit(self, work: Append | Task) -> None:
        """Have a record written, or something done after everything that was submitted before."""
        self._queue.put(work)

    async def stop(self) -> None:
        """Do what was submitted, then end."""
        self._queue.put(None)
        await asyncio.to_thread(self._thread.join)

    def _run(self) -> None:
        while True:
            records, other = self._take()
            if records:
                self._write(records)
            if other is None:
                return
            for task in other:
                self._do(task)
            # After those who wait for an answer have it.
            self._storage.prepare()

    def _take(self) -> tuple[list[Append], list[Task] | None]:
        """Records of one group, or up to the next task, and the task; None for the end."""
        records: list[Append] = []
        left_bytes = GROUP_BYTES
        try:
            work = self._queue.get(timeout=None if self._storage.is_ready else RETRY_S)
            while True:
                if not isinstance(work, Append):
                    return records, None if work is None else [work]
                records.append(work)
                left_bytes -= work.size_bytes
                if left_bytes < 0:
                    return records, []
                work = self._queue.get_nowait()
        except Empty:
            return records, []

    def _write(self, records: Sequence[Append]) -> None:
        begun_s = time.monotonic()
        try:
            outcomes = self._storage.write(records)
        except Exception as error:
            # Whoever waits must have an answer, and the thread must go on.
            _log.exception("records could not be written")
            outcomes = [JournalWriteError(f"the journal failed ({type(error).__name__}); try again later")] * len(
                records
            )
        self._wrote(time.monotonic() - begun_s)
        self._loop.call_soon_threadsafe(self._told, list(zip(records, outcomes, strict=True)), self._storage.closed())

    def _do(self, task: Task) -> None:
        try:
            then = task(self._storage)
        except Exception:
            _log.exception("the journal could not be tidied")
            return
        closed = self._storage.closed()
        if closed:
            self._loop.call_soon_threadsafe(self._told, (), closed)
        self._loop.call_soon_threadsafe(then)
