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

After a run was judged its content is kept until nothing of the trace has arrived for the late window: late spans
leave at once, marked, and lead to judging again.  After that the ledger still knows the trace.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Sequence
from enum import Enum, auto
from typing import NamedTuple, Protocol
from zlib import crc32

from collector.assembler_settings import Settings
from collector.jobs import EvaluationSpan, Job, Judged, RawItem, open_carriers
from collector.ledger import Ledger
from collector.records import LogRecord, Origin, Outbound, Ref, SpanRecord
from collector.store import MemoryStore


class Outlet(Protocol):
    """Where spans go when they leave. None of its methods refuses or blocks."""

    @property
    def wants_evaluations(self) -> bool:
        """Whether evaluation spans are wanted also for spans that leave with their scores."""

    def leave(self, spans: Sequence[Outbound]) -> None:
        """Send spans on, with what is appended to them."""

    def evaluations(self, spans: Sequence[EvaluationSpan], origin: Origin, *, late: bool) -> None:
        """Send evaluation spans on, to where the spans of `origin` go that they are about.

        `late` says that the judged span left without these verdicts.
        """


class Desk(Protocol):
    """Where jobs are handed in."""

    def submit(self, job: Job) -> None:
        """Take a job; there is at most one per trace at a time."""

    def withdraw(self, trace_id: bytes) -> bool:
        """Take a trace's job back if nobody has begun it; no result comes for it then."""


class Arrival(Enum):
    """What became of a span that arrived."""

    PASSED = auto()
    HELD = auto()
    LATE = auto()
    DUPLICATE = auto()


NOT_BEGUN = "judging could not begin within processors::assemble::hold"


class Stats(NamedTuple):
    """What is there now."""

    traces: int
    held_spans: int
    jobs: int


class _Entry:
    """A span of a live trace. `ref` is None when only its place in the tree is known."""

    __slots__ = ("arrived_s", "fingerprint", "left", "origin", "parent", "ref", "tail")

    def __init__(self, origin: Origin, parent: bytes, fingerprint: int, arrived_s: float, ref: Ref | None) -> None:
        self.origin = origin
        self.parent = parent
        self.fingerprint = fingerprint
        self.arrived_s = arrived_s
        self.ref = ref
        self.tail = b""
        self.left = ref is None


class _Trace:
    __slots__ = (
        "changed",
        "entries",
        "faded",
        "first_s",
        "held",
        "job",
        "judged_s",
        "last_s",
        "logs",
        "memory",
        "missing",
        "scheduled_s",
        "tops",
        "unsure",
    )

    def __init__(self, now_s: float) -> None:
        self.entries: dict[bytes, _Entry] = {}
        # Those that have not left, in order of arrival.
        self.held: dict[bytes, _Entry] = {}
        self.logs: list[Ref] = []
        self.first_s = now_s
        self.last_s = now_s
        self.tops = 0
        self.missing: set[bytes] = set()
        self.unsure: set[bytes] = set()
        self.changed = True
        self.job: _JobState | None = None
        self.judged_s: float | None = None
        # Its content was given up under pressure; only the result of its job is still awaited.
        self.faded = False
        self.memory = b""
        self.scheduled_s = float("inf")

    @property
    def complete(self) -> bool:
        return self.tops > 0 and not self.missing

    def lacks_spans(self) -> bool:
        """Whether spans that were to be expected have not come.

        A parent that never came is most likely in another service if nothing else is the trace's top; with a top of
        its own, or a parent that is known to be local, spans are missing.
        """
        if self.tops:
            return bool(self.missing)
        return len(self.missing) != 1 or not self.missing <= self.unsure


class _JobState:
    __slots__ = ("complete", "expired", "ready_s", "span_ids")

    def __init__(self, ready_s: float, complete: bool, span_ids: list[bytes]) -> None:
        self.ready_s = ready_s
        self.complete = complete
        self.span_ids = span_ids
        self.expired = False


