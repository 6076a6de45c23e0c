"""The queue before one destination: references wait here, are put together into requests, and are delivered.

In: references to parcels in the store.  Out: requests to a sender, and each reference released once everything of it
has found its end.  It never drops anything: when it is full it says so (`has_room`), and what is left at the end of
`drain` is handed back.  Destinations share nothing, so that a slow one delays no other.

Batches are counted in bytes; parcels of different signals or different headers never share a request.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import math
import random as random_module
import time
from collections.abc import Callable

from collector.exporters.attempts import Refused
from collector.exporters.batch import Batch
from collector.exporters.dead_letters import DeadLetterFile
from collector.exporters.delivery import Delivery
from collector.exporters.lanes import LaneKey, Lanes, Waiting
from collector.exporters.sender import Sender
from collector.exporters.settings import QueueSettings, RetrySettings, Sizer
from collector.holding.store import Source
from collector.journal.errors import DamagedRecordError
from collector.records import Ref, Signal, Waybill
from collector.telemetry import ExporterMetrics

FAULT_WAIT_S = 5.0
# From this share of the capacity on, what has waited longest makes room for what comes, with `on_full: dead_letter`.
ALMOST = 0.9
WAS_FULL = "the queue was full (sending_queue::on_full: dead_letter)"

_log = logging.getLogger(__name__)


class _Slot:
    """The right to have one request under way; given back once."""

    def __init__(self, slots: asyncio.Semaphore) -> None:
        self._slots: asyncio.Semaphore | None = slots

    def free(self) -> None:
        if self._slots is not None:
            self._slots.release()
            self._slots = None


class SendingQueue:
    """See the module.

    Args:
        destination: id of the exporter.
        sender: makes single attempts; started and stopped by the queue.
        source: where parcels are read and released.
        queue, retry: settings.
        dead_letters: takes what can never be delivered.
        metrics: counts what happens.
        done: told the journal's number of each parcel that has found its end.
        presses: whether the journal is almost full of what waits for this destination.
        bounded: whether the queue has a limit where its settings give none; with a journal that has the limit.
        refused: told of requests that the destination couldn't take, see `Delivery`.
        random, clock: for jitter, and seconds of a monotonic clock.
    """

    def __init__(
        self,
        destination: str,
        sender: Sender,
        source: Source,
        queue: QueueSettings,
        retry: RetrySettings,
        dead_letters: DeadLetterFile,
        metrics: ExporterMetrics,
        *,
        done: Callable[[int], None] = lambda _: None,
        presses: Callable[[], bool] = lambda: False,
        bounded: bool = True,
        refused: Refused = lambda *_: None,
        random: Callable[[], float] = random_module.random,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.destination = destination
        self._sender = sender
        self._source = source
        self._settings = queue
        self._metrics = metrics
        self._done = done
        self._presses = presses
        self._clock = clock
        self._delivery = Delivery(
            destination, sender, retry, queue.batch.max_size, dead_letters, metrics, random, clock, refused
        )
        self._sizer: Sizer
        self._capacity: float
        self._sizer, self._capacity = queue.capacity
        if not bounded and queue.queue_size is None:
            self._capacity = math.inf
        self._lanes = Lanes(queue.batch)
        self._deliveries: dict[asyncio.Task[None], tuple[LaneKey, list[Waiting]]] = {}
        self._slots = asyncio.Semaphore(queue.num_consumers)
        self._dispatcher: asyncio.Task[None] | None = None
        self._overflow: asyncio.Task[None] | None = None
        self._missing: dict[Ref, int] = {}
        self._requests = 0
        self._size_bytes = 0
        self._items = dict.fromkeys(Signal, 0)
        self._changed = asyncio.Event()
        self._full = asyncio.Event()
        self._idle = asyncio.Event()
        self._idle.set()
        self._draining = False
        metrics.observe_queue(
            self._sizer, self._used, self._capacity, {signal: self._counter(signal) for signal in Signal}
        )

    def _counter(self, signal: Signal) -> Callable[[], int]:
        # What has found its end is counted where it has; its delivery may have more.
        return lambda: self._items[signal] - self._delivery.ended(signal)

    def _used(self) -> int:
        if self._sizer == "bytes":
            return self._size_bytes
        return self._requests if self._sizer == "requests" else sum(self._items.values())

    def __len__(self) -> int:
        """How many references wait or are under way."""
        return self._requests

    def has_room(self) -> bool:
        """Whether receivers may take more. What was taken is always queued, even past the limit."""
        return self._used() < self._capacity

    @property
    def fullness(self) -> float:
        """How full it is: 1.0 where receivers begin to refuse."""
        return self._used() / self._capacity

    def refs(self) -> list[Ref]:
        """What waits or is under way."""
        under_way = [one for _, parcels in self._deliveries.values() for one in parcels]
        return [waiting.ref for waiting in (*under_way, *self._lanes)]

    async def start(self) -> None:
        """Open the sender and begin to deliver."""
        await self._sender.start()
        self._dispatcher = asyncio.create_task(self._dispatch(), name=f"{self.destination} queue")
        if self._settings.on_full == "dead_letter":
            self._overflow = asyncio.create_task(self._make_room(), name=f"{self.destination} overflow")

    def put(self, ref: Ref, parcel: Waybill) -> None:
        """Take over one claim on a parcel; it is released when the parcel has found its end here."""
        if not self._delivery.takes(parcel.signal):
            self._metrics.unsupported(parcel.signal, parcel.items)
            self._source.release(ref)
            self._done(parcel.number)
            return
        if self._lanes.put(ref, parcel, self._clock()):
            self._changed.set()
        self._requests += 1
        self._size_bytes += parcel.size_bytes
        self._items[parcel.signal] += parcel.items
        self._idle.clear()
        if self._overflows():
            self._full.set()

    async def drain(self, deadline_s: float) -> list[Ref]:
        """Deliver what is left without waiting for batches to fill, at most `deadline_s` seconds, and stop.

        Returns:
            The references that are not delivered, or not known to be; their claims are the caller's again.
        """
        self._draining = True
        self._changed.set()
        self._delivery.hurry()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(deadline_s):
                await self._idle.wait()
        return [ref for ref, _ in await self._end()]

    async def hand_over(self, grace_s: float) -> list[tuple[Ref, Waybill]]:
        """Begin nothing new, give what is under way at most `grace_s` seconds, and stop: another queue takes over.

        Returns:
            What is not delivered, or not known to be; its claims are the caller's again.
        """
        self._delivery.hurry()
        if self._dispatcher is not None:
            self._dispatcher.cancel()
        if self._deliveries:
            await asyncio.wait(self._deliveries, timeout=grace_s)
        left = await self._end()
        self.stop_observing()
        return left

    def stop_observing(self) -> None:
        """Report nothing more of it: what it had is another queue's, or nobody's."""
        self._metrics.stop_observing()

    async def _end(self) -> list[tuple[Ref, Waybill]]:
        under_way = dict(self._deliveries)
        tasks = [*under_way, *(task for task in (self._dispatcher, self._overflow) if task is not None)]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._sender.stop()
        left = [one for task, (_, parcels) in under_way.items() if task.cancelled() for one in parcels]
        return [(one.ref, one.parcel) for one in (*left, *self._lanes)]

    async def _dispatch(self) -> None:
        while True:
            await self._slots.acquire()
            key, parcels = await self._next_batch()
            slot = _Slot(self._slots)
            task = asyncio.create_task(self._deliver(key, parcels, slot), name=f"{self.destination} delivery")
            self._deliveries[task] = key, parcels
            task.add_done_callback(self._deliveries.pop)

    async def _deliver(self, key: LaneKey, parcels: list[Waiting], slot: _Slot) -> None:
        try:
            await self._bring(key, parcels, slot)
        finally:
            slot.free()

    async def _bring(self, key: LaneKey, parcels: list[Waiting], slot: _Slot) -> None:
        while self._sort_out_unreadable(parcels):
            try:
                await self._delivery.deliver(self._join(key, parcels), slot.free)
                break
            except Exception:
                # A fault of ours must not end the deliveries, nor lose what it happened to.
                _log.exception("%s: a delivery failed unexpectedly; trying again", self.destination)
                await asyncio.sleep(FAULT_WAIT_S)
        for waiting in parcels:
            self._done(waiting.parcel.number)
        self._settle(parcels)

    def _sort_out_unreadable(self, parcels: list[Waiting]) -> bool:
        """Give up those of which nothing can be read; says whether others are left.

        Of what was in memory all can be read; what the disk has lost isn't said to be done.
        """
        for waiting in list(parcels):
            try:
                readable = self._source.read(waiting.ref).items
            except DamagedRecordError as error:
                _log.error("%s: %d items can't be delivered: %s", self.destination, waiting.parcel.items, error)
                self._metrics.damaged(waiting.parcel.signal, waiting.parcel.items)
                parcels.remove(waiting)
                self._settle([waiting])
            else:
                self._missing[waiting.ref] = waiting.parcel.items - readable
        return bool(parcels)

    def _join(self, key: LaneKey, parcels: list[Waiting]) -> Batch:
        read = [self._source.read(waiting.ref) for waiting in parcels]
        request = b"".join(parcel.request for parcel in read)
        return Batch(key.signal, request, sum(parcel.items for parcel in read), dict(key.headers))

    def _settle(self, parcels: list[Waiting]) -> None:
        for waiting in parcels:
            if missing := self._missing.pop(waiting.ref, 0):
                self._metrics.damaged(waiting.parcel.signal, missing)
            self._source.release(waiting.ref)
            self._size_bytes -= waiting.parcel.size_bytes
            self._items[waiting.parcel.signal] -= waiting.parcel.items
        self._requests -= len(parcels)
        if not self._requests:
            self._idle.set()

    # -- more than there is room for ---------------------------------------------------------------------------------

    def _overflows(self) -> bool:
        """Whether some of it has to go if receivers are not to refuse."""
        return self._used() > ALMOST * self._capacity or self._presses()

    async def _make_room(self) -> None:
        """Write what has waited longest to the dead-letter file, as long as there is too much."""
        while True:
            await self._full.wait()
            self._full.clear()
            while self._overflows() and self._lanes:
                await self._bury(*self._lanes.take_oldest())

    async def _bury(self, key: LaneKey, parcels: list[Waiting]) -> None:
        buried = False
        try:
            if self._sort_out_unreadable(parcels):
                await self._delivery.bury(self._join(key, parcels), WAS_FULL)
                for waiting in parcels:
                    self._done(waiting.parcel.number)
                self._settle(parcels)
            buried = True
        finally:
            if not buried:
                # Stopped before the file had it.
                for waiting in reversed(parcels):
                    self._lanes.put_back(waiting)

    # -- batches -----------------------------------------------------------------------------------------------------

    async def _next_batch(self) -> tuple[LaneKey, list[Waiting]]:
        while True:
            now_s = self._clock()
            due = self._lanes.take_due(now_s, hurry=self._draining)
            if isinstance(due, tuple):
                return due
            self._changed.clear()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(None if due is None else due - now_s):
                    await self._changed.wait()
