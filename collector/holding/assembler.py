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
from collections import deque
from collections.abc import Callable, Sequence, Set
from functools import partial
from itertools import islice
from operator import attrgetter

from collector.holding.contract import Arrival, Desk, Outlet, Stats, Taken, Unwitnessed, Witness
from collector.holding.ledger import CHECKSUM_BYTES, Ledger, Remembered
from collector.holding.live_trace import (
    Chunk,
    JobState,
    LiveTrace,
    checksums_of,
    drop_content,
    late_among,
    origins_by_id,
    records_at,
    records_by_id,
    spill,
)
from collector.holding.settings import Settings
from collector.holding.situation import Situation, situation_of
from collector.holding.store import MemoryStore
from collector.holding.submission import Submission
from collector.judging.jobs import Job, Judged, open_carriers
from collector.records import LogRecord, Origin, Outbound, SpanRecord

# What a kept span costs besides its bytes, about: its record, ids and places; and what a trace does.
SPAN_OVERHEAD_BYTES = 400
TRACE_OVERHEAD_BYTES = 1200
# What is kept of a span that nobody wants, about.
STUB_BYTES = 300
# Resources and scopes are shared by the spans of a service: of each so much costs nothing.
SHARED_BYTES = 2048
# No trace may take more than this share of the memory: what more of it comes is sent on at once, unjudged.
TRACE_SHARE = 1 / 8
# What one tick does, and what of one trace leaves in one go, so that nobody waits long for a large trace.
SPANS_PER_TICK = 5000
SPANS_IN_ONE_GO = 1000
# How many traces are looked at when memory is short: the largest.
SPILLED_AT_ONCE = 1000
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
        ledger: remembers traces that were judged, perhaps over a restart.
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
        ledger: Ledger | None = None,
    ) -> None:
        self._settings = settings
        self._reread = reread
        self._witness = Unwitnessed() if witness is None else witness
        self._spans = spans
        self._logs = logs
        self._outlet = outlet
        self._desk = desk
        self._live: dict[bytes, LiveTrace] = {}
        self._due: list[tuple[float, bytes]] = []
        self._ledger = Ledger(settings.ledger_max_age) if ledger is None else ledger
        self._share_bytes = int(TRACE_SHARE * spans.limit_bytes)
        # Traces of which spans are leaving piece by piece, each in its turn.
        self._moving: deque[bytes] = deque()
        self._ticked_s = 0.0
        self._spent = 0
        self._held_spans = 0
        self._unjudged_spans = 0
        # Traces that hold spans, and since when at the earliest, in about that order.
        self._holding: dict[bytes, float] = {}
        self._draining = False

    # -- arrivals ----------------------------------------------------------------------------------------------------

    def knows(self, trace_id: bytes) -> bool:
        """Whether even a span nobody wants has to be told to the assembler if it is of this trace."""
        return trace_id in self._live or trace_id in self._ledger

    def add(self, trace_id: bytes, records: list[SpanRecord], now_s: float, age_s: float | None = None) -> Taken:
        """Take wanted spans of one trace that arrived together.

        Args:
            trace_id: of all of them.
            records: the spans.
            now_s: now.
            age_s: how long ago they arrived, if that was in a process before this one: what the journal gave back is
                still owed, so it is no repeat of what was sent, whatever the ledger says.
        """
        trace = self._live.get(trace_id)
        judged_before: list[SpanRecord] = []
        if trace is None:
            if trace_id in self._ledger:
                taken = self._late_for_ledger(trace_id, records)
                if age_s is None:
                    return taken
                # Those that were judged lack only their scores; the others are of a run that wasn't.
                judged_before, records = taken.duplicates, taken.spans
                if not records:
                    return Taken(Arrival.LATE, judged_before, [], [])
            if self._draining:
                return Taken(Arrival.PASSED, records, [], [], judged_before)
            trace = self._live[trace_id] = LiveTrace(now_s)
        fresh, others, duplicates = self._unknown(trace, records)
        if age_s is not None:
            trace.restored = True
        elif trace.restored and trace_id in self._ledger:
            seen = self._late_for_ledger(trace_id, fresh)
            fresh, duplicates = seen.spans, [*duplicates, *seen.duplicates]
        if self._draining:
            if fresh:
                self._keep(trace_id, trace, fresh, (), now_s, age_s)
            return Taken(Arrival.PASSED, fresh, others, duplicates, judged_before)
        late = self._late(trace_id, trace, fresh)
        late_ids = {record.span_id for record in late}
        held = [record for record in fresh if record.span_id not in late_ids] if late else fresh
        if trace.full:
            self._unjudged_spans += len(held)
            trace.last_s = now_s
            return Taken(Arrival.PASSED, held, others, duplicates, [*judged_before, *late])
        if fresh:
            self._keep(trace_id, trace, fresh, held, now_s, age_s)
        return Taken(Arrival.HELD, held, others, duplicates, [*judged_before, *late])

    def add_unwanted(self, record: SpanRecord, now_s: float, age_s: float | None = None) -> Taken:
        """Take a span nobody wants of a trace that is known.

        A root of the trace is kept and held like a wanted span; of others only their place in the tree is kept.
        `age_s` as for `add`.
        """
        trace = self._live.get(record.trace_id)
        if trace is None:
            if age_s is not None:
                return Taken(Arrival.PASSED, [record], [], [])
            late = self._late_for_ledger(record.trace_id, [record])
            return late._replace(arrival=Arrival.PASSED)
        fresh, others, duplicates = self._unknown(trace, [record])
        if not fresh:
            return Taken(Arrival.PASSED, [], others, duplicates)
        if trace.full:
            return Taken(Arrival.PASSED, fresh, [], [])
        if record.parent_span_id and record.remote_parent is not True:
            trace.note(record)
            trace.memory_bytes += STUB_BYTES
            if trace.chunks:
                self._spans.grow(trace.chunks[0], STUB_BYTES)
            elif trace.logs:
                self._logs.grow(trace.logs[0], STUB_BYTES)
            trace.last_s = now_s
            # It may have been the last that was missing.
            self._reschedule(record.trace_id, trace, now_s)
            return Taken(Arrival.PASSED, fresh, [], [])
        held = not self._draining and not self._late(record.trace_id, trace, fresh)
        self._keep(record.trace_id, trace, fresh, fresh if held else (), now_s, age_s)
        return Taken(Arrival.HELD if held else Arrival.PASSED, fresh, [], [])

    def add_log(self, record: LogRecord, now_s: float) -> None:
        """Take a copy of a log record that carries content of a trace; the record itself is the caller's to send on."""
        trace = self._live.get(record.trace_id)
        if self._draining or (trace is None and record.trace_id in self._ledger):
            return
        if trace is None:
            trace = self._live[record.trace_id] = LiveTrace(now_s)
        size_bytes = len(record.record) + _beyond_usual(record.origin)
        if trace.memory_bytes + size_bytes > self._share_bytes:
            return
        trace.logs.append(self._logs.put(record, size_bytes, 1))
        trace.content_bytes += len(record.record)
        trace.memory_bytes += size_bytes
        trace.last_s = now_s
        trace.changed = True
        self._schedule(record.trace_id, trace)

    def _late(self, trace_id: bytes, trace: LiveTrace, fresh: list[SpanRecord]) -> list[SpanRecord]:
        """Those of the new spans that are of a run that was judged, perhaps in a process before this one."""
        if trace.judged_s is not None:
            return late_among(trace, fresh)
        if not trace.restored or trace_id not in self._ledger:
            return []
        return [record for record in fresh if self._ledger.has_span(trace_id, record.parent_span_id)]

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
        kept = records_by_id(trace, self._spans, ids)
        for record in records:
            known = fresh.get(record.span_id) or kept.get(record.span_id)
            if known is None and not trace.has(record.span_id):
                fresh[record.span_id] = record
            elif (
                known.span != record.span
                if known is not None
                # Its content was given up, or can't be read.
                else not self._ledger.has_seen(record.trace_id, record.span_id, record.span)
            ):
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
        age_s: float | None,
    ) -> None:
        size_bytes = sum([len(record[5]) for record in fresh])
        trace.content_bytes += size_bytes
        beside_bytes = SPAN_OVERHEAD_BYTES * len(fresh)
        # By identity: origins are interned, and hashing them costs.
        size_bytes += sum(map(_beyond_usual, {id(record[4]): record[4] for record in fresh}.values()))
        if not trace.chunks:
            beside_bytes += TRACE_OVERHEAD_BYTES
        if held and not trace.awaits_run:
            # Another run begins in a trace in which one was judged.
            trace.first_s = now_s
        arrived_s = now_s
        if age_s is not None:
            timing = self._settings
            arrived_s -= min(max(age_s, 0.0), timing.max_hold)
            # However old it is, the rest of it may just be being read from the journal.
            oldest_s = now_s + timing.quiet_period - timing.max_age
            trace.first_s = max(min(trace.first_s, now_s - max(age_s, 0.0)), oldest_s)
        again = None if self._reread is None else partial(self._reread, [record.place for record in fresh])
        ref = self._spans.put(fresh, size_bytes, 1, beside_bytes=beside_bytes, again=again)
        trace.keep(ref, fresh)
        trace.memory_bytes += size_bytes + beside_bytes
        if held:
            trace.hold([record[1] for record in held], arrived_s)
            self._holding.setdefault(trace_id, arrived_s)
            self._held_spans += len(held)
        trace.last_s = now_s
        trace.changed = True
        self._press(trace)
        if age_s is None:
            self._reschedule(trace_id, trace, now_s)
        else:
            self._schedule(trace_id, trace)

    def _press(self, trace: LiveTrace) -> None:
        """Keep a trace from taking more of the memory than it may, and more than others where it is short."""
        over = trace.memory_bytes > self._share_bytes
        if over or (self._spans.is_crowded and trace.memory_bytes * len(self._live) * 2 >= self._spans.limit_bytes):
            spill(trace, self._spans)
        trace.full = trace.memory_bytes > self._share_bytes

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
        if self._moving:
            return self._ticked_s
        return self._due[0][0] if self._due else None

    def tick(self, now_s: float) -> None:
        """Do what is due; of very much only some, and the rest at once when asked again."""
        self._ticked_s = now_s
        self._spent = 0
        while self._due and self._due[0][0] <= now_s and self._spent < SPANS_PER_TICK:
            due_s, trace_id = heapq.heappop(self._due)
            trace = self._live.get(trace_id)
            if trace is None or trace.scheduled_s != due_s:
                continue
            trace.scheduled_s = float("inf")
            self._act(trace_id, trace, now_s)
            if trace_id in self._live:
                self._schedule(trace_id, trace)
        while self._moving and self._spent < SPANS_PER_TICK:
            trace_id = self._moving.popleft()
            trace = self._live.get(trace_id)
            if trace is not None:
                self._move(trace_id, trace, SPANS_IN_ONE_GO)
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
            if trace.grown:
                return trace.last_s + timing.quiet_period
            return max(trace.judged_s, trace.last_s) + timing.late_window
        due_s = min(trace.last_s + timing.idle_timeout, trace.first_s + timing.max_age, max_hold_s)
        if trace.complete or trace.grown:
            due_s = min(due_s, trace.last_s + timing.quiet_period)
        return due_s

    def _act(self, trace_id: bytes, trace: LiveTrace, now_s: float) -> None:
        # All sums as in `_due_s`: rounded otherwise, what is due there might not be due here, for ever.
        timing = self._settings
        if now_s >= trace.oldest_held_s + timing.max_hold:
            self._let_go(trace_id, trace, trace.overdue(now_s, timing.max_hold), early=True)
        if trace.job is not None:
            if not trace.job.expired and now_s >= trace.job.ready_s + timing.hold:
                self._expire(trace_id, trace, trace.job, now_s)
            return
        is_quiet = now_s >= trace.last_s + timing.quiet_period
        if trace.judged_s is not None and not trace.awaits_run:
            is_over = now_s >= max(trace.judged_s, trace.last_s) + timing.late_window
            if (trace.grown and is_quiet) or (trace.changed and is_over):
                self._start(trace_id, trace, now_s, complete=True, partial=trace.lacks_spans())
            elif is_over:
                self._retire(trace_id, trace, now_s)
        elif trace.complete and is_quiet:
            self._start(trace_id, trace, now_s, complete=True, partial=False)
        elif now_s >= trace.last_s + timing.idle_timeout:
            self._start(trace_id, trace, now_s, complete=True, partial=trace.lacks_spans())
        elif now_s >= trace.first_s + timing.max_age:
            self._start(trace_id, trace, now_s, complete=True, partial=not trace.complete)
        elif trace.grown and is_quiet:
            self._start(trace_id, trace, now_s, complete=False, partial=False)

    def _expire(self, trace_id: bytes, trace: LiveTrace, job: JobState, now_s: float) -> None:
        job.expired = True
        # Which of them wait for nothing but this job is only known with its result, so all of them leave.
        self._let_go(trace_id, trace, job.span_ids, early=True)
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
        frame = Job(
            trace_id=trace_id,
            batches=[],
            logs=[],
            complete=complete,
            partial=partial or trace.full,
            memory=trace.memory,
            rules_only=self._draining,
        )
        trace.changed = False
        trace.judged_spans = len(trace.places)
        trace.job = JobState(now_s, complete, trace.held.keys() | trace.gone_early)
        whole = Submission(trace, trace.job, frame, self._spans, self._logs)
        self._spent += 1
        self._desk.submit(next(whole.parts()) if whole.in_one_piece else whole)

    def judged(self, result: Judged, now_s: float) -> None:
        """Take the result of a job."""
        trace = self._live.get(result.trace_id)
        if trace is None or trace.job is None:
            return
        if result.more:
            self._take_scores(trace, result)
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
            if trace.origins is None and job.readable:
                trace.checksums = result.checksums
        self._take_scores(trace, result)
        if job.complete:
            # What arrived since the job was made stays for the next one.
            self._let_go(result.trace_id, trace, job.span_ids)
            trace.gone_early = trace.gone_early - job.span_ids
            trace.judged_s = trace.first_s = now_s
            # Now, and not only when its content goes: by then this process may have died.
            self._remember(result.trace_id, trace, trace.checksums, now_s)
        elif not job.expired:
            self._let_go(result.trace_id, trace, job.span_ids & result.settled, early=True)
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
        opened = open_carriers(result)
        origins = trace.origins
        if origins is None:
            origins = origins_by_id(trace, self._spans, opened)
        for span_id, carriers in opened.items():
            origin = origins.get(span_id)
            if origin is not None:
                self._outlet.evaluations(carriers.evaluations, origin, late=span_id not in trace.held)
                self._outlet.evaluations(carriers.extra, origin, late=True)

    # -- leaving -----------------------------------------------------------------------------------------------------

    def _let_go(self, trace_id: bytes, trace: LiveTrace, span_ids: Set[bytes], *, early: bool = False) -> None:
        """Let those of these spans leave that are held, in order of arrival; `early` if their run isn't judged yet."""
        going = trace.held.keys() & span_ids
        if not going:
            return
        if len(going) == len(trace.held):
            trace.held.clear()
            trace.ages.clear()
        else:
            for span_id in going:
                del trace.held[span_id]
        if early:
            trace.gone_early |= going
        trace.leaving.extend(sorted([trace.places[span_id] for span_id in going]))
        self._witness.left(trace_id, len(going), len(trace.tails.keys() & going), early=early)
        self._move(trace_id, trace, SPANS_IN_ONE_GO)

    def _move(self, trace_id: bytes, trace: LiveTrace, most: int) -> None:
        """Hand on some of the spans that leave; the rest in its turn."""
        leaving = trace.leaving
        numbers = sorted([leaving.popleft() for _ in range(min(most, len(leaving)))])
        self._spent += len(numbers)
        out = [
            Outbound(origin, span, trace.tails.pop(span_id, b""), place)
            for _, span_id, _, _, origin, span, place in records_at(trace, self._spans, numbers)
        ]
        self._held_spans -= len(numbers)
        if len(out) < len(numbers):
            self._outlet.unreadable(len(numbers) - len(out))
        if out:
            self._outlet.leave(out)
        if leaving and trace_id not in self._moving:
            self._moving.append(trace_id)
        if not leaving and not trace.held:
            self._holding.pop(trace_id, None)

    def _retire(self, trace_id: bytes, trace: LiveTrace, now_s: float) -> None:
        self._let_go(trace_id, trace, trace.held.keys())
        self._move(trace_id, trace, len(trace.leaving))
        self._remember(trace_id, trace, checksums_of(trace, self._spans), now_s)
        drop_content(trace, self._spans, self._logs)
        del self._live[trace_id]
        self._witness.forgotten(trace_id)

    def _remember(self, trace_id: bytes, trace: LiveTrace, checksums: bytes, now_s: float) -> None:
        """Have the ledger know that the trace was judged, and its first spans, as many as there are checksums of."""
        known = len(checksums) // CHECKSUM_BYTES
        self._ledger.remember(trace_id, b"".join(islice(trace.places, known)), checksums, now_s)

    # -- pressure and the end ----------------------------------------------------------------------------------------

    def shed(self, now_s: float) -> None:
        """Make room: drop from memory what the journal has as well, of the largest traces first.

        Where that isn't enough, drop all content that nobody waits for: of runs that are only kept for late spans, and
        of those whose verdict is overdue (if it still comes it is told all the same).
        """
        for trace in heapq.nlargest(SPILLED_AT_ONCE, self._live.values(), key=attrgetter("memory_bytes")):
            if spill(trace, self._spans) and not self._spans.is_crowded:
                return
        for trace_id, trace in list(self._live.items()):
            if trace.leaving:
                continue
            if trace.job is None and trace.judged_s is not None and not trace.awaits_run:
                self._retire(trace_id, trace, now_s)
            elif trace.job is not None and trace.job.expired and not trace.held:
                origins = trace.origins or {}
                origins.update(origins_by_id(trace, self._spans, trace.places))
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
            self._let_go(trace_id, trace, trace.held.keys())

    def abandon(self) -> None:
        """Let everything that is still held leave without scores."""
        for trace_id, trace in self._live.items():
            self._let_go(trace_id, trace, trace.held.keys())
            self._move(trace_id, trace, len(trace.leaving))

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

    def recall(self, trace_id: bytes) -> Remembered | None:
        """What is known of a trace that was judged, also when nothing of it is kept."""
        return self._ledger.recall(trace_id)

    def retime(self, settings: Settings) -> None:
        """Go by other waiting times from now on, also with what is held."""
        self._settings = settings
        self._ledger.max_age_s = settings.ledger_max_age
        for trace_id, trace in self._live.items():
            self._schedule(trace_id, trace)

    def stats(self) -> Stats:
        """What is there now."""
        return Stats(len(self._live), self._held_spans, self._unjudged_spans)

    def longest_held_s(self, now_s: float) -> float:
        """How long the span has been held that has been held longest; 0 if none is."""
        oldest_s = now_s
        for trace_id, since_s in self._holding.items():
            if since_s >= oldest_s:
                break
            oldest_s = min(oldest_s, self._live[trace_id].oldest_held_s)
        return now_s - oldest_s


def _beyond_usual(origin: Origin) -> int:
    return max(origin.size_bytes - SHARED_BYTES, 0)
