"""One batch to one destination: attempt after attempt until every item of it has found its end.

Delivered, rejected by the destination, in the dead-letter file, or of a signal the destination doesn't take: nothing
else ends a delivery but its cancellation.  What is too large, or bad, is cut in halves until the one item is found
that can't be taken.

As long as other batches get through, a batch that failed is tried again soon: then the destination is alive, and
only a destination that answers nobody is left alone for longer and longer.  What fails again and again although
others get through is taken aside (`collector.exporters.aside`), so that it holds no consumer.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable

from collector.exporters.aside import MAX_RETRY_AFTER_S, Aside
from collector.exporters.attempts import Attempts, Refused
from collector.exporters.backoff import Backoff
from collector.exporters.batch import Batch, halves_of
from collector.exporters.dead_letters import DeadLetterFile
from collector.exporters.sender import (
    FaultyError,
    MisconfiguredError,
    RejectedDataError,
    RetryableError,
    Sender,
    SendError,
    TooLargeError,
)
from collector.exporters.settings import RetrySettings
from collector.logs import RateLimited
from collector.records import Signal
from collector.telemetry import ExporterMetrics

# A destination that refuses our credentials is asked again, but not hammered.
MISCONFIGURED_WAIT_S = 60.0
# While draining, waits are short: what doesn't get through before the deadline stays.
DRAIN_WAIT_S = 0.5
DISK_WAIT_S = 2.0
# A batch that fails this often while that many others get through may hold one item that the destination chokes on
# without saying so.
SUSPECT_AFTER = 6
OTHERS_PASSED = 3
# When all consumers are held by failing batches, others are let in at least so far apart.
PROBE_PAUSE_S = 10.0
# Cutting before trying must not add more than this: where most of a request is what its items share, it is in vain.
WORTH_CUTTING = 1.5
# One refusal of something small must not lead to one request per span.
LEAST_LIMIT_BYTES = 16 << 10

_log = RateLimited(logging.getLogger(__name__))


def _keep_the_consumer() -> None:
    pass


def _nobody_is_told(signal: Signal, request: bytes, how: str) -> None:
    pass


class _Consumer:
    """The consumer that a delivery holds, until it leaves it to others."""

    def __init__(self, leave: Callable[[], None]) -> None:
        self.held = True
        self._leave = leave

    def leave(self) -> None:
        if self.held:
            self.held = False
            self._leave()


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
        refused: told the signal, the request, and `dead_lettered` of what went to the dead-letter file, or `rejected`
            of requests of which the destination rejected items.
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
        refused: Refused = _nobody_is_told,
    ) -> None:
        self._destination = destination
        self._retry = retry
        self._max_request_bytes = max_request_bytes
        self._dead_letters = dead_letters
        self._metrics = metrics
        self._random = random
        self._clock = clock
        self._tell_refused = refused
        self._attempts = Attempts(destination, sender, metrics, clock, refused)
        self._aside = Aside(destination, self._attempts, self._refused, retry.initial_interval, random, clock)
        # The number of successes since which others were let in, when that happens again, and how long after that.
        self._probed_at, self._next_probe_s, self._probe_pause_s = -1, 0.0, PROBE_PAUSE_S
        metrics.observe_aside(self._aside.__len__)
        metrics.observe_dead_letters(dead_letters.size_bytes, dead_letters.max_size_bytes)

    def takes(self, signal: Signal) -> bool:
        """Whether the destination takes this signal, as far as is known; now and then it is asked anew."""
        return self._attempts.takes(signal)

    def ended(self, signal: Signal) -> int:
        """How many items have found their end while others of their delivery haven't."""
        return self._attempts.ended[signal]

    def hurry(self) -> None:
        """From now on wait only as long as the destination itself asks for."""
        self._attempts.hurry()

    async def deliver(self, batch: Batch, step_aside: Callable[[], None] = _keep_the_consumer) -> None:
        """Return when every item of the batch has found its end.

        Args:
            batch: what to deliver.
            step_aside: called at most once, when the rest of the batch goes on without needing a consumer.
        """
        since_s = self._clock()

        def gives_up() -> bool:
            limit_s = self._retry.max_elapsed_time
            return not self._retry.enabled or (limit_s > 0 and self._clock() - since_s >= limit_s)

        waiting, backoff, consumer = deque([batch]), Backoff(self._retry, self._random), _Consumer(step_aside)
        try:
            while waiting and await self._settle(waiting, backoff, gives_up, consumer):
                pass
            if waiting:
                consumer.leave()
                await self._aside.finish(waiting, gives_up)
        except BaseException:
            # What was cancelled, or failed by a fault of ours, is delivered again as a whole.
            if batch.ended.items:
                self._metrics.repeated(batch.signal, batch.ended.items)
            raise
        finally:
            self._attempts.ended[batch.signal] -= batch.ended.items

    async def _settle(
        self,
        waiting: deque[Batch],
        backoff: Backoff,
        gives_up: Callable[[], bool],
        consumer: _Consumer,
    ) -> bool:
        """Bring the first batch to its end, or replace it by its halves. False: it belongs aside, and still waits.

        Halves come before what waits already, so that few of them are there at a time: each has the whole of what its
        items share, such as a resource that is large.
        """
        batch = waiting.popleft()
        if len(batch.request) > self._max_request_bytes:
            halves = await halves_of(batch)
            if halves and sum(len(half.request) for half in halves) <= WORTH_CUTTING * len(batch.request):
                waiting.extendleft(reversed(halves))
                return True
        failures, faults, successes = 0, 0, self._attempts.successes
        while True:
            failure = await self._attempts.once(batch)
            if failure is None:
                return True
            if isinstance(failure, TooLargeError):
                self._learn_limit(len(batch.request))
            if isinstance(failure, TooLargeError | RejectedDataError):
                halves = await halves_of(batch)
                if not halves:
                    await self._refused(batch, failure)
                waiting.extendleft(reversed(halves))
                return True
            if gives_up():
                await self._refused(batch, failure, "given up after retry_on_failure: ")
                return True
            failures += 1
            faults += isinstance(failure, FaultyError)
            if failures >= SUSPECT_AFTER:
                if self._attempts.successes - successes >= OTHERS_PASSED and self._aside.has_room():
                    waiting.appendleft(batch)
                    return False
                if faults >= SUSPECT_AFTER and ((halves := await halves_of(batch)) or waiting):
                    # Nothing else is there that could tell whether it is this batch or everything.
                    waiting.extend(halves or (batch,))
                    return True
                if consumer.held and self._others_may_try():
                    consumer.leave()
            await self._wait(failure, backoff)
            self._metrics.retried()

    def _others_may_try(self) -> bool:
        """Whether one more batch is let in beside those that fail: all consumers may be held by what fails alone.

        Less and less often while nothing gets through, so that few are there when a destination comes back.
        """
        now_s, successes = self._clock(), self._attempts.successes
        if successes != self._probed_at:
            self._probed_at, self._probe_pause_s, self._next_probe_s = successes, PROBE_PAUSE_S, now_s
        if now_s < self._next_probe_s:
            return False
        self._next_probe_s = now_s + self._probe_pause_s
        self._probe_pause_s *= 2
        return True

    def _learn_limit(self, refused_bytes: int) -> None:
        """Cut what comes from now on before it is sent, instead of sending it in vain."""
        if refused_bytes <= LEAST_LIMIT_BYTES:
            return  # something about this one request was too large, and it tells nothing of others
        limit_bytes = max(refused_bytes // 2, LEAST_LIMIT_BYTES)
        if limit_bytes < self._max_request_bytes:
            self._max_request_bytes = limit_bytes
            _log.warning("%s: refused %d bytes as too large; cutting requests", self._destination, refused_bytes)

    async def _refused(self, batch: Batch, failure: SendError, why: str = "") -> None:
        await self.bury(batch, f"{why}{failure}", failure.answer)
        self._attempts.have_ended(batch)

    async def bury(self, batch: Batch, reason: str, answer: str = "") -> None:
        """Write a batch to the dead-letter file and count it. Waits for as long as the file can't be written.

        Args:
            batch: what to write.
            reason: why, without any content; it is logged.
            answer: what the destination said in its own words.
        """
        while True:
            try:
                await asyncio.to_thread(
                    self._dead_letters.append, batch.signal, batch.request, batch.items, reason, batch.headers, answer
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
            self._tell_refused(batch.signal, batch.request, "dead_lettered")
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
        if isinstance(failure, RetryableError) and failure.retry_after_s:
            # All that were told to wait until then must not come at once.
            asked_s = min(failure.retry_after_s, MAX_RETRY_AFTER_S) + self._random() * self._retry.initial_interval
        now_s, successes = self._clock(), self._attempts.successes
        not_before_s, until_s = now_s + asked_s, now_s + max(backoff_s, asked_s)
        await self._attempts.news(until_s - now_s)
        if self._attempts.successes != successes:
            backoff.reset()
        # Whoever was woken comes a little later than the others that were, never later than without being woken.
        longest_s = DRAIN_WAIT_S if self._attempts.hurried else self._retry.initial_interval
        pause_s = min(self._random() * longest_s, until_s - self._clock())
        await asyncio.sleep(max(pause_s, not_before_s - self._clock(), 0.0))
