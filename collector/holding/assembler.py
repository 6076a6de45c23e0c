"""Groups spans into traces and decides, by arrival alone, when something is ready to be judged and when it must leave.

In: span and log records as they are accepted, and the passing of time.  Out, through callbacks: jobs for whoever
judges, and spans that leave.  It is a state machine without I/O and without a clock of its own: every method is given
the time, so that tests are tables.  It belongs to one event loop and never blocks.

A trace is *live* from its first wanted span until its content is dropped.  While it is live:

* a span nobody wants leaves at once, unless it is a root of the trace;
* a *step* job is made when the trace has been quiet and its top span or a parent is still missing;
* a *run* job is made when nothing is missing and the trace has been quiet, or after the idle time-out or at the
  maximum age;
* a span leaves with its scores, or without them when the hold is over; scores that come later leave on spans of
  their own.

After a run was judged its content is kept until nothing of the trace has arrived for the late window.  Spans that hang
below its spans are late: they leave at once, marked, and lead to judging again.  Others are another run of the same
trace, and treated like the first.  After the late window the ledger still knows the trace.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence, Set
from functools import partial
from itertools import groupby
from operator import attrgetter

from collector.holding.contract import Arrival, Desk, Outlet, Stats, Taken, Unwitnessed, Witness
from collector.holding.ledger import Ledger
from collector.holding.live_trace import (
    Chunk,
    JobState,
    LiveTrace,
    checksums_of,
    drop_content,
    late_among,
    record_of,
    records_of,
    stub_spans,
)
from collector.holding.settings import Settings
from collector.holding.situation import Situation, situation_of
from collector.holding.store import MemoryStore
from collector.judging.jobs import Job, Judged, open_carriers
from collector.records import LogRecord, Origin, Outbound, SpanRecord

# What a kept span costs besides its bytes, about: its record, ids and places; and what a trace does.
SPAN_OVERHEAD_BYTES = 400
TRACE_OVERHEAD_BYTES = 1200
# What is kept of a span that nobody wants, about.
STUB_BYTES = 300
# Resources and scopes are shared by the spans of a service: of each so much costs nothing.
SHARED_BYTES = 2048
NOT_BEGUN = "judging could not begin within processors::assemble::hold"


class Assembler:
    """See the module's text.

    Args:
        settings: the waiting times.
        spans, logs: the stores that keep the content; the assembler has one claim on each of its entries.
        outlet: where spans go.
        desk: who judges; results come back through `judged`.
        witness: who keeps a record of what became of traces.
        reread: gives the spans at places of the journal; None without a journal.
    """

    def __init__(
        self,
        settings: Settings,
        spans: MemoryStore[Chunk],
        logs: MemoryStore[LogRecord],
        outlet: Outlet,
        desk: Desk,
        witness: Witness | None = None,
        reread: Callable[[Sequence[int]], Chunk] | None = None,
    ) -> None:
        self._settings = settings
        self._reread = reread
        self._witness = witness or Unwitnessed()
        self._spans = spans
        self._logs = logs
        self._outlet = outlet
        self._desk = desk
        self._live: dict[bytes, LiveTrace] = {}
        self._due: list[tuple[float, bytes]] = []
        self._ledger = Ledger(settings.ledger_max_age)
        self._held_spans = 0
        self._draining = False

    # -- arrivals ----------------------------------------------------------------------------------------------------

    def knows(self, trace_id: bytes) -> bool:
        """Whether even a span nobody wants has to be told to the assembler if it is of this trace."""
        return trace_id in self._live or trace_id in self._ledger

    def add(self, trace_id: bytes, records: list[SpanRecord], now_s: float, age_s: float = 0.0) -> Taken:
        """Take wanted spans of one trace that arrived together, `age_s` seconds ago if in a process before this one."""
        trace = self._live.get(trace_id)
        if trace is None:
            if trace_id in self._ledger:
                return self._late_for_ledger(trace_id, records)
            if self._draining:
                return Taken(Arrival.PASSED, records, [], [])
            trace = self._live[trace_id] = LiveTrace(now_s)
        fresh, others, duplicates = self._unknown(trace, records)
        if self._draining:
            if fresh:
                self._keep(trace_id, trace, fresh, (), now_s)
            return Taken(Arrival.PASSED, fresh, others, duplicates)
        late = [] if trace.judged_s is None else late_among(trace, fresh)
        late_ids = {record.span_id for record in late}
        held = [record for record in fresh if record.span_id not in late_ids] if late else fresh
        if fresh:
            self._keep(trace_id, trace, fresh, held, now_s)
        return Taken(Arrival.HELD, held, others, duplicates, late)

    def add_unwanted(self, record: SpanRecord, now_s: float, age_s: float = 0.0) -> Taken:
        """Take a span nobody wants of a trace that is known.

        A root of the trace is kept and held like a wanted span; of others only their place in the tree is kept.
        """
        trace = self._live.get(record.trace_id)
        if trace is None:
            late = self._late_for_ledger(record.trace_id, [record])
            return late._replace(arrival=Arrival.PASSED)
        fresh, others, duplicates = self._unknown(trace, [record])
        if not fresh:
            return Taken(Arrival.PASSED, [], others, duplicates)
        if record.parent_span_id and record.remote_parent is not True:
            trace.note(record)
            if trace.chunks:
                self._spans.grow(trace.chunks[0], STUB_BYTES)
            elif trace.logs:
                self._logs.grow(trace.logs[0], STUB_BYTES)
            trace.last_s = now_s
            # It may have been the last that was missing.
            self._reschedule(record.trace_id, trace, now_s)
            return Taken(Arrival.PASSED, fresh, [], [])
        held = not self._draining and (trace.judged_s is None or not late_among(trace, fresh))
        self._keep(record.trace_id, trace, fresh, fresh if held else (), now_s)
        return Taken(Arrival.HELD if held else Arrival.PASSED, fresh, [], [])

    def add_log(self, record: LogRecord, now_s: float) -> None:
        """Take a copy of a log record that carries content of a trace; the record itself is the caller's to send on."""
        if record.trace_id in self._ledger or self._draining:
            return
        trace = self._live.get(record.trace_id)
        if trace is None:
            trace = self._live[record.trace_id] = LiveTrace(now_s)
        trace.logs.append(self._logs.put(record, len(record.record) + _beyond_usual(record.origin), 1))
        trace.last_s = now_s
        trace.changed = True
        self._schedule(record.trace_id, trace)

    def _unknown(
        self, trace: LiveTrace, records: list[SpanRecord]
    ) -> tuple[list[SpanRecord], list[SpanRecord], list[SpanRecord]]:
        """Those of the spans that are not here yet, those whose id is here with other bytes, and repeats."""
        ids = {record[1] for record in records}
        if len(ids) == len(records) and ids.isdisjoint(trace.places) and ids.isdisjoint(trace.stubs):
            return records, [], []
        fresh: dict[bytes, SpanRecord] = {}
        others: list[SpanRecord] = []
        repeats: list[SpanRecord] = []
        for record in records:
            known = fresh.get(record.span_id)
            if known is None:
                known = record_of(trace, self._spans, record.span_id)
            if known is None and not trace.has(record.span_id):
                fresh[record.span_id] = record
            elif known is None or known.span != record.span:
                # Whoever repeats an id with other bytes decided so: it is not ours to judge or to drop.
                others.append(record)
            else:
                repeats.append(record)
        return list(fresh.values()), others, repeats

    def _keep(
        self,
        trace_id: bytes,
        trace: LiveTrace,
        fresh: list[SpanRecord],
        held: Sequence[SpanRecord],
        now_s: float,
    ) -> None:
        size_bytes = sum([len(record[5]) for record in fresh])
        beside_bytes = SPAN_OVERHEAD_BYTES * len(fresh)
        # By identity: origins are interned, and hashing them costs.
        size_bytes += sum(map(_beyond_usual, {id(record[4]): record[4] for record in fresh}.values()))
        if not trace.chunks:
            beside_bytes += TRACE_OVERHEAD_BYTES
        if held and not trace.awaits_run:
            # Another run begins in a trace in which one was judged.
            trace.first_s = now_s
        again = None if self._reread is None else partial(self._reread, [record.place for record in fresh])
        ref = self._spans.put(fresh, size_bytes, 1, beside_bytes=beside_bytes, again=again)
        if self._spans.is_crowded:
            self._spans.spill(ref)
        trace.keep(ref, fresh)
        trace.held.update(dict.fromkeys([record[1] for record in held], now_s))
        self._held_spans += len(held)
        trace.last_s = now_s
        trace.changed = True
        self._reschedule(trace_id, trace, now_s)

    def _late_for_ledger(self, trace_id: bytes, records: list[SpanRecord]) -> Taken:
        late: list[SpanRecord] = []
        repeats: list[SpanRecord] = []
        for record in records:
            seen = self._ledger.has_seen(trace_id, record.span_id, record.span)
            (repeats if seen else late).append(record)
        return Taken(Arrival.LATE, late, [], repeats)

    # -- time --------------------------------------------------------------------------------------------------------

    def next_due_s(self) -> float | None:
        """When `tick` has something to do at the earliest; None when nothing is waiting."""
        return self._due[0][0] if self._due else None

    def tick(self, now_s: float) -> None:
        """Do what is due."""
        while self._due and self._due[0][0] <= now_s:
            due_s, trace_id = heapq.heappop(self._due)
            trace = self._live.get(trace_id)
            if trace is None or trace.scheduled_s != due_s:
                continue
            trace.scheduled_s = float("inf")
            self._act(trace_id, trace, now_s)
            if trace_id in self._live:
                self._schedule(trace_id, trace)
        self._ledger.expire(now_s)

    def _reschedule(self, trace_id: bytes, trace: LiveTrace, now_s: float) -> None:
        """Schedule after an arrival, which leads to nothing before the quiet period is over."""
        if trace.scheduled_s > now_s + self._settings.quiet_period:
            self._schedule(trace_id, trace)

    def _schedule(self, trace_id: bytes, trace: LiveTrace) -> None:
        # Arrivals only ever move a trace's silence further away, so an entry that is already due earlier stays and is
        # put back when it comes up: no work per span.
        due_s = self._due_s(trace)
        if due_s < trace.scheduled_s:
            trace.scheduled_s = due_s
            heapq.heappush(self._due, (due_s, trace_id))

    def _due_s(self, trace: LiveTrace) -> float:
        timing = self._settings
        max_hold_s = trace.oldest_held_s + timing.max_hold
        if trace.job is not None:
            # Its answer schedules what comes next; until then only the hold can run out.
            return max_hold_s if trace.job.expired else min(trace.job.ready_s + timing.hold, max_hold_s)
        if trace.judged_s is not None and not trace.awaits_run:
            if trace.changed:
                return trace.last_s + timing.quiet_period
            return max(trace.judged_s, trace.last_s) + timing.late_window
        due_s = min(trace.last_s + timing.idle_timeout, trace.first_s + timing.max_age, max_hold_s)
        if trace.complete or trace.changed:
            due_s = min(due_s, trace.last_s + timing.quiet_period)
        return due_s

    def _act(self, trace_id: bytes, trace: LiveTrace, now_s: float) -> None:
        # All sums as in `_due_s`: rounded otherwise, what is due there might not be due here, for ever.
        timing = self._settings
        if now_s >= trace.oldest_held_s + timing.max_hold:
            overdue = {one for one, arrived_s in trace.held.items() if now_s >= arrived_s + timing.max_hold}
            self._let_go(trace, overdue, early=True)
        if trace.job is not None:
            if not trace.job.expired and now_s >= trace.job.ready_s + timing.hold:
                self._expire(trace_id, trace, trace.job, now_s)
            return
        is_quiet = now_s >= trace.last_s + timing.quiet_period
        if trace.judged_s is not None and not trace.awaits_run:
            if trace.changed and is_quiet:
                self._start(trace_id, trace, now_s, complete=True, partial=trace.lacks_spans())
            elif now_s >= max(trace.judged_s, trace.last_s) + timing.late_window:
                self._retire(trace_id, trace, now_s)
        elif trace.complete and is_quiet:
            self._start(trace_id, trace, now_s, complete=True, partial=False)
        elif now_s >= trace.last_s + timing.idle_timeout:
            self._start(trace_id, trace, now_s, complete=True, partial=trace.lacks_spans())
        elif now_s >= trace.first_s + timing.max_age:
            self._start(trace_id, trace, now_s, complete=True, partial=not trace.complete)
        elif trace.changed and is_quiet:
            self._start(trace_id, trace, now_s, complete=False, partial=False)

    def _expire(self, trace_id: bytes, trace: LiveTrace, job: JobState, now_s: float) -> None:
        job.expired = True
        # Which of them wait for nothing but this job is only known with its result, so all of them leave.
        self._let_go(trace, job.span_ids, early=True)
        if self._desk.withdraw(trace_id):
            # Judging can't keep up. What is too late to be begun would only make the next ones late as well.
            self.judged(Judged(trace_id=trace_id, failure=NOT_BEGUN), now_s)

    # -- jobs --------------------------------------------------------------------------------------------------------

    def _start(self, trace_id: bytes, trace: LiveTrace, now_s: float, *, complete: bool, partial: bool) -> None:
        if not trace.chunks:
            # Only log records came, or spans nobody wants: there is nothing to judge and nothing that waits.
            drop_content(trace, self._spans, self._logs)
            del self._live[trace_id]
            return
        batches = [
            (origin.resource, origin.scope, [record[5] for record in records])
            for origin, records in groupby(records_of(trace, self._spans), attrgetter("origin"))
        ]
        logs = [self._logs.read(ref) for ref in trace.logs]
        first = next(records_of(trace, self._spans)).origin
        job = Job(
            trace_id=trace_id,
            batches=batches,
            logs=[(record.origin.resource, record.origin.scope, record.record) for record in logs],
            complete=complete,
            partial=partial,
            stubs=list(stub_spans(trace_id, trace)),
            memory=trace.memory,
            rules_only=self._draining,
            route=(first.resource_schema_url, first.headers),
        )
        trace.changed = False
        trace.job = JobState(now_s, complete, trace.held.keys() | trace.gone_early)
        self._desk.submit(job)

    def judged(self, result: Judged, now_s: float) -> None:
        """Take the result of a job."""
        trace = self._live.get(result.trace_id)
        if trace is None or trace.job is None:
            return
        if not result.final:
            # Should the hold run out before the judge has answered, spans leave with what the rules said.
            trace.memory = result.memory
            self._take_scores(trace, result)
            return
        job, trace.job = trace.job, None
        self._look_again(result.again)
        if result.failure is None:
            trace.memory = result.memory
            if trace.origins is None:
                trace.checksums = result.checksums
        self._take_scores(trace, result)
        if job.complete:
            # What arrived since the job was made stays for the next one.
            self._let_go(trace, job.span_ids)
            trace.gone_early = trace.gone_early - job.span_ids
            trace.judged_s = trace.first_s = now_s
        elif not job.expired:
            self._let_go(trace, job.span_ids & result.settled, early=True)
        if trace.origins is not None:
            self._retire(result.trace_id, trace, now_s)
            return
        if self._draining:
            self._wind_up(result.trace_id, trace, now_s)
        self._schedule(result.trace_id, trace)

    def _look_again(self, trace_ids: Set[bytes]) -> None:
        """Judge traces again that were judged, or are being judged, before it was known how their run went on."""
        for trace_id in trace_ids:
            trace = self._live.get(trace_id)
            if trace is not None and trace.chunks and (trace.judged_s is not None or trace.job is not None):
                trace.changed = True
                self._schedule(trace_id, trace)

    def _take_scores(self, trace: LiveTrace, result: Judged) -> None:
        late = False
        for span_id, tail in result.tails.items():
            if span_id not in trace.held:
                late = True
            elif tail:
                trace.tails[span_id] = trace.tails.get(span_id, b"") + tail
        if not (late or result.extra or self._outlet.wants_evaluations):
            return
        for span_id, carriers in open_carriers(result).items():
            origin = self._origin(trace, span_id)
            if origin is not None:
                self._outlet.evaluations(carriers.evaluations, origin, late=span_id not in trace.held)
                self._outlet.evaluations(carriers.extra, origin, late=True)

    def _origin(self, trace: LiveTrace, span_id: bytes) -> Origin | None:
        if trace.origins is not None:
            return trace.origins.get(span_id)
        record = record_of(trace, self._spans, span_id)
        return None if record is None else record.origin

    # -- leaving -----------------------------------------------------------------------------------------------------

    def _let_go(self, trace: LiveTrace, span_ids: Set[bytes], *, early: bool = False) -> None:
        """Let those of these spans leave that are held, in order of arrival; `early` if their run isn't judged yet."""
        going = trace.held.keys() & span_ids
        if not going:
            return
        tails = trace.tails
        with_scores = len(tails)
        records = [record for record in records_of(trace, self._spans) if record[1] in going]
        leaving = [
            Outbound(origin, span, tails.pop(span_id, b""), place) for _, span_id, _, _, origin, span, place in records
        ]
        if len(going) == len(trace.held):
            trace.held.clear()
        else:
            for span_id in going:
                del trace.held[span_id]
        if early:
            trace.gone_early |= going
        self._held_spans -= len(going)
        self._outlet.leave(leaving)
        self._witness.left(records[0].trace_id, len(leaving), with_scores - len(tails), early=early)

    def _retire(self, trace_id: bytes, trace: LiveTrace, now_s: float) -> None:
        self._let_go(trace, trace.held.keys())
        self._ledger.remember(trace_id, b"".join(trace.places), checksums_of(trace, self._spans), now_s)
        drop_content(trace, self._spans, self._logs)
        del self._live[trace_id]
        self._witness.forgotten(trace_id)

    # -- pressure and the end ----------------------------------------------------------------------------------------

    def shed(self, now_s: float) -> None:
        """Drop all content that nobody waits for: of runs that are only kept for late spans, and of those whose verdict
        is overdue (if it still comes it is told all the same).
        """
        for trace_id, trace in list(self._live.items()):
            if trace.job is None and trace.judged_s is not None and not trace.awaits_run:
                self._retire(trace_id, trace, now_s)
            elif trace.job is not None and trace.job.expired and not trace.held:
                origins = trace.origins or {}
                origins.update({record.span_id: record.origin for record in records_of(trace, self._spans)})
                trace.origins = origins
                trace.checksums = checksums_of(trace, self._spans)
                drop_content(trace, self._spans, self._logs)

    def drain(self, now_s: float) -> None:
        """Prepare to stop: what is complete is judged now, by rules alone; everything else leaves as it is.

        Spans that still arrive pass through. Afterwards the only thing awaited are the results of the jobs in flight,
        and of what they have kept from being judged, until `abandon`.
        """
        self._draining = True
        for trace_id, trace in list(self._live.items()):
            if trace.job is None:
                self._wind_up(trace_id, trace, now_s)

    def _wind_up(self, trace_id: bytes, trace: LiveTrace, now_s: float) -> None:
        if trace.held and trace.complete:
            self._start(trace_id, trace, now_s, complete=True, partial=False)
        else:
            self._let_go(trace, trace.held.keys())

    def abandon(self) -> None:
        """Let everything that is still held leave without scores."""
        for trace in self._live.values():
            self._let_go(trace, trace.held.keys())

    # -- who asks, and who decides otherwise -------------------------------------------------------------------------

    def situation(self, trace_id: bytes, now_s: float) -> Situation | None:
        """How it stands with a trace; None if nothing of it is kept."""
        trace = self._live.get(trace_id)
        return None if trace is None else situation_of(trace, self._settings, now_s)

    def held(self, trace_id: bytes) -> Set[bytes]:
        """The spans of a trace that are held."""
        trace = self._live.get(trace_id)
        return frozenset() if trace is None else trace.held.keys()

    def with_prefix(self, prefix: str) -> list[bytes]:
        """The ids of traces that are kept and whose id begins with these hex digits."""
        return [trace_id for trace_id in self._live if trace_id.hex().startswith(prefix)]

    def remembers(self, trace_id: bytes) -> bool:
        """Whether it is known of a trace that was dropped that it was here."""
        return trace_id in self._ledger

    def retime(self, settings: Settings) -> None:
        """Go by other waiting times from now on, also with what is held."""
        self._settings = settings
        for trace_id, trace in self._live.items():
            self._schedule(trace_id, trace)

    def stats(self) -> Stats:
        """What is there now."""
        return Stats(traces=len(self._live), held_spans=self._held_spans)


def _beyond_usual(origin: Origin) -> int:
    return max(origin.size_bytes - SHARED_BYTES, 0)
