"""One batch to one destination: attempt after attempt until every item of it has found its end.

Delivered, rejected by the destination, in the dead-letter file, or of a signal the destination doesn't take: nothing
else ends a delivery but its cancellation.  What is too large, or bad, is cut in halves until the one item is found
that can't be taken.

As long as other batches get through, a batch that failed is tried again soon: then the destination is alive, and
only a destination that answers nobody is left alone for longer and longer.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from collector.exporters.backoff import Backoff
from collector.exporters.dead_letters import DeadLetterFile
from collector.exporters.sender import (
    MisconfiguredError,
    RejectedDataError,
    RetryableError,
    Sender,
    SendError,
    TooLargeError,
    UnsupportedSignalError,
)
from collector.exporters.settings import RetrySettings
from collector.exporters.splitting import halve
from collector.logs import RateLimited
from collector.records import Signal
from collector.telemetry import ExporterMetrics

# A destination that refuses our credentials is asked again, but not hammered.
MISCONFIGURED_WAIT_S = 60.0
# While draining, waits are short: what doesn't get through before the deadline stays.
DRAIN_WAIT_S = 0.5
DISK_WAIT_S = 2.0
# A batch that fails this often while that many others get through may hold one item that the destination chokes on
# without saying so: its halves go separate ways.
SUSPECT_AFTER = 6
OTHERS_PASSED = 3
# Cutting before trying must not add more than this: where most of a request is what its items share, it is in vain.
WORTH_CUTTING = 1.5
# One refusal of something small must not lead to one request per span.
LEAST_LIMIT_BYTES = 16 << 10
# A destination that asks for more than this is asked again all the same.
MAX_RETRY_AFTER_S = 300.0

_log = RateLimited(logging.getLogger(__name__))


@dataclass(frozen=True, slots=True)
class Batch:
    """A request to deliver. `items` counts spans, log records or data points."""

    signal: Signal
    request: bytes
    items: int
    headers: Mapping[str, str]


class Delivery:
    """Delivers batches to one destination. One object serves any number of batches at once.

    Args:
        destination: id of the exporter.
        sender: makes the attempts.
        retry: when to try again.
        max_request_bytes: larger requests are cut before they are tried, as far as they can be.
        dead_letters: takes what can never be delivered.
        metrics: counts what happens.
        random, clock: for jitter and elapsed time.
    """

    def __init__(
        self,
        destination: str,
        sender: Sender,
        retry: RetrySettings,
        max_request_bytes: int,
        dead_letters: DeadLetterFile,
        metrics: ExporterMetrics,
        random: Callable[[], float],
        clock: Callable[[], float],
    ) -> None:
        self._destination = destination
        self._sender = sender
        self._retry = retry
        self._max_request_bytes = max_request_bytes
        self._dead_letters = dead_letters
        self._metrics = metrics
        self._random = random
        self._clock = clock
        self._draining = False
        self._successes = 0
        # Set, and replaced, when waiting may have become pointless: something got through, or the end is near.
        self._news = asyncio.Event()
        self._switched_off: set[Signal] = set()

    def takes(self, signal: Signal) -> bool:
        """Whether the destination hasn't said yet that it doesn't take this signal."""
        return signal not in self._switched_off

    def hurry(self) -> None:
        """From now on wait only as long as the destination itself asks for."""
        self._draining = True
        self._tell()

    def _tell(self) -> None:
        self._news.set()
        self._news = asyncio.Event()

    async def deliver(self, batch: Batch) -> None:
        """Return when every item of the batch has found its end."""
        since_s = self._clock()
        waiting = deque([batch])
        while waiting:
            await self._settle(waiting.popleft(), since_s, waiting)

    async def _settle(self, batch: Batch, since_s: float, waiting: deque[Batch]) -> None:
        """Bring a batch to its end, or put what has to be brought to its end into `waiting`: its halves, or itself.

        Halves come before what waits already, so that few of them are there at a time: each has the whole of what its
        items share, such as a resource that is large.
        """
        if len(batch.request) > self._max_request_bytes:
            halves = await self._halve(batch)
            if halves and sum(len(half.request) for half in halves) <= WORTH_CUTTING * len(batch.request):
                waiting.extendleft(reversed(halves))
                return
        backoff = Backoff(self._retry, self._random)
        failures, successes = 0, self._successes
        while self.takes(batch.signal):
            try:
                rejected = await self._sender.send(batch.signal, batch.request, batch.headers)
            except SendError as error:
                self._metrics.send_failed(batch.signal, batch.items)
                failure = error
            else:
                rejected = min(rejected, batch.items)
                self._metrics.rejected(batch.signal, rejected)
                self._metrics.sent(batch.signal, batch.items - rejected)
                self._successes += 1
                self._tell()
                return
            if isinstance(failure, UnsupportedSignalError):
                self._switched_off.add(batch.signal)
                _log.error("%s: %s is switched off for this destination: %s", self._destination, batch.signal, failure)
                break
            if isinstance(failure, TooLargeError):
                self._learn_limit(len(batch.request))
            if isinstance(failure, TooLargeError | RejectedDataError):
                waiting.extendleft(reversed(await self._narrow(batch, failure)))
                return
            if self._gives_up(since_s):
                await self._bury(batch, f"given up after retry_on_failure: {failure}")
                return
            failures += 1
            if failures >= SUSPECT_AFTER and self._successes - successes >= OTHERS_PASSED:
                waiting.extend(await self._halve(batch) or (batch,))
                return
            await self._wait(failure, backoff)
            self._metrics.retried()
        self._metrics.unsupported(batch.signal, batch.items)

    def _gives_up(self, since_s: float) -> bool:
        if not self._retry.enabled:
            return True
        limit_s = self._retry.max_elapsed_time
        return limit_s > 0 and self._clock() - since_s >= limit_s

    def _learn_limit(self, refused_bytes: int) -> None:
        """Cut what comes from now on before it is sent, instead of sending it in vain."""
        if refused_bytes <= LEAST_LIMIT_BYTES:
            return  # something about this one request was too large, and it tells nothing of others
        limit_bytes = max(refused_bytes // 2, LEAST_LIMIT_BYTES)
        if limit_bytes < self._max_request_bytes:
            self._max_request_bytes = limit_bytes
            _log.warning("%s: refused %d bytes as too large; cutting requests", self._destination, refused_bytes)

    async def _narrow(self, batch: Batch, failure: SendError) -> tuple[Batch, ...]:
        halves = await self._halve(batch)
        if not halves:
            await self._bury(batch, str(failure))
        return halves

    async def _halve(self, batch: Batch) -> tuple[Batch, ...]:
        # Cutting a large request takes milliseconds that the loop has other use for.
        requests = await asyncio.to_thread(halve, batch.request)
        if requests is None:
            return ()
        # Data points of metrics stay with their metric, so there the counts of the halves are only about right.
        first_items = batch.items // 2
        counts = (first_items, batch.items - first_items)
        return tuple(
            Batch(batch.signal, request, items, batch.headers) for request, items in zip(requests, counts, strict=True)
        )

    async def _bury(self, batch: Batch, reason: str) -> None:
        while True:
            try:
                await asyncio.to_thread(
                    self._dead_letters.append, batch.signal, batch.request, batch.items, reason, batch.headers
                )
            except OSError as error:
                _log.error(
                    "%s: can't write the dead-letter file %s (%s); keeping what should go there",
                    self._destination,
                    self._dead_letters.path,
                    error.strerror,
                )
                await asyncio.sleep(DISK_WAIT_S)
                continue
            self._metrics.dead_lettered(batch.signal, batch.items)
            _log.warning("%s: wrote to %s: %s", self._destination, self._dead_letters.path, reason)
            return

    async def _wait(self, failure: SendError, backoff: Backoff) -> None:
        backoff_s, asked_s = backoff.next_s(), 0.0
        if isinstance(failure, MisconfiguredError):
            backoff_s = max(backoff_s, MISCONFIGURED_WAIT_S)
            _log.error(
                "%s: the destination can't be used as configured; keeping everything and trying again: %s",
                self._destination,
                failure,
            )
        else:
            _log.warning("%s: %s; trying again", self._destination, failure)
        if isinstance(failure, RetryableError):
            asked_s = min(failure.retry_after_s or 0.0, MAX_RETRY_AFTER_S)
        now_s, successes = self._clock(), self._successes
        not_before_s, until_s = now_s + asked_s, now_s + max(backoff_s, asked_s)
        if not self._draining:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(until_s - now_s):
                    await self._news.wait()
        if self._successes != successes:
            backoff.reset()
        # Whoever was woken comes a little later than the others that were, never later than without being woken.
        longest_s = DRAIN_WAIT_S if self._draining else self._retry.initial_interval
        pause_s = min(self._random() * longest_s, until_s - self._clock())
        await asyncio.sleep(max(pause_s, not_before_s - self._clock(), 0.0))
