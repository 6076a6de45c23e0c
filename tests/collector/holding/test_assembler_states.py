"""Whatever arrives, in whatever order, and however judging goes: no span is lost, none leaves twice, nothing stays."""

from collections import Counter
from collections.abc import Sequence

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from collector.holding.assembler import Assembler
from collector.holding.contract import Arrival, Taken
from collector.holding.ledger import Ledger, checksum
from collector.holding.live_trace import Chunk
from collector.holding.settings import Settings
from collector.holding.store import Budget, MemoryStore
from collector.journal.errors import DamagedRecordError
from collector.judging.jobs import Carriers, EvaluationSpan, GivenUpError, Job, JobSource, Judged, joined, seal_carriers
from collector.records import LogRecord, Origin, Outbound, SpanRecord

# None of them is a sum of powers of two, so that sums of times are rounded as they are in life.
TIMING = Settings(
    quiet_period="300ms",  # type: ignore[arg-type]
    idle_timeout="1700ms",  # type: ignore[arg-type]
    hold="700ms",  # type: ignore[arg-type]
    max_hold="4100ms",  # type: ignore[arg-type]
    max_age="3300ms",  # type: ignore[arg-type]
    late_window="1100ms",  # type: ignore[arg-type]
    ledger_max_age="20s",  # type: ignore[arg-type]
)
ORIGINS = (Origin(b"resource", "", b"scope", ""), Origin(b"r" * 5000, "", b"scope", "", (("x-project-name", "a"),)))
Key = tuple[bytes, bytes]
NUMBERS = st.integers(1, 8)
TRACES = st.integers(1, 2)


def span_id(number: int) -> bytes:
    return number.to_bytes(8)


@st.composite
def spans_of(draw: st.DrawFn, trace: int) -> SpanRecord:
    number, parent = draw(NUMBERS), draw(st.integers(0, 9))
    span = Span(trace_id=trace.to_bytes(16), span_id=span_id(number), name=draw(st.sampled_from("aaab")))
    if parent:
        span.parent_span_id = span_id(parent)
    remote = draw(st.sampled_from([None, None, False, True]))
    origin = draw(st.sampled_from(ORIGINS))
    return SpanRecord(span.trace_id, span.span_id, span.parent_span_id, remote, origin, span.SerializeToString())


def keys_of(job: Job) -> set[Key]:
    return {(job.trace_id, Span.FromString(span).span_id) for _, _, spans in job.batches for span in spans}


class InFlight:
    def __init__(self, job: Job) -> None:
        self.job = job
        self.begun = False
        self.rules_told = False


