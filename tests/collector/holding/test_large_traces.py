"""A large trace beside small ones, restarts, spilled content, and clocks that are wrong."""

from collections.abc import Sequence

import pytest
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from collector.holding.assembler import SPANS_IN_ONE_GO, SPANS_PER_TICK, Assembler
from collector.holding.contract import Arrival
from collector.holding.ledger import Ledger, checksum
from collector.holding.live_trace import Chunk
from collector.holding.settings import Settings
from collector.holding.store import Budget, MemoryStore
from collector.journal.errors import DamagedRecordError
from collector.judging.jobs import EvaluationSpan, GivenUpError, JobSource, Judged, joined
from collector.records import Origin, Outbound, SpanRecord

ORIGIN = Origin(b"resource", "", b"scope", "")
BIG, SMALL = b"b" * 16, b"s" * 16
MIB = 1 << 20
HOUR_NS = 3600 * 10**9


def spans(
    trace_id: bytes, numbers: Sequence[int], size: int = 0, start_ns: int = 0, end_ns: int = 0
) -> list[SpanRecord]:
    """Spans below the first one, which is the root."""
    made = []
    for number in numbers:
        span = Span(trace_id=trace_id, span_id=number.to_bytes(8), name="x" * size)
        span.start_time_unix_nano, span.end_time_unix_nano = start_ns, end_ns
        if number > 1:
            span.parent_span_id = (1).to_bytes(8)
        record = SpanRecord(
            trace_id, span.span_id, span.parent_span_id, None, ORIGIN, span.SerializeToString(), place=number
        )
        made.append(record)
    return made


class Around:
    """What is around the assembler: a desk, an outlet, and perhaps a journal, all in plain sight."""

    wants_evaluations = False

    def __init__(self, limit_bytes: int = 1 << 30, *, journal: bool = False, ledger: Ledger | None = None) -> None:
        self.now_s = 1000.0
        self.sources: list[JobSource] = []
        self.unreadable_spans = 0
        self.left: list[list[Outbound]] = []
        self.budget = Budget(limit_bytes)
        self.journal: dict[int, SpanRecord] = {}
        self.damaged: set[int] = set()
        self.reads = 0
        store: MemoryStore[Chunk] = MemoryStore(self.budget)
        reread = self.reread if journal else None
        self.assembler = Assembler(
            Settings(), store, MemoryStore(self.budget), self, self, reread=reread, ledger=ledger
        )

    def reread(self, places: Sequence[int]) -> list[SpanRecord]:
        self.reads += 1
        if not self.damaged.isdisjoint(places):
            raise DamagedRecordError("record 1")
        return [self.journal[place] for place in places]

    def submit(self, source: JobSource) -> None:
        self.sources.append(source)

    def withdraw(self, trace_id: bytes) -> bool:
        return False

    def leave(self, out: Sequence[Outbound]) -> None:
        self.left.append(list(out))

    def unreadable(self, spans: int) -> None:
        self.unreadable_spans += spans

    def evaluations(self, spans: Sequence[EvaluationSpan], origin: Origin, *, late: bool) -> None:
        raise AssertionError("none is asked for")

    def arrive(self, records: list[SpanRecord], age_s: float | None = None) -> Arrival:
        self.journal.update({record.place: record for record in records})
        return self.assembler.add(records[0].trace_id, records, self.now_s, age_s).arrival

    def wait(self, seconds: float) -> None:
        self.now_s += seconds
        self.assembler.tick(self.now_s)

    def settle(self) -> None:
        while (due_s := self.assembler.next_due_s()) is not None and due_s <= self.now_s:
            self.assembler.tick(self.now_s)

    def answer(self, trace_id: bytes, failure: str | None = None) -> None:
        self.assembler.judged(Judged(trace_id, failure=failure), self.now_s)

    @property
    def gone(self) -> list[int]:
        return [int.from_bytes(Span.FromString(one.span).span_id) for out in self.left for one in out]


def test_a_large_trace_leaves_piece_by_piece_and_others_leave_in_between() -> None:
    around = Around()
    around.arrive(spans(BIG, range(1, 20_001)))
    around.arrive(spans(SMALL, [1, 2]))
    around.wait(6)
    around.answer(BIG)
    around.answer(SMALL)
    assert [len(out) for out in around.left] == [SPANS_IN_ONE_GO, 2]
    before = 2 + SPANS_IN_ONE_GO
    around.assembler.tick(around.now_s)
    assert len(around.gone) - before <= SPANS_PER_TICK
    assert around.assembler.stats().held_spans == 20_002 - len(around.gone)
    around.settle()
    assert len(around.gone) == 20_002 and around.assembler.stats().held_spans == 0
    big = [number for out in around.left if out[0].span[2:18] == BIG for number in [len(out)]]
    assert max(big) <= SPANS_IN_ONE_GO


