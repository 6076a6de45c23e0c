"""Joins receivers, assembler and destinations: what is taken in, what is held, and who gets what.

In: requests from receivers (it is their `Intake`), and what the journal had of them when the process before this one
ended.  Out: spans and requests to the dispatch (it is the assembler's `Outlet`).  A request is acknowledged when the
journal has it, and everything in it is in the store or in the tally of what was rejected; before that nothing of it is
kept.  Runs on the event loop and never blocks.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from google.protobuf.message import DecodeError

from collector import wire
from collector.accounts.accounts import Accounts
from collector.dispatch import Destination, Dispatch, Headers, ScoreMode
from collector.exporters.splitting import count_items
from collector.holding.assembler import Assembler
from collector.holding.contract import Arrival
from collector.holding.store import RETRY_AFTER_S, Budget
from collector.intake import Accepted, OverloadedError, UndeclaredSignalError
from collector.journal.entries import ArrivalEntry, OwedArrival
from collector.journal.journal import Journal
from collector.judging.jobs import Apart, EvaluationSpan
from collector.logs import RateLimited
from collector.records import PLACE_BITS, Origin, Outbound, Parcel, Signal, SpanRecord
from collector.telemetry import ExporterMetrics, ReceiverMetrics, Telemetry

# Backends route by these, so they travel with the telemetry; spans of different values never share a request.
FORWARDED_HEADERS = ("x-project-name",)
# Finding out what can be dropped takes a look at every trace there is, too much for every request that is refused.
SHED_PAUSE_S = 0.5

_WITH_EVALUATIONS = frozenset({ScoreMode.EVALUATION_SPANS, ScoreMode.BOTH})


@dataclass(frozen=True, slots=True)
class Reading:
    """What the collector has to be told about the content of spans and log records, all tests on bytes.

    `wants_span(span, scope)`, `wants_log(record, scope)`: whether judging needs it.  `late_mark`: attributes to append
    to a span that came too late.
    """

    wants_span: Callable[[bytes, bytes], bool]
    wants_log: Callable[[bytes, bytes], bool]
    late_mark: bytes


@dataclass(frozen=True, slots=True)
class _Request:
    """A request in hand. `number` is that of the journal's record; 0 without a journal."""

    receiver: str
    signal: Signal
    data: bytes
    headers: Headers
    number: int


@dataclass(frozen=True, slots=True)
class _Checked:
    """What is to be done with a request once it is safe: how many items are taken, which aren't, and how to go on."""

    items: int
    rejected: Sequence[wire.Rejection]
    go_on: Callable[[], None]


class _Sorted(NamedTuple):
    """What becomes of spans: these go on at once, these are held, these are byte-equal repeats and go nowhere.

    `late`: how many of those that go on are marked as late.
    """

    passed: list[Outbound]
    held: list[Outbound]
    repeated: list[SpanRecord]
    late: int


