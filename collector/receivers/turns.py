"""Who may receive a message now, where each may fill memory and only so many may at a time.

A sender that begins a message and doesn't go on with it keeps its turn.  While nobody waits it may, for long; as soon
as others wait, those that have had their turn for longer than a while lose it.  So nobody can keep others out by doing
nothing, and a slow sender is only in trouble where there are many.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

T = TypeVar("T")


class Turns:
    """Turns for so many at a time.

    Args:
        at_once: how many.
        undisturbed_s: how long a turn lasts even if others wait.
        longest_s: how long waiting and turn together last at most.
    """

    def __init__(self, at_once: int, undisturbed_s: float, longest_s: float) -> None:
        self._free = asyncio.Semaphore(at_once)
        self._undisturbed_s = undisturbed_s
        self._longest_s = longest_s
        self._waiting = 0
        self._begun: dict[asyncio.Timeout, float] = {}  # in the order in which they began

    async def take(self, receive: Callable[[], Awaitable[T]]) -> T:
        """What is received in a turn; raises TimeoutError when it was over before."""
        async with asyncio.timeout(self._longest_s) as deadline:
            if self._free.locked():
                await self._wait()
            else:
                await self._free.acquire()
            self._begun[deadline] = asyncio.get_running_loop().time()
            if self._waiting:
                self._hurry()
            try:
                return await receive()
            finally:
                del self._begun[deadline]
                self._free.release()

    async def _wait(self) -> None:
        self._waiting += 1
        try:
            self._hurry()
            await self._free.acquire()
        finally:
            self._waiting -= 1

    def _hurry(self) -> None:
        """End, as soon as may be, as many of the oldest turns as there are others waiting."""
        now_s = asyncio.get_running_loop().time()
        for deadline, begun_s in list(self._begun.items())[: self._waiting]:
            due_s = max(begun_s + self._undisturbed_s, now_s)
            when_s = deadline.when()
            if not deadline.expired() and (when_s is None or when_s > due_s):
                deadline.reschedule(due_s)
