"""Equal questions at the same time are asked once: whoever comes second waits for the first.

In: keys.  Out: who asks, and for the others the answer or that there was none.  An answer that failed isn't handed on:
those who waited then ask for themselves.
"""

from __future__ import annotations

import asyncio

from evaluators.judge.cache.answer_cache import Kept


class Flights:
    """The questions that are being asked."""

    def __init__(self) -> None:
        self._under_way: dict[bytes, asyncio.Future[Kept | None]] = {}

    def join(self, key: bytes) -> asyncio.Future[Kept | None] | None:
        """The answer that somebody else is asking for; None if that is left to the caller, who has to `land` it."""
        under_way = self._under_way.get(key)
        if under_way is None:
            self._under_way[key] = asyncio.get_running_loop().create_future()
        return under_way

    def land(self, key: bytes, kept: Kept | None) -> None:
        """What came of a question; only the first word on it counts."""
        under_way = self._under_way.pop(key, None)
        if under_way is not None and not under_way.done():
            under_way.set_result(kept)