class AnyTraffic(RuleBasedStateMachine):
    """The assembler between a desk and an outlet that check everything they are told."""

    def __init__(self) -> None:
        super().__init__()
        self.limit_bytes = 1 << 30
        self.ledger = Ledger(TIMING.ledger_max_age)
        self.places: dict[int, SpanRecord] = {}
        self.gone: set[int] = set()
        self.unread: dict[bytes, set[Key]] = {}
        self.begin()
        self.wants_evaluations = False
        self.now_ns = 0
        self.arrivals = 0
        self.answers = 0
        # What is held: when it arrived, its number among all arrivals, and its bytes with all tails told since.
        self.held: dict[Key, tuple[float, int, bytes]] = {}
        self.in_flight: dict[bytes, InFlight] = {}
        self.late_evaluations: list[bytes] = []
        self.parents: dict[Key, bytes] = {}
        self.of_judged_runs: set[Key] = set()
        self.awaiting_run: set[Key] = set()
        self.draining = False
        self.was_short = False

    @property
    def now_s(self) -> float:
        return self.now_ns / 1e9

    @initialize(limit_bytes=st.sampled_from([1 << 30, 1 << 16, 1 << 14]))
    def memory_is_large_or_small(self, limit_bytes: int) -> None:
        self.limit_bytes = limit_bytes
        self.begin()

    def begin(self) -> None:
        """Begin a process."""
        self.budget = Budget(self.limit_bytes)
        spans: MemoryStore[Chunk] = MemoryStore(self.budget)
        logs: MemoryStore[LogRecord] = MemoryStore(self.budget)
        self.assembler = Assembler(TIMING, spans, logs, self, self, reread=self.reread, ledger=self.ledger)

    def reread(self, places: Sequence[int]) -> list[SpanRecord]:
        """The journal, which keeps a request until all of it was delivered; nothing later than when all of it left."""
        if self.gone.issuperset(places):
            raise DamagedRecordError("it was released")
        return [self.places[place] for place in places]

    # -- the desk and the outlet -------------------------------------------------------------------------------------

    def submit(self, source: JobSource) -> None:
        try:
            job = joined(source.parts())
        except GivenUpError:
            assert not any(key[0] == source.trace_id for key in self.held)
            job = Job(source.trace_id, [], [], source.complete, source.partial, rules_only=source.rules_only)
        assert job.trace_id not in self.in_flight, "at most one job per trace"
        keys = keys_of(job)
        assert keys >= {key for key in self.held if key[0] == job.trace_id}, "what is held is judged"
        assert not self.draining or job.rules_only
        # What left too early may not be readable any more; it is of the run all the same.
        self.unread[job.trace_id] = {
            key for key in self.awaiting_run - self.held.keys() if key[0] == job.trace_id and job.complete
        }
        if job.complete:
            self.awaiting_run -= keys | self.unread[job.trace_id]
        self.in_flight[job.trace_id] = InFlight(job)

    def withdraw(self, trace_id: bytes) -> bool:
        if self.in_flight[trace_id].begun:
            return False
        self.over(self.in_flight.pop(trace_id).job)
        return True

    def leave(self, spans: Sequence[Outbound]) -> None:
        numbers = []
        for outbound in spans:
            span = Span.FromString(outbound.span)
            _, number, content = self.held.pop((span.trace_id, span.span_id))
            assert outbound.span + outbound.tail == content
            self.gone.add(outbound.place)
            numbers.append(number)
        assert numbers == sorted(numbers), "in order of arrival"

    def unreadable(self, spans: int) -> None:
        raise AssertionError("all can be read")

    def evaluations(self, spans: Sequence[EvaluationSpan], origin: Origin, *, late: bool) -> None:
        if late:
            self.late_evaluations += [span.span for span in spans]

    # -- arrivals ----------------------------------------------------------------------------------------------------

    def take(self, taken: Taken, records: Sequence[SpanRecord]) -> None:
        parts = [*taken.spans, *taken.others, *taken.late, *taken.duplicates]
        assert Counter(map(id, parts)) == Counter(map(id, records)), "each of them is one of these"
        fresh = [*taken.spans, *taken.late]
        self.parents.update({(one.trace_id, one.span_id): one.parent_span_id for one in fresh})
        for record in taken.late:
            assert self.hangs_below_a_judged_run(record)
        self.of_judged_runs.update((one.trace_id, one.span_id) for one in taken.late)
        self.gone |= {record.place for record in parts} - {record.place for record in taken.spans}
        if taken.arrival is not Arrival.HELD:
            self.gone |= {record.place for record in taken.spans}
            return
        assert not self.draining
        for record in taken.spans:
            key = (record.trace_id, record.span_id)
            assert key not in self.held
            self.held[key] = (self.now_s, self.arrivals, record.span)
            self.of_judged_runs.discard(key)
            self.awaiting_run.add(key)
            self.arrivals += 1

    def hangs_below_a_judged_run(self, record: SpanRecord) -> bool:
        key, seen = (record.trace_id, record.parent_span_id), set[Key]()
        while key in self.parents and key not in seen:
            if key in self.of_judged_runs:
                return True
            seen.add(key)
            key = (record.trace_id, self.parents[key])
        return False

    @rule(trace=TRACES, data=st.data())
    def spans_arrive(self, trace: int, data: st.DataObject) -> None:
        drawn = data.draw(st.lists(spans_of(trace), min_size=1, max_size=4))
        records = [self.placed(record) for record in drawn]
        self.take(self.assembler.add(records[0].trace_id, records, self.now_s), records)

    @rule(record=TRACES.flatmap(spans_of))
    def a_span_nobody_wants_arrives(self, record: SpanRecord) -> None:
        if self.assembler.knows(record.trace_id):
            record = self.placed(record)
            self.take(self.assembler.add_unwanted(record, self.now_s), [record])

    def placed(self, record: SpanRecord) -> SpanRecord:
        placed = record._replace(place=len(self.places) + 1)
        self.places[placed.place] = placed
        return placed

    @rule(trace=TRACES)
    def a_log_record_arrives(self, trace: int) -> None:
        self.assembler.add_log(LogRecord(trace.to_bytes(16), span_id(1), ORIGINS[0], b"log"), self.now_s)

    # -- judging -----------------------------------------------------------------------------------------------------

    @precondition(lambda self: self.in_flight)
    @rule(data=st.data())
    def a_job_is_begun(self, data: st.DataObject) -> None:
        data.draw(st.sampled_from(list(self.in_flight.values()))).begun = True

    @precondition(lambda self: self.in_flight)
    @rule(data=st.data(), final=st.booleans(), knows_checksums=st.booleans())
    def a_job_is_answered(self, data: st.DataObject, final: bool, knows_checksums: bool) -> None:
        one = data.draw(st.sampled_from(list(self.in_flight.values())))
        if one.rules_told and not final:
            return
        span_ids = [Span.FromString(span).span_id for _, _, span in one.job.spans]
        ids = st.frozensets(st.sampled_from(span_ids)) if span_ids else st.just(frozenset[bytes]())
        self.answer(one, data.draw(ids), data.draw(ids), final=final, knows_checksums=knows_checksums)

    @precondition(lambda self: self.in_flight)
    @rule(data=st.data())
    def a_job_fails(self, data: st.DataObject) -> None:
        self.end(data.draw(st.sampled_from(list(self.in_flight.values()))).job, failure="no luck")

    def answer(
        self, one: InFlight, told: frozenset[bytes], settled: frozenset[bytes], *, final: bool, knows_checksums: bool
    ) -> None:
        trace_id = one.job.trace_id
        kept = [span for _, _, spans in one.job.batches for span in spans]
        told &= {Span.FromString(span).span_id for span in kept}
        self.answers += 1
        tail = b"<%d>" % self.answers
        result = Judged(
            trace_id=trace_id,
            tails=dict.fromkeys(told, tail),
            carriers=seal_carriers({each: Carriers([EvaluationSpan(b"", b"", each + tail)], []) for each in told}),
            settled=settled if final else frozenset(),
            checksums=b"".join(map(checksum, kept)) if final and knows_checksums else b"",
            final=final,
        )
        self.late_evaluations = []
        expected = {each + tail for each in told if (trace_id, each) not in self.held}
        for each in told:
            if (trace_id, each) in self.held:
                arrived_s, number, content = self.held[trace_id, each]
                self.held[trace_id, each] = (arrived_s, number, content + tail)
        if final:
            self.end(one.job, result)
        else:
            one.begun = one.rules_told = True
            self.assembler.judged(result, self.now_s)
        assert sorted(self.late_evaluations) == sorted(expected), "what is told too late goes on spans of its own"

    def end(self, job: Job, result: Judged | None = None, failure: str | None = None) -> None:
        del self.in_flight[job.trace_id]
        keys = self.over(job)
        self.assembler.judged(result or Judged(trace_id=job.trace_id, failure=failure), self.now_s)
        assert not keys & self.held.keys(), "after its run was judged a span leaves"

    def over(self, job: Job) -> set[Key]:
        """The spans of the runs that are judged now."""
        if not job.complete:
            return set()
        keys = keys_of(job) | self.unread[job.trace_id]
        self.of_judged_runs |= keys
        return keys

    # -- time and pressure -------------------------------------------------------------------------------------------

    @rule(ms=st.sampled_from([1, 100, 300, 700, 1100, 1700, 3300, 4100, 21000]))
    def time_passes(self, ms: int) -> None:
        self.now_ns += ms * 1_000_000
        self.tick()

    @rule()
    def it_is_just_when_something_is_due(self) -> None:
        due_s = self.assembler.next_due_s()
        if due_s is not None:
            self.now_ns = max(self.now_ns, round(due_s * 1e9))
            self.tick()

    def tick(self) -> None:
        self.assembler.tick(self.now_s)
        due_s = self.assembler.next_due_s()
        assert due_s is None or due_s > self.now_s
        for arrived_s, _, _ in self.held.values():
            assert self.now_s < arrived_s + TIMING.max_hold

    @precondition(lambda self: self.arrivals > 8)
    @rule()
    def memory_is_short(self) -> None:
        self.assembler.shed(self.now_s)
        self.was_short = True

    @precondition(lambda self: not self.draining and self.arrivals > 8)
    @rule()
    def the_end_comes(self) -> None:
        self.draining = True
        self.assembler.drain(self.now_s)
        self.awaiting_run.clear()
        for key in self.held:
            assert key[0] in self.in_flight, "what still waits, waits for a job"

    @precondition(lambda self: self.arrivals > 2)
    @rule(away_ms=st.sampled_from([0, 300, 2000, 10_000]), ledger_lost=st.booleans())
    def the_process_dies_and_another_takes_over(self, away_ms: int, ledger_lost: bool) -> None:
        if ledger_lost:
            self.ledger = Ledger(TIMING.ledger_max_age)
        self.in_flight.clear()
        self.draining = False
        self.now_ns += away_ms * 1_000_000
        self.begin()
        owed = sorted(self.held.items(), key=lambda item: item[1][1])
        by_key = {(one.trace_id, one.span_id): one for one in self.places.values() if one.place not in self.gone}
        for key, (arrived_s, number, _) in owed:
            record = by_key[key]
            age_s = self.now_s - arrived_s
            taken = self.assembler.add(key[0], [record], self.now_s, age_s)
            assert [*taken.spans, *taken.late] == [record] and not taken.duplicates, "what is owed is no repeat"
            if taken.arrival is Arrival.HELD and taken.spans:
                self.held[key] = (self.now_s - min(age_s, TIMING.max_hold), number, record.span)
            else:
                assert taken.late or taken.arrival in (Arrival.LATE, Arrival.PASSED)
                self.gone.add(record.place)
                del self.held[key]
        # What had left before its run was judged isn't there any more.
        self.awaiting_run &= self.held.keys()

    @invariant()
    def the_held_are_counted(self) -> None:
        assert self.assembler.stats().held_spans == len(self.held)

    def teardown(self) -> None:
        """With time, and with every job answered, nothing is left."""
        for _ in range(60):
            for one in list(self.in_flight.values()):
                self.answer(one, frozenset(), frozenset(), final=True, knows_checksums=False)
            due_s = self.assembler.next_due_s()
            if due_s is None:
                break
            self.now_ns = max(self.now_ns, round(due_s * 1e9) + 1)
            self.tick()
        assert self.assembler.stats()[:2] == (0, 0)
        assert not self.held
        # What comes while the verdict on a run whose content was given up is awaited may leave unjudged.
        assert self.was_short or not self.awaiting_run, "every run is judged"
        assert self.budget.used_bytes == 0


AnyTraffic.TestCase.settings = settings(
    max_examples=100, stateful_step_count=40, deadline=None, suppress_health_check=list(HealthCheck)
)
TestAnyTraffic = AnyTraffic.TestCase