class Assembler:
    """See the module's text.

    Args:
        settings: the waiting times.
        spans, logs: the stores that keep the content; the assembler has one claim on each of its entries.
        outlet: where spans go.
        desk: who judges; results come back through `judged`.
    """

    def __init__(
        self,
        settings: Settings,
        spans: MemoryStore[SpanRecord],
        logs: MemoryStore[LogRecord],
        outlet: Outlet,
        desk: Desk,
    ) -> None:
        self._settings = settings
        self._spans = spans
        self._logs = logs
        self._outlet = outlet
        self._desk = desk
        self._live: dict[bytes, _Trace] = {}
        self._due: list[tuple[float, bytes]] = []
        self._ledger = Ledger(settings.ledger_max_age)
        self._held_spans = 0
        self._jobs = 0
        self._draining = False

    # -- arrivals ----------------------------------------------------------------------------------------------------

    def knows(self, trace_id: bytes) -> bool:
        """Whether a span of this trace needs `add`, even if nobody wants it."""
        return trace_id in self._live

    def remembers(self, trace_id: bytes) -> bool:
        """Whether the trace was judged, and its content is gone."""
        return trace_id in self._ledger

    def add(self, record: SpanRecord, wanted: bool, now_s: float) -> Arrival:
        """Take a span: of a live trace, or one that is wanted.

        Unless it says HELD or DUPLICATE, the span has to be sent on by the caller; LATE ones with the late mark if
        they are wanted.
        """
        fingerprint = int.from_bytes(record.span_id) ^ crc32(record.span)
        trace = self._live.get(record.trace_id)
        if trace is None:
            if record.trace_id in self._ledger:
                return self._late_for_ledger(record, fingerprint)
            if not wanted or self._draining:
                return Arrival.PASSED
            trace = self._open(record.trace_id, now_s)
        known = trace.entries.get(record.span_id)
        if known is not None:
            # The same id with other bytes is somebody else's decision to repeat: it is not ours to judge or to drop.
            return Arrival.DUPLICATE if known.fingerprint == fingerprint else Arrival.PASSED
        is_top = not record.parent_span_id or record.remote_parent is True
        keep = wanted or is_top
        ref = self._spans.put(record, len(record.span), 1) if keep else None
        entry = _Entry(record.origin, record.parent_span_id, fingerprint, now_s, ref)
        trace.entries[record.span_id] = entry
        self._place(trace, record, is_top)
        trace.last_s = now_s
        trace.changed = trace.changed or keep
        late = trace.judged_s is not None
        if keep and (late or self._draining):
            entry.left = True
        elif keep:
            trace.held[record.span_id] = entry
            self._held_spans += 1
        if trace.scheduled_s > now_s + self._settings.quiet_period:
            self._schedule(record.trace_id, trace)
        if not keep or self._draining:
            return Arrival.PASSED
        return Arrival.LATE if late else Arrival.HELD

    def add_log(self, record: LogRecord, now_s: float) -> None:
        """Take a copy of a log record that carries content of a trace; the record itself is the caller's to send on."""
        if record.trace_id in self._ledger or self._draining:
            return
        trace = self._live.get(record.trace_id) or self._open(record.trace_id, now_s)
        trace.logs.append(self._logs.put(record, len(record.record), 1))
        trace.last_s = now_s
        trace.changed = True
        self._schedule(record.trace_id, trace)

    def _open(self, trace_id: bytes, now_s: float) -> _Trace:
        trace = self._live[trace_id] = _Trace(now_s)
        return trace

    @staticmethod
    def _place(trace: _Trace, record: SpanRecord, is_top: bool) -> None:
        trace.missing.discard(record.span_id)
        trace.unsure.discard(record.span_id)
        if is_top:
            trace.tops += 1
        elif record.parent_span_id not in trace.entries:
            trace.missing.add(record.parent_span_id)
            if record.remote_parent is None:
                trace.unsure.add(record.parent_span_id)

    def _late_for_ledger(self, record: SpanRecord, fingerprint: int) -> Arrival:
        return Arrival.DUPLICATE if self._ledger.has_seen(record.trace_id, fingerprint) else Arrival.LATE

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

    def _schedule(self, trace_id: bytes, trace: _Trace) -> None:
        # Arrivals only ever move a trace's silence further away, so an entry that is already due earlier stays and is
        # put back when it comes up: no work per span.
        due_s = self._due_s(trace)
        if due_s < trace.scheduled_s:
            trace.scheduled_s = due_s
            heapq.heappush(self._due, (due_s, trace_id))

    def _due_s(self, trace: _Trace) -> float:
        timing = self._settings
        if trace.job is not None:
            # Its answer schedules what comes next; until then only the hold can run out.
            waits = [] if trace.job.expired else [trace.job.ready_s + timing.hold]
            return min([*waits, self._oldest_held_s(trace) + timing.max_hold])
        if trace.judged_s is not None:
            if trace.changed:
                return min(trace.last_s + timing.quiet_period, self._oldest_held_s(trace) + timing.max_hold)
            return max(trace.judged_s, trace.last_s) + timing.late_window
        due_s = min(trace.last_s + timing.idle_timeout, trace.first_s + timing.max_age)
        if trace.complete or trace.changed:
            due_s = min(due_s, trace.last_s + timing.quiet_period)
        return min(due_s, self._oldest_held_s(trace) + timing.max_hold)

    @staticmethod
    def _oldest_held_s(trace: _Trace) -> float:
        for entry in trace.held.values():
            return entry.arrived_s
        return float("inf")

    def _act(self, trace_id: bytes, trace: _Trace, now_s: float) -> None:
        timing = self._settings
        if now_s >= self._oldest_held_s(trace) + timing.max_hold:
            oldest_s = now_s - timing.max_hold
            self._let_go(trace, [span_id for span_id, entry in trace.held.items() if entry.arrived_s <= oldest_s])
        if trace.job is not None:
            if not trace.job.expired and now_s >= trace.job.ready_s + timing.hold:
                self._expire(trace_id, trace, trace.job, now_s)
            return
        if trace.judged_s is not None:
            if trace.changed and now_s >= trace.last_s + timing.quiet_period:
                self._start(trace_id, trace, now_s, complete=True, partial=trace.lacks_spans())
            elif now_s >= max(trace.judged_s, trace.last_s) + timing.late_window:
                self._retire(trace_id, trace, now_s)
            return
        silent_s = now_s - trace.last_s
        if trace.complete and silent_s >= timing.quiet_period:
            self._start(trace_id, trace, now_s, complete=True, partial=False)
        elif silent_s >= timing.idle_timeout:
            self._start(trace_id, trace, now_s, complete=True, partial=trace.lacks_spans())
        elif now_s - trace.first_s >= timing.max_age:
            self._start(trace_id, trace, now_s, complete=True, partial=not trace.complete)
        elif trace.changed and silent_s >= timing.quiet_period:
            self._start(trace_id, trace, now_s, complete=False, partial=False)

    def _expire(self, trace_id: bytes, trace: _Trace, job: _JobState, now_s: float) -> None:
        job.expired = True
        # Which of them wait for nothing but this job is only known with its result, so all of them leave.
        self._let_go(trace, job.span_ids)
        if self._desk.withdraw(trace_id):
            # Judging can't keep up. What is too late to be begun would only make the next ones late as well.
            self.judged(Judged(trace_id=trace_id, failure=NOT_BEGUN), now_s)

    # -- jobs --------------------------------------------------------------------------------------------------------

    def _start(self, trace_id: bytes, trace: _Trace, now_s: float, *, complete: bool, partial: bool) -> None:
        if all(entry.ref is None for entry in trace.entries.values()):
            # Only log records came, or spans nobody wants: there is nothing to judge and nothing that waits.
            self._drop_content(trace)
            del self._live[trace_id]
            return
        job = Job(
            trace_id=trace_id,
            spans=[self._raw(trace_id, span_id, entry) for span_id, entry in trace.entries.items()],
            logs=[self._raw_log(ref) for ref in trace.logs],
            complete=complete,
            partial=partial,
            memory=trace.memory,
            rules_only=self._draining,
        )
        trace.changed = False
        trace.job = _JobState(now_s, complete, list(trace.held))
        self._jobs += 1
        self._desk.submit(job)

    def _raw(self, trace_id: bytes, span_id: bytes, entry: _Entry) -> RawItem:
        if entry.ref is None:
            # Only its place in the tree is kept; that is all a span nobody wants contributes.
            parent = b"\x22\x08" + entry.parent if entry.parent else b""
            return b"", b"", b"\x0a\x10" + trace_id + b"\x12\x08" + span_id + parent
        record = self._spans.read(entry.ref)
        return record.origin.resource, record.origin.scope, record.span

    def _raw_log(self, ref: Ref) -> RawItem:
        record = self._logs.read(ref)
        return record.origin.resource, record.origin.scope, record.record

    def judged(self, result: Judged, now_s: float) -> None:
        """Take the result of a job."""
        trace = self._live.get(result.trace_id)
        if trace is None or trace.job is None:
            return
        job, trace.job = trace.job, None
        self._jobs -= 1
        if result.failure is None:
            trace.memory = result.memory
        self._take_scores(trace, result)
        if job.complete:
            # What arrived since the job was made stays for the next one.
            self._let_go(trace, job.span_ids)
            trace.judged_s = trace.judged_s if trace.judged_s is not None else now_s
        elif not job.expired:
            self._let_go(trace, [span_id for span_id in job.span_ids if span_id in result.settled])
        if trace.faded:
            self._retire(result.trace_id, trace, now_s)
        else:
            self._schedule(result.trace_id, trace)

    def _take_scores(self, trace: _Trace, result: Judged) -> None:
        left: list[bytes] = []
        for span_id, tail in result.tails.items():
            entry = trace.held.get(span_id)
            if entry is None:
                left.append(span_id)
            else:
                entry.tail += tail
        if not (left or result.extra or self._outlet.wants_evaluations):
            return
        for span_id, carriers in open_carriers(result).items():
            known = trace.entries.get(span_id)
            if known is not None:
                self._outlet.evaluations(carriers.evaluations, known.origin, late=known.left)
                self._outlet.evaluations(carriers.extra, known.origin, late=True)

    # -- leaving -----------------------------------------------------------------------------------------------------

    def _let_go(self, trace: _Trace, span_ids: Iterable[bytes]) -> None:
        leaving = []
        for span_id in span_ids:
            entry = trace.held.pop(span_id, None)
            if entry is None or entry.ref is None:
                continue
            record = self._spans.read(entry.ref)
            leaving.append(Outbound(record.origin, record.span, entry.tail))
            entry.left = True
        self._held_spans -= len(leaving)
        if leaving:
            self._outlet.leave(leaving)

    def _retire(self, trace_id: bytes, trace: _Trace, now_s: float) -> None:
        self._let_go(trace, list(trace.held))
        self._drop_content(trace)
        self._ledger.remember(trace_id, {entry.fingerprint for entry in trace.entries.values()}, now_s)
        del self._live[trace_id]

    def _drop_content(self, trace: _Trace) -> None:
        for entry in trace.entries.values():
            if entry.ref is not None:
                self._spans.release(entry.ref)
                entry.ref = None
        self._logs.release_all(trace.logs)
        trace.logs.clear()

    # -- pressure and the end ----------------------------------------------------------------------------------------

    def shed(self, now_s: float) -> None:
        """Drop all content that nobody waits for: of runs that are only kept for late spans, and of those whose verdict
        is overdue (if it still comes it is told all the same).
        """
        for trace_id, trace in list(self._live.items()):
            if trace.job is None and trace.judged_s is not None:
                self._retire(trace_id, trace, now_s)
            elif trace.job is not None and trace.job.expired and not trace.held:
                self._drop_content(trace)
                trace.faded = True

    def drain(self, now_s: float) -> None:
        """Prepare to stop: what is complete is judged now, by rules alone; everything else leaves as it is.

        Spans that still arrive pass through. Afterwards the only thing awaited are the results of the jobs in flight,
        until `abandon`.
        """
        self._draining = True
        for trace_id, trace in list(self._live.items()):
            if trace.job is not None or trace.judged_s is not None:
                continue
            if trace.complete:
                self._start(trace_id, trace, now_s, complete=True, partial=False)
            else:
                self._let_go(trace, list(trace.held))

    def abandon(self) -> None:
        """Let everything that is still held leave without scores."""
        for trace in self._live.values():
            self._let_go(trace, list(trace.held))

    def stats(self) -> Stats:
        """What is there now."""
        return Stats(traces=len(self._live), held_spans=self._held_spans, jobs=self._jobs)