def test_a_large_trace_is_handed_over_in_pieces_that_are_all_of_it() -> None:
    around = Around()
    for start in range(1, 5001, 500):
        around.arrive(spans(BIG, range(start, start + 500), size=800))
    around.wait(6)
    [source] = around.sources
    parts = list(source.parts())
    assert len(parts) > 3 and all(part.more for part in parts[:-1]) and not parts[-1].more
    for part in parts:
        assert sum(len(span) for _, _, batch in part.batches for span in batch) <= 1 * MIB
    assert joined(parts).spans == joined(source.parts()).spans
    assert len(joined(parts).spans) == 5000


def test_what_comes_after_a_job_was_handed_in_is_not_part_of_it() -> None:
    around = Around()
    around.arrive(spans(BIG, range(1, 3001)))
    around.wait(6)
    around.arrive(spans(BIG, range(3001, 3101)))
    assert len(joined(around.sources[0].parts()).spans) == 3000


def test_the_work_of_a_trace_that_trickles_in_grows_with_its_size_and_not_with_its_square() -> None:
    around = Around()
    judged = 0
    step, total = 500, 30_000
    for start in range(2, total, step):
        around.arrive(spans(BIG, range(start, start + step)))
        around.wait(6.5)
        around.settle()
        for source in around.sources:
            judged += len(joined(source.parts()).spans)
            around.answer(BIG)
        around.sources.clear()
    assert judged < 10 * total


def test_leaving_reads_only_what_leaves() -> None:
    around = Around(limit_bytes=4 * MIB, journal=True)
    for start in range(2, 1002, 10):
        around.arrive(spans(BIG, range(start, start + 10), size=3000))
        around.now_s += 1
    assert around.budget.used_bytes < 3 * MIB
    around.reads = 0
    around.wait(300 - 100)
    around.settle()
    assert around.gone == list(range(2, 12))
    assert around.reads == 1


def test_without_a_journal_a_trace_beyond_its_share_goes_on_unjudged_and_nobody_else_is_refused() -> None:
    around = Around(limit_bytes=8 * MIB)
    arrivals = [around.arrive(spans(BIG, range(start, start + 100), size=3000)) for start in range(1, 2001, 100)]
    assert arrivals[0] is Arrival.HELD and arrivals[-1] is Arrival.PASSED
    passed = around.assembler.stats().unjudged_spans
    assert passed + around.assembler.stats().held_spans == 2000
    assert around.budget.used_bytes < 2 * MIB
    around.budget.require(MIB)
    assert around.arrive(spans(SMALL, [1])) is Arrival.HELD
    around.wait(6)
    big = next(source for source in around.sources if source.trace_id == BIG)
    assert big.partial


def test_with_a_journal_a_large_trace_leaves_memory_and_is_judged_and_sent_whole() -> None:
    around = Around(limit_bytes=8 * MIB, journal=True)
    for start in range(1, 2001, 100):
        assert around.arrive(spans(BIG, range(start, start + 100), size=8000)) is Arrival.HELD
    assert around.arrive(spans(SMALL, [1], size=100)) is Arrival.HELD
    assert around.budget.used_bytes < 3 * MIB
    around.wait(6)
    big = next(source for source in around.sources if source.trace_id == BIG)
    assert len(joined(big.parts()).spans) == 2000
    around.answer(BIG)
    around.answer(SMALL)
    around.settle()
    assert sorted(around.gone) == sorted([*range(1, 2001), 1])
    around.wait(61)
    around.settle()
    assert around.budget.used_bytes == 0


def test_short_memory_presses_on_the_largest_first() -> None:
    around = Around(limit_bytes=8 * MIB, journal=True)
    for number in range(100):
        around.arrive(spans(number.to_bytes(16), [1], size=5000))
    around.arrive(spans(BIG, range(1, 101), size=9000))
    used = around.budget.used_bytes
    around.assembler.shed(around.now_s)
    assert used - around.budget.used_bytes == pytest.approx(100 * 9000, rel=0.1)


def test_what_cannot_be_read_again_is_counted_and_the_rest_of_the_trace_goes_on() -> None:
    around = Around(limit_bytes=4 * MIB, journal=True)
    for start in range(1, 401, 100):
        around.arrive(spans(BIG, range(start, start + 100), size=8000))
    around.arrive(spans(SMALL, [1]))
    around.damaged = set(range(101, 201))
    around.wait(6)
    big = next(source for source in around.sources if source.trace_id == BIG)
    assert big.trace_id == BIG and joined(big.parts()).partial and len(joined(big.parts()).spans) == 300
    around.assembler.judged(Judged(BIG, checksums=bytes(4 * 300)), around.now_s)
    around.answer(SMALL)
    around.settle()
    assert sorted(around.gone) == sorted([1, *range(1, 101), *range(201, 401)])
    assert (around.assembler.stats().held_spans, around.unreadable_spans) == (0, 100)
    around.wait(61)
    around.settle()
    assert around.budget.used_bytes == 0


