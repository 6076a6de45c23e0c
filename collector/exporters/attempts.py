"""All attempts to reach one destination, and what they have shown of it so far.

In: a batch.  Out: how one attempt with it ended, counted.  What is known by then is shared by all deliveries to the
destination: whether others got through, which signals it doesn't take, whether it can be used at all.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable

from collector.exporters.batch import Batch
from collector.exporters.sender import MisconfiguredError, Sender, SendError, UnsupportedSignalError
from collector.logs import RateLimited
from collector.records import Signal
from collector.telemetry import ExporterMetrics

# A destination may learn to take a signal: it is updated, or a route to it is added.
ASK_AGAIN_S = 300.0

Refused = Callable[[Signal, bytes, str], None]
"""Told the signal and the bytes of a request of which something won't arrive, and how that came."""

_log = RateLimited(logging.getLogger(__name__))


class Attempts:
    """See the module.

    Args:
        destination: id of the exporter.
        sender: makes the attempts.
        metrics: counts them.
        clock: seconds of a monotonic clock.
        refused: told of requests of which the destination rejected items.

    Attributes:
        successes: how many requests got through so far.
        hurried: whether the end is near, so that waits have to be short.
        ended: by signal, items that have found their end while others of their delivery haven't.
    """

    def __init__(
        self,
        destination: str,
        sender: Sender,
        metrics: ExporterMetrics,
        clock: Callable[[], float],
        refused: Refused,
    ) -> None:
        self.successes = 0
        self.hurried = False
        self.ended = dict.fromkeys(Signal, 0)
        self._destination = destination
        self._sender = sender
        self._metrics = metrics
        self._clock = clock
        self._refused = refused
        # Set, and replaced, when waiting may have become pointless: something got through, or the end is near.
        self._news = asyncio.Event()
        self._end = asyncio.Event()
        self._under_way = 0
        self._misconfigured = False
        self._taken_before: set[Signal] = set()
        # Signals the destination doesn't take, and when it is asked again.
        self._switched_off: dict[Signal, float] = {}
        metrics.observe_destination(
            lambda: self._under_way,
            lambda: self._misconfigured,
            {signal: self._is_off(signal) for signal in Signal},
        )

    def _is_off(self, signal: Signal) -> Callable[[], int]:
        return lambda: signal in self._switched_off

    def takes(self, signal: Signal) -> bool:
        """Whether the destination takes this signal, as far as is known; now and then it is asked anew."""
        return self._clock() >= self._switched_off.get(signal, 0.0)

    async def once(self, batch: Batch) -> SendError | None:
        """Make one attempt. None: every item has found its end (taken, rejected, of a signal that isn't taken)."""
        if not self.takes(batch.signal):
            self._metrics.unsupported(batch.signal, batch.items)
            self.have_ended(batch)
            return None
        self._under_way += 1
        try:
            taken = await self._sender.send(batch.signal, batch.request, batch.headers)
        except UnsupportedSignalError as failure:
            self._metrics.send_failed(batch.signal, batch.items)
            if batch.signal in self._taken_before:
                # What took it an hour ago is being restarted, or lost a route: no reason to throw anything away.
                self._misconfigured = True
                return MisconfiguredError(str(failure))
            self._switch_off(batch, failure)
            return None
        except SendError as failure:
            self._metrics.send_failed(batch.signal, batch.items)
            self._misconfigured = isinstance(failure, MisconfiguredError)
            return failure
        finally:
            self._under_way -= 1
        rejected = min(taken.rejected, batch.items)
        self._metrics.rejected(batch.signal, rejected)
        self._metrics.sent(batch.signal, batch.items - rejected)
        self.have_ended(batch)
        if rejected:
            self._refused(batch.signal, batch.request, "rejected")
            # Why is in its answer, which may quote content.
            _log.warning("%s: the destination took a request of %d items and rejected %d", *self._of(batch), rejected)
        elif taken.warned:
            self._metrics.warned()
            _log.warning("%s: the destination took all %d items of a request, with a warning", *self._of(batch))
        self._got_through(batch.signal)
        return None

    def _of(self, batch: Batch) -> tuple[str, int]:
        return self._destination, batch.items

    def _switch_off(self, batch: Batch, failure: SendError) -> None:
        self._switched_off[batch.signal] = self._clock() + ASK_AGAIN_S
        self._metrics.unsupported(batch.signal, batch.items)
        self.have_ended(batch)
        _log.error(
            "%s: %s is switched off for this destination, and asked for again in %d s: %s",
            *(self._destination, batch.signal, ASK_AGAIN_S, failure),
        )

    def _got_through(self, signal: Signal) -> None:
        self._taken_before.add(signal)
        self._switched_off.pop(signal, None)
        self._misconfigured = False
        self.successes += 1
        self._tell()

    def have_ended(self, batch: Batch) -> None:
        """All items of it have found their end."""
        batch.ended.items += batch.items
        self.ended[batch.signal] += batch.items

    def hurry(self) -> None:
        """The end is near: wake all that wait."""
        self.hurried = True
        self._end.set()
        self._tell()

    def _tell(self) -> None:
        self._news.set()
        self._news = asyncio.Event()

    async def news(self, within_s: float) -> None:
        """Wait until something got through, the end is near, or the time is over."""
        if not self.hurried:
            await _wait(self._news, within_s)

    async def end(self, within_s: float) -> None:
        """Wait until the end is near, or the time is over."""
        await _wait(self._end, within_s)


async def _wait(event: asyncio.Event, within_s: float) -> None:
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(within_s):
            await event.wait()
