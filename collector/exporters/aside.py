"""What fails while everything else gets through: taken aside, narrowed down, and tried slowly.

A destination may answer 500 to one span for ever, or even fall over it.  OTLP has clients drop such data; but a 500 may
also pass, with a repair of the destination.  So a batch that fails while others get through leaves the consumers to the
others.  Here it is cut in halves, again only while others get through, until what passes has passed and single items
are left; these are tried at growing intervals, up to minutes apart, for as long as it takes.

At most one attempt of these is under way at a time, whatever their number.  They stay part of their destination's
queue, which counts and limits them.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass

from collector.exporters.attempts import Attempts
from collector.exporters.batch import Batch, halves_of
from collector.exporters.sender import (
    FaultyError,
    MisconfiguredError,
    RejectedDataError,
    RetryableError,
    SendError,
    TooLargeError,
)
from collector.logs import RateLimited

REQUESTS_ASIDE = 100
LONGEST_PAUSE_S = 300.0
PAUSE_GROWTH = 2.0
HURRIED_PAUSE_S = 0.5
# A destination that asks for more than this is asked again all the same.
MAX_RETRY_AFTER_S = 300.0
# A service that says that it failed on a piece, and not only that it is down, says so this often before it is cut.
FAULTS = 3

_log = RateLimited(logging.getLogger(__name__))


@dataclass(slots=True)
class _Piece:
    """Part of a batch.

    Attributes:
        due_s: not to be tried before.
        pause_s: the wait after the next failure.
        successes: how many requests had got through when this was made.
        faults: how often the destination failed on it.
    """

    batch: Batch
    due_s: float
    pause_s: float
    successes: int
    faults: int = 0


class Aside:
    """The place apart of one destination.

    Args:
        destination: id of the exporter.
        attempts: makes them.
        bury: writes what the destination calls bad to the dead-letter file.
        first_pause_s: between the first attempts with a piece.
        random, clock: for jitter, and seconds of a monotonic clock.
    """

    def __init__(
        self,
        destination: str,
        attempts: Attempts,
        bury: Callable[[Batch, SendError], Awaitable[None]],
        first_pause_s: float,
        random: Callable[[], float],
        clock: Callable[[], float],
    ) -> None:
        self._destination = destination
        self._attempts = attempts
        self._bury = bury
        self._first_pause_s = first_pause_s
        self._random = random
        self._clock = clock
        self._one_at_a_time = asyncio.Semaphore()
        self._inside = 0

    def __len__(self) -> int:
        """How many batches are aside."""
        return self._inside

    def has_room(self) -> bool:
        """Whether one more may be taken aside."""
        return self._inside < REQUESTS_ASIDE

    async def finish(self, batches: Iterable[Batch], gives_up: Callable[[], bool]) -> None:
        """Return when every item of the batches has found its end.

        Args:
            batches: what is left of one delivery.
            gives_up: whether its time to be tried is over.
        """
        self._inside += 1
        try:
            now_s = self._clock()
            waiting = [_Piece(batch, now_s, self._first_pause_s, -1) for batch in batches]
            while waiting:
                piece = min(waiting, key=lambda one: one.due_s)
                waiting.remove(piece)
                waiting += await self._go_on(piece, gives_up)
        finally:
            self._inside -= 1

    async def _go_on(self, piece: _Piece, gives_up: Callable[[], bool]) -> list[_Piece]:
        """Try a piece when it is due; what is left of it then."""
        wait_s = piece.due_s - self._clock()
        if wait_s > 0:
            await self._attempts.end(wait_s)
            if self._attempts.hurried:
                await asyncio.sleep(max(min(piece.due_s - self._clock(), HURRIED_PAUSE_S), 0.0))
        async with self._one_at_a_time:
            failure = await self._attempts.once(piece.batch)
        if failure is None:
            return []
        refused = isinstance(failure, TooLargeError | RejectedDataError)
        piece.faults += isinstance(failure, FaultyError)
        others_pass = self._attempts.successes > piece.successes
        if refused or others_pass or piece.faults >= FAULTS:
            now_s, successes = self._clock(), self._attempts.successes
            halves = await halves_of(piece.batch)
            if halves:
                return [_Piece(half, now_s, self._first_pause_s, successes) for half in halves]
        if refused or gives_up():
            await self._bury(piece.batch, failure)
            return []
        return [self._later(piece, failure)]

    def _later(self, piece: _Piece, failure: SendError) -> _Piece:
        asked_s = (failure.retry_after_s or 0.0) if isinstance(failure, RetryableError) else 0.0
        pause_s = piece.pause_s * (0.5 + self._random())
        piece.due_s = self._clock() + max(pause_s, min(asked_s, MAX_RETRY_AFTER_S))
        piece.pause_s = min(piece.pause_s * PAUSE_GROWTH, LONGEST_PAUSE_S)
        if isinstance(failure, MisconfiguredError | RetryableError):
            _log.error(
                "%s: the destination fails on a request of %d %s again and again while others get through; "
                "it is kept and tried slowly: %s",
                *(self._destination, piece.batch.items, piece.batch.signal, failure),
            )
        return piece