def test_the_pieces_end_when_the_content_is_given_up() -> None:
    around = Around()
    around.arrive(spans(BIG, range(1, 5001)))
    around.wait(6)
    parts = around.sources[0].parts()
    next(parts)
    around.wait(10)
    around.settle()
    around.assembler.shed(around.now_s)
    with pytest.raises(GivenUpError):
        list(parts)
    around.answer(BIG, failure="its content was given up")
    assert around.assembler.stats().traces == 0 and around.budget.used_bytes == 0


# -- restarts ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("age_s", "leaves_after_s"), [(0.0, 300.0), (100.0, 200.0), (299.0, 1.0), (1e9, 0.0), (-1e9, 300.0)]
)
def test_after_a_restart_the_rest_of_the_hold_is_waited_for(age_s: float, leaves_after_s: float) -> None:
    around = Around()
    around.arrive(spans(BIG, [2]), age_s)
    for _ in range(3):
        around.assembler.tick(around.now_s + leaves_after_s - 0.5)
    assert not around.gone
    around.wait(leaves_after_s)
    assert around.gone == [2]


def test_after_a_restart_nothing_is_judged_before_all_of_it_was_read_again() -> None:
    around = Around()
    around.arrive(spans(BIG, [2]), age_s=3600.0)
    around.wait(3)
    around.arrive(spans(BIG, [1]), age_s=3600.0)
    around.wait(5)
    assert not around.sources
    around.wait(1)
    assert len(joined(around.sources[0].parts()).spans) == 2


def test_a_trace_whose_run_was_judged_is_known_when_the_process_dies_within_the_late_window() -> None:
    ledger = Ledger(86400.0)
    around = Around(ledger=ledger)
    [root, child, grandchild] = spans(BIG, [1, 2, 3])
    around.arrive([root, child])
    around.wait(6)
    job = joined(around.sources[0].parts())
    sums = b"".join(checksum(span) for _, _, span in job.spans)
    around.assembler.judged(Judged(BIG, checksums=sums), around.now_s)
    after = Around(ledger=ledger)
    taken = after.assembler.add(BIG, [root, grandchild], after.now_s)
    assert taken.arrival is Arrival.LATE
    assert (taken.spans, taken.duplicates) == ([grandchild], [root])


def test_what_the_journal_gives_back_is_never_taken_for_a_repeat() -> None:
    ledger = Ledger(86400.0)
    [root, child] = spans(BIG, [1, 2])
    other_run = root._replace(span_id=(9).to_bytes(8), place=9)
    ledger.remember(BIG, root.span_id + child.span_id, checksum(root.span) + checksum(child.span), 0.0)
    around = Around(ledger=ledger)
    taken = around.assembler.add(BIG, [child, other_run], around.now_s, 1.0)
    assert (taken.arrival, taken.spans, taken.late, taken.duplicates) == (Arrival.HELD, [other_run], [child], [])
    # What a sender repeats of the run that was judged is a repeat all the same.
    again = around.assembler.add(BIG, [root], around.now_s)
    assert again.duplicates == [root] and not again.spans


# -- clocks ------------------------------------------------------------------------------------------------------------

NOW_NS = 1_700_000_000 * 10**9


@pytest.mark.parametrize(
    ("start_ns", "end_ns"),
    [
        (NOW_NS, NOW_NS + 1),
        (NOW_NS, NOW_NS - HOUR_NS),
        (0, 0),
        (0, NOW_NS),
        (NOW_NS - 20 * 365 * 24 * HOUR_NS, NOW_NS - 20 * 365 * 24 * HOUR_NS + 1),
        (NOW_NS + 20 * 365 * 24 * HOUR_NS, NOW_NS + 20 * 365 * 24 * HOUR_NS + 1),
        (2**64 - 1, 0),
    ],
)
def test_no_waiting_time_depends_on_the_clocks_of_spans(start_ns: int, end_ns: int) -> None:
    around = Around()
    around.arrive(spans(BIG, [1, 2], start_ns=start_ns, end_ns=end_ns))
    around.arrive(spans(SMALL, [2], start_ns=start_ns, end_ns=end_ns))
    around.wait(5.9)
    assert not around.sources
    around.wait(0.2)
    assert {source.trace_id: source.complete for source in around.sources} == {BIG: True, SMALL: False}
    around.wait(9.8)
    assert not around.gone
    around.wait(0.2)
    assert sorted(around.gone) == [1, 2, 2]
