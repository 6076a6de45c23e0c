"""Asks only what isn't known: answers that are kept first, then what others are asking just now, then the model.

In: keys of questions, how an answer that was kept is read, and how the rest is asked.  Out: one answer per question, in
order.  Failures are never handed on: whoever waited for one asks for himself.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence

from evaluators.judge.cache.answer_cache import AnswerCache, Kept
from evaluators.judge.cache.flights import Flights
from evaluators.judge.limits.clock import Clock
from evaluators.judge.question import Answer

Known = Callable[[int, Kept], Answer | None]
"""Reads what is kept of the question at a place; None if it is no valid answer to it."""
Ask = Callable[[list[int]], Awaitable[list[tuple[Answer, Kept | None]]]]
"""Asks the model the questions at these places."""


class Remembering:
    """The memory of one judge.

    Args:
        cache: where answers are kept.
        clock: the time.
    """

    def __init__(self, cache: AnswerCache, clock: Clock) -> None:
        self._cache = cache
        self._clock = clock
        self._flights = Flights()

    def close(self) -> None:
        """Close the file."""
        self._cache.close()

    async def answers(self, keys: Sequence[bytes], known: Known, ask: Ask) -> list[Answer]:
        """One answer per key, in order."""
        found: dict[int, Answer] = {}
        left = list(range(len(keys)))
        while left:
            for place in left:
                kept = self._cache.get(keys[place], self._clock.wall_s())
                if kept is not None and (answer := known(place, kept)) is not None:
                    found[place] = answer
            left = [place for place in left if place not in found]
            joined = {place: self._flights.join(keys[place]) for place in left}
            await self._ask([place for place, other in joined.items() if other is None], keys, ask, found)
            for place, other in joined.items():
                if other is not None:
                    # Waits without ending the other's question when this one is given up.
                    await asyncio.wait((other,))
                    kept = other.result()
                    if kept is not None and (answer := known(place, kept)) is not None:
                        found[place] = answer
            left = [place for place in left if place not in found]
        return [found[place] for place in range(len(keys))]

    async def _ask(self, places: list[int], keys: Sequence[bytes], ask: Ask, found: dict[int, Answer]) -> None:
        if not places:
            return
        try:
            for place, (answer, kept) in zip(places, await ask(places), strict=True):
                found[place] = answer
                if kept is not None:
                    self._cache.put(keys[place], kept, self._clock.wall_s())
                self._flights.land(keys[place], kept)
        finally:
            for place in places:
                self._flights.land(keys[place], None)
