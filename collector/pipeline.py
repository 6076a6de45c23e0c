"""Joins receivers, assembler and destinations: what is taken in, what is held, and who gets what.

In: requests from receivers (it is their `Intake`).  Out: parcels in the queues of the destinations (it is the
assembler's `Outlet`).  A request is acknowledged when everything in it is in the store or in the tally of what was
rejected; before that nothing of it is kept.  Runs on the event loop and never blocks.
"""

from __future__ import annotations

import contextlib
import logging
from bisect import bisect_left
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import accumulate
from typing import Protocol

from google.protobuf.message import DecodeError

from collector import wire
from collector.exporters.splitting import count_items
from collector.holding.assembler import Assembler
from collector.holding.contract import Arrival
from collector.holding.store import RETRY_AFTER_S, Budget, MemoryStore
from collector.intake import Accepted, OverloadedError, UndeclaredSignalError
from collector.judging.jobs import Apart, EvaluationSpan
from collector.logs import RateLimited
from collector.records import Origin, Outbound, Parcel, Ref, Signal, SpanRecord, Waybill
from collector.telemetry import ReceiverMetrics, Telemetry

# Backends route by these, so they travel with the telemetry; spans of different values never share a request.
FORWARDED_HEADERS = ("x-project-name",)
Headers = tuple[tuple[str, str], ...]
# How long spans that leave wait for others to leave with, and how many bytes of them make a parcel. Parcels that are
# smaller than a request are copied once more.
GATHER_S = 0.2
# How many parcels are made in one go, so that a giant trace doesn't keep everything else waiting.
PARCELS_AT_ONCE = 8
PARCEL_BYTES = 1 << 20
# Finding out what can be dropped takes a look at every trace there is, too much for every request that is refused.
SHED_PAUSE_S = 0.5


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


_WITH_EVALUATIONS = frozenset({ScoreMode.EVALUATION_SPANS, ScoreMode.BOTH})


class Queue(Protocol):
    """A destination's queue, as far as it is filled from here."""

    def put(self, ref: Ref, parcel: Waybill) -> None:
        """Take over one claim on a parcel, which is behind `ref`, whatever the queue's length."""

    def has_room(self) -> bool:
        """Whether more should be let in at the receivers."""


@dataclass(frozen=True, slots=True)
class Destination:
    """An exporter as the pipeline sees it."""

    name: str
    mode: ScoreMode
    queue: Queue


@dataclass(frozen=True, slots=True)
class Reading:
    """What the collector has to be told about the content of spans and log records, all tests on bytes.

    `wants_span(span, scope)`, `wants_log(record, scope)`: whether judging needs it.  `late_mark`: attributes to append
    to a span that came too late.
    """

    wants_span: Callable[[bytes, bytes], bool]
    wants_log: Callable[[bytes, bytes], bool]
    late_mark: bytes


