"""A thread that prints, so that a terminal or pipe that stands still delays nobody.

In goes work that may block, out comes its end, to be awaited.  The thread is a daemon, and text is written to the file
descriptor itself: no lock of Python's own streams is held while it blocks, so the process can end all the same.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import queue
import threading
from collections.abc import Callable
from dataclasses import dataclass

STANDARD_OUTPUT_FD = 1


@dataclass(frozen=True, slots=True)
class _Work:
    do: Callable[[], None]
    loop: asyncio.AbstractEventLoop
    done: asyncio.Future[None]


class PrintingThread:
    """Does one piece of work after the other."""

    def __init__(self) -> None:
        self._waiting: queue.SimpleQueue[_Work | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None

    async def run(self, do: Callable[[], None]) -> None:
        """Have it done and wait for the end; raises what `do` raises. When cancelled, it is done all the same."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._work, name="printing", daemon=True)
            self._thread.start()
        loop = asyncio.get_running_loop()
        done: asyncio.Future[None] = loop.create_future()
        self._waiting.put(_Work(do, loop, done))
        await done

    def stop(self) -> None:
        """End the thread once it has done what it was given."""
        self._waiting.put(None)
        self._thread = None

    def _work(self) -> None:
        while (work := self._waiting.get()) is not None:
            error: Exception | None = None
            try:
                work.do()
            except Exception as raised:
                error = raised
            # The loop is closed if nobody waits any more.
            with contextlib.suppress(RuntimeError):
                work.loop.call_soon_threadsafe(_settle, work.done, error)


def _settle(done: asyncio.Future[None], error: Exception | None) -> None:
    if done.done():
        return
    if error is None:
        done.set_result(None)
    else:
        done.set_exception(error)


def write_to_standard_output(text: str, encoding: str) -> None:
    """Write all of it. Blocks as long as whoever reads doesn't; raises OSError when nobody does any more."""
    left = memoryview(text.encode(encoding, "replace"))
    while left:
        left = left[os.write(STANDARD_OUTPUT_FD, left) :]
