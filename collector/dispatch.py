"""From spans that leave to parcels in the queues of their destinations.

In: spans with what is appended to them, whole requests, evaluation spans.  Out: parcels, the same for all destinations
that are given at once.  With a journal, what was put together here is written down before anybody gets it, so that
after a crash each span goes out again with the very bytes that may have arrived already; a request that goes on as it
came needs no second record.  Runs on the event loop and never blocks.
"""

from __future__ import annotations

import logging
from array import array
from asyncio import Event, Future
from bisect import bisect_left
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from itertools import accumulate
from typing import NamedTuple, Protocol

from collector import wire
from collector.holding.store import Budget, MemoryStore
from collector.journal.entries import ParcelEntry
from collector.journal.journal import Journal
from collector.logs import RateLimited
from collector.records import PLACE_BITS, Origin, Outbound, Parcel, Ref, Signal, Waybill
from collector.rereading import Rereader

_log = RateLimited(logging.getLogger(__name__))

# How long spans that leave wait for others to leave with, and how many bytes of them make a parcel. Parcels that are
# smaller than a request are copied once more.
GATHER_S = 0.2
# How many parcels are made in one go, so that a giant trace doesn't keep everything else waiting.
PARCELS_AT_ONCE = 8
PARCEL_BYTES = 1 << 20

Headers = tuple[tuple[str, str], ...]
Later = Callable[[float, Callable[[], None]], object]


class ScoreMode(StrEnum):
    """How a destination gets scores."""

    ATTRIBUTES = "attributes"
    EVALUATION_SPANS = "evaluation_spans"
    BOTH = "both"
    NONE = "none"

    @property
    def waits(self) -> bool:
        """Whether spans are held for it."""
        return self in (ScoreMode.ATTRIBUTES, ScoreMode.BOTH)


class Queue(Protocol):
    """A destination's queue, as far as it is filled from here."""

    def put(self, ref: Ref, parcel: Waybill) -> None:
        """Take over one claim on a parcel, which is behind `ref`, whatever the queue's length."""

    def has_room(self) -> bool:
        """Whether more should be let in at the receivers."""

    @property
    def fullness(self) -> float:
        """How full it is: 1.0 where receivers begin to refuse."""


@dataclass(frozen=True, slots=True)
class Destination:
    """An exporter as the pipeline sees it."""

    name: str
    mode: ScoreMode
    queue: Queue


@dataclass(frozen=True, slots=True)
class WrittenDown:
    """A journal, and the way to read from it what was dropped from memory."""

    journal: Journal
    rereader: Rereader