class Pipeline:
    """See the module's text.

    Args:
        destinations: per declared signal the exporters of its pipeline.
        parcels: keeps what is on its way out.
        budget: what all stores together may hold.
        telemetry: where everything is counted.
        clock: seconds on a monotonic clock.
        later: has a function called after so many seconds.
    """

    def __init__(
        self,
        destinations: Mapping[Signal, Sequence[Destination]],
        parcels: MemoryStore[Parcel],
        budget: Budget,
        telemetry: Telemetry,
        clock: Callable[[], float],
        later: Callable[[float, Callable[[], None]], object],
    ) -> None:
        self._destinations = destinations
        self._parcels = parcels
        self._budget = budget
        self._telemetry = telemetry
        self._receivers: dict[str, ReceiverMetrics] = {}
        self._clock = clock
        self._log = RateLimited(logging.getLogger(__name__), clock=clock)
        self._later = later
        self._leaving: list[Outbound] = []
        self._making: deque[Iterator[Parcel]] = deque()
        self._origins = wire.Origins()
        self._assembler: Assembler | None = None
        self._shed_s = float("-inf")
        self._reading: Reading | None = None
        traces = destinations.get(Signal.TRACES, ())
        self._waiting = [one for one in traces if one.mode.waits]
        self._immediate = [one for one in traces if not one.mode.waits]

    def attach(self, assembler: Assembler, reading: Reading) -> None:
        """Put the assembler between receivers and those destinations that wait for scores."""
        self._assembler = assembler
        self._reading = reading

    # -- Intake ------------------------------------------------------------------------------------------------------

    def accepts(self, signal: Signal) -> bool:
        """Whether a pipeline is declared for the signal."""
        return signal in self._destinations

    async def take(self, signal: Signal, request: bytes, *, receiver: str, headers: Mapping[str, str]) -> Accepted:
        """See `collector.intake.Intake`."""
        if signal not in self._destinations:
            raise UndeclaredSignalError(f"no {signal} pipeline is configured (service::pipelines::{signal})")
        metrics = self._metrics_of(receiver)
        try:
            self._require_room(signal, len(request))
        except OverloadedError as error:
            self._log.warning("%s: refused a request: %s", receiver, error)
            with contextlib.suppress(DecodeError):
                metrics.refused(signal, count_items(request))
            raise
        kept = tuple((name, headers[name]) for name in FORWARDED_HEADERS if name in headers)
        if signal is Signal.TRACES:
            return self._take_spans(request, kept, metrics)
        if signal is Signal.LOGS:
            return self._take_logs(request, kept, metrics)
        points = wire.count_data_points(request)
        metrics.accepted(signal, points)
        self._send(Parcel(signal, request, points, kept), self._destinations[signal])
        return Accepted()

    def _metrics_of(self, receiver: str) -> ReceiverMetrics:
        if receiver not in self._receivers:
            self._receivers[receiver] = self._telemetry.receiver(receiver)
        return self._receivers[receiver]

    def _require_room(self, signal: Signal, size_bytes: int) -> None:
        for destination in self._destinations[signal]:
            if not destination.queue.has_room():
                raise OverloadedError(
                    f"the queue of exporter {destination.name} is full; try again later", RETRY_AFTER_S
                )
        try:
            self._budget.require(size_bytes)
        except OverloadedError:
            now_s = self._clock()
            if self._assembler is None or now_s < self._shed_s + SHED_PAUSE_S:
                raise
            self._shed_s = now_s
            self._assembler.shed(now_s)
            self._budget.require(size_bytes)

    def _take_spans(self, request: bytes, headers: Headers, metrics: ReceiverMetrics) -> Accepted:
        sliced = wire.slice_spans(request, headers, self._origins)
        records = sliced.records
        metrics.accepted(Signal.TRACES, len(records))
        if sliced.rejected:
            metrics.rejected(Signal.TRACES, len(sliced.rejected))
        if self._assembler is None or self._reading is None:
            passed = held = [Outbound(record.origin, record.span, b"", record.place) for record in records]
            untouched = not sliced.rejected
        else:
            passed, held, untouched = self._sort(records, self._assembler, self._reading)
            untouched = untouched and not sliced.rejected
        if untouched and len(passed) == len(records):
            # The request goes on as it came: nothing in it was held, marked or left out.
            self._send(Parcel(Signal.TRACES, request, len(records), headers), self._destinations[Signal.TRACES])
        else:
            self._send_spans(passed, self._waiting)
            self._send_spans([*passed, *held], self._immediate)
        if not sliced.rejected:
            return Accepted()
        return Accepted(len(sliced.rejected), wire.describe_rejections(sliced.rejected))

    def _sort(
        self, records: Sequence[SpanRecord], assembler: Assembler, reading: Reading
    ) -> tuple[list[Outbound], list[Outbound], bool]:
        """Which spans go on at once, which are held, and whether all that goes on is as it came."""
        now_s = self._clock()
        wants = reading.wants_span
        wanted: dict[bytes, list[SpanRecord]] = {}
        unwanted: list[SpanRecord] = []
        for record in records:
            trace_id, _, _, _, origin, span, _ = record
            if not wants(span, origin.scope):
                unwanted.append(record)
            elif (group := wanted.get(trace_id)) is not None:
                group.append(record)
            else:
                wanted[trace_id] = [record]
        passed: list[Outbound] = []
        held: list[Outbound] = []
        late = duplicates = 0
        # Wanted spans first: what they make of their trace decides about the others.
        taken = [assembler.add(trace_id, group, now_s) for trace_id, group in wanted.items()]
        for record in unwanted:
            if assembler.knows(record.trace_id):
                taken.append(assembler.add_unwanted(record, now_s))
            else:
                passed.append(Outbound(record.origin, record.span, b"", record.place))
        for arrival, spans, others, repeated, too_late in taken:
            duplicates += len(repeated)
            passed += [Outbound(record.origin, record.span, b"", record.place) for record in others]
            late += len(too_late)
            passed += [Outbound(record.origin, record.span, reading.late_mark, record.place) for record in too_late]
            if arrival is Arrival.HELD:
                if self._immediate:
                    held += [Outbound(record.origin, record.span, b"", record.place) for record in spans]
            elif arrival is Arrival.LATE:
                late += len(spans)
                passed += [Outbound(record.origin, record.span, reading.late_mark, record.place) for record in spans]
            else:
                passed += [Outbound(record.origin, record.span, b"", record.place) for record in spans]
        if late:
            self._telemetry.traces.late(late)
        if duplicates:
            self._telemetry.traces.deduplicated(duplicates)
        return passed, held, not late

    def _take_logs(self, request: bytes, headers: Headers, metrics: ReceiverMetrics) -> Accepted:
        sliced = wire.slice_logs(request, headers, self._origins)
        metrics.accepted(Signal.LOGS, len(sliced.records))
        if self._assembler is not None and self._reading is not None:
            now_s = self._clock()
            for record in sliced.records:
                if record.trace_id and self._reading.wants_log(record.record, record.origin.scope):
                    self._assembler.add_log(record, now_s)
        destinations = self._destinations[Signal.LOGS]
        if not sliced.rejected:
            self._send(Parcel(Signal.LOGS, request, len(sliced.records), headers), destinations)
            return Accepted()
        metrics.rejected(Signal.LOGS, len(sliced.rejected))
        if sliced.records:
            rebuilt = wire.build_logs_request(sliced.records)
            self._send(Parcel(Signal.LOGS, rebuilt, len(sliced.records), headers), destinations)
        return Accepted(len(sliced.rejected), wire.describe_rejections(sliced.rejected))

    # -- Outlet ------------------------------------------------------------------------------------------------------

    @property
    def wants_evaluations(self) -> bool:
        """See `collector.holding.contract.Outlet`."""
        return any(one.mode in _WITH_EVALUATIONS for one in (*self._waiting, *self._immediate))

    def leave(self, spans: Sequence[Outbound]) -> None:
        """See `collector.holding.contract.Outlet`."""
        if not self._waiting:
            return
        if not self._leaving:
            self._later(GATHER_S, self._send_some)
        self._leaving += spans

    def flush(self) -> None:
        """Send on all that has left; by itself that happens a moment later, many traces in one parcel."""
        while self._make_parcels():
            pass

    def _send_some(self) -> None:
        if self._make_parcels():
            self._later(0.0, self._send_some)

    def _make_parcels(self) -> bool:
        """Send on some of what has left, and say whether there may be more."""
        if self._leaving:
            self._making.append(_parcels(self._leaving))
            self._leaving = []
        for _ in range(PARCELS_AT_ONCE):
            if not self._making:
                return False
            parcel = next(self._making[0], None)
            if parcel is None:
                self._making.popleft()
            else:
                self._send(parcel, self._waiting)
        return True

    def evaluations(self, spans: Sequence[EvaluationSpan], origin: Origin, *, late: bool) -> None:
        """See `collector.holding.contract.Outlet`."""
        if not spans:
            return
        modes = _WITH_EVALUATIONS | ({ScoreMode.ATTRIBUTES} if late else set())
        targets = [one for one in (*self._waiting, *self._immediate) if one.mode in modes]
        if not targets:
            return
        self._telemetry.traces.created(len(spans))
        outbound = [
            Outbound(Origin(span.resource, origin.resource_schema_url, span.scope, "", origin.headers), span.span)
            for span in spans
        ]
        self._send_spans(outbound, targets)

    def evaluations_apart(self, apart: Apart) -> None:
        """Send evaluation spans on that are about spans which have long left."""
        schema_url, headers = apart.route
        self.evaluations(apart.spans, Origin(b"", schema_url, b"", "", headers), late=True)

    def _send_spans(self, spans: Iterable[Outbound], destinations: Sequence[Destination]) -> None:
        if destinations:
            for parcel in _parcels(spans):
                self._send(parcel, destinations)

    def _send(self, parcel: Parcel, destinations: Sequence[Destination]) -> None:
        if not destinations or not parcel.items:
            return
        ref = self._parcels.put(parcel, len(parcel.request), len(destinations))
        for destination in destinations:
            destination.queue.put(ref, parcel.waybill())


def _parcels(spans: Iterable[Outbound]) -> Iterator[Parcel]:
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
            yield Parcel(Signal.TRACES, wire.build_request(group[start:end]), end - start, headers)


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