class Pipeline:
    """See the module's text.

    Args:
        destinations: per declared signal the exporters of its pipeline.
        dispatch: sends on.
        budget: what all stores together may hold.
        telemetry: where everything is counted.
        origins: where equal origins become one object.
        clock: seconds on a monotonic clock.
        journal: where requests are written before they are acknowledged, if anywhere.
        wall_clock: nanoseconds since 1970, for times of arrival that outlive the process.
        accounts: the record of what became of traces.
    """

    def __init__(
        self,
        destinations: Mapping[Signal, Sequence[Destination]],
        dispatch: Dispatch,
        budget: Budget,
        telemetry: Telemetry,
        origins: wire.Origins,
        clock: Callable[[], float],
        journal: Journal | None = None,
        wall_clock: Callable[[], int] = time.time_ns,
        accounts: Accounts | None = None,
    ) -> None:
        self._accounts = Accounts(clock) if accounts is None else accounts
        self._dispatch = dispatch
        self._budget = budget
        self._telemetry = telemetry
        self._origins = origins
        self._receivers: dict[str, ReceiverMetrics] = {}
        self._exporters: dict[str, ExporterMetrics] = {}
        self._clock = clock
        self._journal = journal
        self._wall_clock = wall_clock
        self._log = RateLimited(logging.getLogger(__name__), clock=clock)
        self._assembler: Assembler | None = None
        self._shed_s = float("-inf")
        self._reading: Reading | None = None
        self.last_taken_s = float("-inf")
        """When the last request came, by the clock."""
        self.redirect(destinations)

    def redirect(self, destinations: Mapping[Signal, Sequence[Destination]]) -> None:
        """Lead to other destinations from now on, also with what is held."""
        self._destinations = destinations
        traces = destinations.get(Signal.TRACES, ())
        self._waiting = [one for one in traces if one.mode.waits]
        self._immediate = [one for one in traces if not one.mode.waits]
        for signal, group in destinations.items():
            for destination in group:
                self._counts_of(destination.name).begin(signal)

    def attach(self, assembler: Assembler, reading: Reading) -> None:
        """Put the assembler between receivers and those destinations that wait for scores."""
        self._assembler = assembler
        self._reading = reading

    def is_crowded(self, share: float) -> bool:
        """Whether receivers are about to refuse: something that makes them do so is as full as `share` of its limit."""
        if any(one.queue.fullness >= share for group in self._destinations.values() for one in group):
            return True
        if self._journal is not None:
            journal = self._journal.stats()
            if journal.size_bytes >= share * journal.limit_bytes:
                return True
        if self._budget.used_bytes >= share * self._budget.limit_bytes:
            # What nobody waits for is given up before anything is refused.
            self._shed()
        return self._budget.used_bytes >= share * self._budget.limit_bytes

    # -- Intake ------------------------------------------------------------------------------------------------------

    def accepts(self, signal: Signal) -> bool:
        """Whether a pipeline is declared for the signal."""
        return signal in self._destinations

    async def take(self, signal: Signal, request: bytes, *, receiver: str, headers: Mapping[str, str]) -> Accepted:
        """See `collector.intake.Intake`."""
        if signal not in self._destinations:
            raise UndeclaredSignalError(f"no {signal} pipeline is configured (service::pipelines::{signal})")
        metrics = self._metrics_of(receiver)
        self.last_taken_s = self._clock()
        try:
            self._require_room(signal, len(request))
        except OverloadedError as error:
            self._refused(receiver, signal, request, error)
            raise
        kept = tuple((name, headers[name]) for name in FORWARDED_HEADERS if name in headers)
        number = 0 if self._journal is None else self._journal.reserve()
        checked = self._check(_Request(receiver, signal, request, kept, number))

        def go_on() -> None:
            metrics.accepted(signal, checked.items)
            if checked.rejected:
                metrics.rejected(signal, len(checked.rejected))
            checked.go_on()

        if self._journal is None or not checked.items:
            go_on()
        else:
            entry = ArrivalEntry(
                signal=signal,
                receiver=receiver,
                arrived_wall_ns=self._wall_clock(),
                headers=kept,
                request=request,
                rejected=tuple(one.index for one in checked.rejected),
                items=checked.items,
            )
            written = self._journal.keep(number, entry)
            try:
                await asyncio.shield(written)
            except asyncio.CancelledError:
                # The sender has gone. What is being written will be there all the same, so it takes its way.
                written.add_done_callback(lambda done: None if done.cancelled() or done.exception() else go_on())
                raise
            except OverloadedError as error:
                self._refused(receiver, signal, request, error)
                raise
            go_on()
        if not checked.rejected:
            return Accepted()
        return Accepted(len(checked.rejected), wire.describe_rejections(checked.rejected))

    def _refused(self, receiver: str, signal: Signal, request: bytes, error: OverloadedError) -> None:
        self._log.warning("%s: refused a request: %s", receiver, error)
        with contextlib.suppress(DecodeError):
            items = count_items(request)
            self._metrics_of(receiver).refused(signal, items)
            if error.destination:
                self._counts_of(error.destination).enqueue_failed(signal, items)

    def _metrics_of(self, receiver: str) -> ReceiverMetrics:
        if receiver not in self._receivers:
            self._receivers[receiver] = self._telemetry.receiver(receiver, self._destinations)
        return self._receivers[receiver]

    def _counts_of(self, exporter: str) -> ExporterMetrics:
        if exporter not in self._exporters:
            self._exporters[exporter] = self._telemetry.exporter(exporter)
        return self._exporters[exporter]

    def _require_room(self, signal: Signal, size_bytes: int) -> None:
        for destination in self._destinations[signal]:
            if not destination.queue.has_room():
                name = destination.name
                raise OverloadedError(f"the queue of exporter {name} is full; try again later", RETRY_AFTER_S, name)
        try:
            self._budget.require(size_bytes)
        except OverloadedError:
            if not self._shed():
                raise
            self._budget.require(size_bytes)

    def _shed(self) -> bool:
        """Give up what nobody waits for, unless that was done a moment ago; says whether it was done."""
        now_s = self._clock()
        if self._assembler is None or now_s < self._shed_s + SHED_PAUSE_S:
            return False
        self._shed_s = now_s
        self._assembler.shed(now_s)
        return True

    def _check(self, request: _Request) -> _Checked:
        """Take a request apart, and say how to go on with it; nothing of it is kept yet."""
        match request.signal:
            case Signal.TRACES:
                spans = wire.slice_spans(request.data, request.headers, self._origins, number=request.number)
                records, rejected = spans.records, spans.rejected
                return _Checked(len(records), rejected, lambda: self._pass_spans(request, records, whole=not rejected))
            case Signal.LOGS:
                logs = wire.slice_logs(request.data, request.headers, self._origins)
                return _Checked(
                    len(logs.records),
                    logs.rejected,
                    lambda: self._take_logs(request, logs),
                )
            case Signal.METRICS:
                points = wire.count_data_points(request.data)
                return _Checked(points, (), lambda: self._pass_on(request, points))

    def _pass_on(self, request: _Request, items: int, destinations: Sequence[Destination] | None = None) -> None:
        parcel = Parcel(request.signal, request.data, items, request.headers, request.number)
        self._dispatch.send_request(parcel, destinations or self._destinations.get(request.signal, ()))

    def _pass_spans(self, request: _Request, records: Sequence[SpanRecord], *, whole: bool) -> None:
        if self._assembler is None or self._reading is None:
            passed, held, late = [_as_it_came(record) for record in records], [], 0
        else:
            found = self._sort(records, request.receiver, self._assembler, self._reading, None)
            self._drop(found.repeated, (*self._waiting, *self._immediate))
            passed, held, late = found.passed, found.held, found.late
        if whole and not late and len(passed) == len(records):
            # The request goes on as it came: nothing in it was held, marked or left out.
            self._pass_on(request, len(records))
        else:
            self._dispatch.send_spans(passed, self._waiting)
            self._dispatch.send_spans([*passed, *held], self._immediate)

    def _sort(
        self,
        records: Sequence[SpanRecord],
        receiver: str,
        assembler: Assembler,
        reading: Reading,
        age_s: float | None,
    ) -> _Sorted:
        """Have the assembler take spans. `age_s`: how long ago they came, if in a process before this one."""
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
        late = 0
        repeated: list[SpanRecord] = []
        # Wanted spans first: what they make of their trace decides about the others.
        taken = [assembler.add(trace_id, group, now_s, age_s) for trace_id, group in wanted.items()]
        for trace_id, one in zip(wanted, taken, strict=True):
            too_late = len(one.spans) if one.arrival is Arrival.LATE else 0
            self._accounts.arrived(trace_id, receiver, len(one.spans), too_late + len(one.late), len(one.duplicates))
        for record in unwanted:
            if assembler.knows(record.trace_id):
                taken.append(assembler.add_unwanted(record, now_s, age_s))
            else:
                self._accounts.passed(record.trace_id, now_s)
                passed.append(_as_it_came(record))
        for arrival, spans, others, repeats, late_ones in taken:
            repeated += repeats
            passed += map(_as_it_came, others)
            late += len(late_ones)
            passed += [_marked(record, reading.late_mark) for record in late_ones]
            if arrival is Arrival.HELD:
                if self._immediate:
                    held += map(_as_it_came, spans)
            elif arrival is Arrival.LATE:
                late += len(spans)
                passed += [_marked(record, reading.late_mark) for record in spans]
            else:
                passed += map(_as_it_came, spans)
        if late:
            self._telemetry.traces.late(late)
        return _Sorted(passed, held, repeated, late)

    def _drop(self, repeated: Sequence[SpanRecord], owed_to: Sequence[Destination]) -> None:
        """Send repeats to none of those who were to get them."""
        if not repeated:
            return
        self._telemetry.traces.deduplicated(len(repeated))
        for destination in owed_to:
            self._counts_of(destination.name).deduplicated(len(repeated))
        if self._journal is not None:
            self._journal.dropped([record.place for record in repeated])

    def _take_logs(self, request: _Request, sliced: wire.SlicedLogs) -> None:
        self._copy_logs(sliced)
        # Where to is asked when it goes on: a reload may come in between.
        self._pass_logs(request, sliced, self._destinations.get(Signal.LOGS, ()))

    def _pass_logs(self, request: _Request, sliced: wire.SlicedLogs, destinations: Sequence[Destination]) -> None:
        if not sliced.rejected:
            self._pass_on(request, len(sliced.records), destinations)
            return
        rejected = {one.index for one in sliced.rejected}
        indexes = [index for index in range(len(sliced.records) + len(rejected)) if index not in rejected]
        parcel = Parcel(Signal.LOGS, wire.build_logs_request(sliced.records), len(sliced.records), request.headers)
        self._dispatch.send_part(parcel, request.number, indexes, destinations)

    def _copy_logs(self, sliced: wire.SlicedLogs) -> None:
        if self._assembler is None or self._reading is None:
            return
        now_s = self._clock()
        for record in sliced.records:
            if record.trace_id and self._reading.wants_log(record.record, record.origin.scope):
                self._assembler.add_log(record, now_s)

    # -- what a process before this one left -------------------------------------------------------------------------

    def take_again(self, owed: OwedArrival, entry: ArrivalEntry, destinations: Sequence[Destination]) -> None:
        """Take what was acknowledged before and not sent on.

        Spans are held again where all destinations that wait for scores lack them, unless the request isn't trusted.

        Args:
            owed: what of it is owed to whom.
            entry: the request.
            destinations: who is to get it: some of those that it is owed to, in the signal's pipeline or not any more.
        """
        request = _Request(entry.receiver, entry.signal, entry.request, entry.headers, owed.number)
        lacking: dict[tuple[int, ...], list[Destination]] = {}
        for destination in destinations:
            lacking.setdefault(tuple(owed.remaining[destination.name]), []).append(destination)
        match entry.signal:
            case Signal.TRACES:
                sliced = wire.slice_spans(entry.request, entry.headers, self._origins, None, owed.number)
                # Judged with two groups, what both lack would be taken for repeats when it comes for the second one.
                judged = owed.trusted and (bool(self._waiting) or len(lacking) == 1)
                age_s = max(self._wall_clock() - entry.arrived_wall_ns, 0) / 1e9 if judged else None
                for indexes, group in lacking.items():
                    places = {owed.number << PLACE_BITS | index for index in indexes}
                    records = [record for record in sliced.records if record.place in places]
                    self._pass_again(records, entry.receiver, group, age_s)
            case Signal.LOGS:
                logs = wire.slice_logs(entry.request, entry.headers, self._origins, None)
                if owed.trusted:
                    self._copy_logs(logs)
                self._pass_logs(request, logs, destinations)
            case Signal.METRICS:
                self._pass_on(request, entry.items, destinations)

    def _pass_again(
        self,
        records: Sequence[SpanRecord],
        receiver: str,
        destinations: Sequence[Destination],
        age_s: float | None,
    ) -> None:
        waiting = [one for one in destinations if one.mode.waits]
        immediate = [one for one in destinations if not one.mode.waits]
        all_wait = {one.name for one in waiting} == {one.name for one in self._waiting}
        if age_s is None or self._assembler is None or self._reading is None or not all_wait:
            self._dispatch.send_spans(map(_as_it_came, records), destinations)
            return
        found = self._sort(records, receiver, self._assembler, self._reading, age_s)
        self._drop(found.repeated, destinations)
        self._dispatch.send_spans(found.passed, waiting)
        repeated = {record.place for record in found.repeated}
        self._dispatch.send_spans([_as_it_came(one) for one in records if one.place not in repeated], immediate)

    # -- Outlet ------------------------------------------------------------------------------------------------------

    @property
    def wants_evaluations(self) -> bool:
        """See `collector.holding.contract.Outlet`."""
        return any(one.mode in _WITH_EVALUATIONS for one in (*self._waiting, *self._immediate))

    def leave(self, spans: Sequence[Outbound]) -> None:
        """See `collector.holding.contract.Outlet`."""
        if self._waiting:
            self._dispatch.leave(spans, self._waiting)

    def unreadable(self, spans: int) -> None:
        """See `collector.holding.contract.Outlet`."""
        for destination in self._waiting:
            self._counts_of(destination.name).damaged(Signal.TRACES, spans)

    def evaluations(self, spans: Sequence[EvaluationSpan], origin: Origin, *, late: bool) -> None:
        """See `collector.holding.contract.Outlet`."""
        if not spans:
            return
        modes = _WITH_EVALUATIONS | ({ScoreMode.ATTRIBUTES} if late else set())
        targets = [one for one in (*self._waiting, *self._immediate) if one.mode in modes]
        if not targets:
            return
        self._telemetry.traces.created(len(spans))
        for destination in targets:
            self._counts_of(destination.name).created(len(spans))
        outbound = [
            Outbound(Origin(span.resource, origin.resource_schema_url, span.scope, "", origin.headers), span.span)
            for span in spans
        ]
        self._dispatch.send_spans(outbound, targets)

    def evaluations_apart(self, apart: Apart) -> None:
        """Send evaluation spans on that are about spans which have long left."""
        schema_url, headers = apart.route
        self.evaluations(apart.spans, Origin(b"", schema_url, b"", "", headers), late=True)


def _as_it_came(record: SpanRecord) -> Outbound:
    return Outbound(record.origin, record.span, b"", record.place)


def _marked(record: SpanRecord, mark: bytes) -> Outbound:
    return Outbound(record.origin, record.span, mark, record.place)