class Dispatch:
    """See the module's text.

    Args:
        parcels: keeps what is on its way out.
        budget: of the memory.
        written: where parcels are written down first; None without a journal.
        later: has a function called after so many seconds.
    """

    def __init__(self, parcels: MemoryStore[Parcel], budget: Budget, written: WrittenDown | None, later: Later) -> None:
        self._parcels = parcels
        self._budget = budget
        self._written = written
        self._later = later
        self._leaving: list[Outbound] = []
        self._leaving_to: Sequence[Destination] = ()
        self._making: deque[Iterator[_Made]] = deque()
        self._making_spans = 0
        # By destination and signal: the items of parcels that are being written down.
        self._freezing_items: dict[tuple[str, Signal], int] = {}
        self._freezing = 0
        self._frozen = Event()
        self._frozen.set()

    # -- spans that leave --------------------------------------------------------------------------------------------

    def leave(self, spans: Sequence[Outbound], destinations: Sequence[Destination]) -> None:
        """Send spans on a moment later, so that those of many traces share a parcel.

        The destinations are always the same ones.
        """
        if not self._leaving:
            self._later(GATHER_S, self._send_some)
        self._leaving += spans
        self._leaving_to = destinations

    def flush(self) -> None:
        """Send on all that has left."""
        while self._make_parcels():
            pass

    def _send_some(self) -> None:
        if self._make_parcels():
            self._later(0.0, self._send_some)

    def _make_parcels(self) -> bool:
        """Send on some of what has left, and say whether there may be more."""
        if self._leaving:
            self._making.append(_made_of(self._leaving))
            self._making_spans += len(self._leaving)
            self._leaving = []
        for _ in range(PARCELS_AT_ONCE):
            if not self._making:
                return False
            made = next(self._making[0], None)
            if made is None:
                self._making.popleft()
            else:
                self._making_spans -= made.parcel.items
                self._send(made, self._leaving_to)
        return True

    def send_spans(self, spans: Iterable[Outbound], destinations: Sequence[Destination]) -> None:
        """Send spans on now."""
        if destinations:
            for made in _made_of(spans):
                self._send(made, destinations)

    # -- parcels -----------------------------------------------------------------------------------------------------

    def send_request(self, parcel: Parcel, destinations: Sequence[Destination]) -> None:
        """Send a request on: as it came if it has the number of its record, else one that was made here."""
        if not parcel.items:
            return
        if self._written is None or not parcel.number:
            self._send(_Made(parcel), destinations)
            return
        if destinations:
            again = partial(self._written.rereader.request, parcel.number)
            ref = self._parcels.put(parcel, len(parcel.request), len(destinations), again=again)
            if self._budget.is_crowded:
                self._parcels.spill(ref)
            self._queue(ref, parcel.waybill(), destinations)

    def send_part(
        self, parcel: Parcel, number: int, indexes: Sequence[int], destinations: Sequence[Destination]
    ) -> None:
        """Send on what was taken of a request: its items of these indexes, put together anew."""
        if parcel.items:
            self._send(_Made(parcel, places=[number << PLACE_BITS | index for index in indexes]), destinations)

    def send_again(self, waybill: Waybill, destinations: Sequence[Destination], *, made_here: bool) -> None:
        """Send what the journal has and memory hasn't: a request as it came, or a parcel that was written down."""
        assert self._written is not None
        reread = self._written.rereader.parcel if made_here else self._written.rereader.request
        ref = self._parcels.put(None, 0, len(destinations), again=partial(reread, waybill.number))
        self._queue(ref, waybill, destinations)

    def _send(self, made: _Made, destinations: Sequence[Destination]) -> None:
        parcel = made.parcel
        if not destinations:
            return
        if self._written is None:
            ref = self._parcels.put(parcel, len(parcel.request), len(destinations))
            self._queue(ref, parcel.waybill(), destinations)
            return
        number = self._written.journal.reserve()
        parcel = parcel._replace(number=number)
        # What doesn't stay in memory is written whole, or it would have to be put together again of many requests.
        drop = self._budget.is_crowded
        by_reference = bool(made.spans) and not drop
        entry = ParcelEntry(
            signal=parcel.signal,
            headers=parcel.headers,
            items=parcel.items,
            destinations=tuple(one.name for one in destinations),
            places=array("Q", made.places or [one.place for one in made.spans]),
            tails=[one.tail for one in made.spans] if by_reference else (),
            request=b"" if by_reference else parcel.request,
            size_bytes=len(parcel.request),
        )
        again = partial(self._written.rereader.parcel, number)
        ref = self._parcels.put(parcel, len(parcel.request), len(destinations), again=again)
        self._freezing += 1
        self._frozen.clear()
        waybill = parcel.waybill()
        self._count_freezing(waybill, destinations, parcel.items)
        written = self._written.journal.freeze(number, entry)
        written.add_done_callback(partial(self._is_frozen, ref, waybill, destinations, drop))

    def _is_frozen(
        self, ref: Ref, waybill: Waybill, destinations: Sequence[Destination], drop: bool, written: Future[None]
    ) -> None:
        self._freezing -= 1
        if not self._freezing:
            self._frozen.set()
        failure = written.exception()
        if failure is not None:
            # Keeping it back would help nobody: what leaves is what makes room in the journal.
            _log.warning("sent without being written down first, so it may be sent again otherwise: %s", failure)
        elif drop:
            self._parcels.spill(ref)
        self._count_freezing(waybill, destinations, -waybill.items)
        self._queue(ref, waybill, destinations)

    def _count_freezing(self, waybill: Waybill, destinations: Sequence[Destination], items: int) -> None:
        for destination in destinations:
            key = destination.name, waybill.signal
            self._freezing_items[key] = self._freezing_items.get(key, 0) + items

    def _queue(self, ref: Ref, waybill: Waybill, destinations: Sequence[Destination]) -> None:
        for destination in destinations:
            destination.queue.put(ref, waybill)

    def on_the_way(self, destination: str, signal: Signal) -> int:
        """How many items were handed over here for a destination, by its name, and aren't in its queue yet."""
        items = self._freezing_items.get((destination, signal), 0)
        if signal is Signal.TRACES and any(one.name == destination for one in self._leaving_to):
            items += len(self._leaving) + self._making_spans
        return items

    async def settled(self) -> None:
        """Return when everything that was sent is in the queues."""
        self.flush()
        await self._frozen.wait()


class _Made(NamedTuple):
    """A parcel, and what of it is in requests that came: the spans, or the places of the items."""

    parcel: Parcel
    spans: Sequence[Outbound] = ()
    places: Sequence[int] = ()


def _made_of(spans: Iterable[Outbound]) -> Iterator[_Made]:
    """The spans in parcels: those of different headers apart, and of about the same size."""
    groups: dict[Headers, list[Outbound]] = {}
    current: Origin | None = None
    group: list[Outbound] = []
    for span in spans:
        if span[0] is not current:
            current = span.origin
            group = groups.setdefault(current.headers, [])
        group.append(span)
    for headers, group in groups.items():
        for start, end in _cuts(group):
            part = group[start:end]
            parcel = Parcel(Signal.TRACES, wire.build_request(part), end - start, headers)
            # Evaluation spans are in no request that came; they have parcels of their own.
            yield _Made(parcel, part if part[0].place else ())


def _cuts(spans: Sequence[Outbound]) -> Iterator[tuple[int, int]]:
    """From where to where spans make a parcel.

    Each parcel repeats the spans' origins, so it is made large enough that at most half of it is repetition.
    """
    ends = list(accumulate([len(span) + len(tail) for _, span, tail, _ in spans]))
    origins = {id(one.origin): one.origin for one in spans}.values()
    size_bytes = max(PARCEL_BYTES, sum([origin.size_bytes for origin in origins]))
    start = start_bytes = 0
    while start < len(spans):
        end = min(bisect_left(ends, start_bytes + size_bytes, start) + 1, len(spans))
        yield start, end
        start, start_bytes = end, ends[end - 1]
