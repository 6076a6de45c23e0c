"""When spans are judged and when they leave, told as a story of arrivals on a clock that the test turns."""

from collections.abc import Sequence

import pytest
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from collector.holding.assembler import Assembler
from collector.holding.contract import Arrival, Taken
from collector.holding.ledger import checksum
from collector.holding.settings import Settings
from collector.holding.store import Budget, MemoryStore
from collector.judging.jobs import Carriers, EvaluationSpan, Job, JobSource, Judged, joined, seal_carriers
from collector.records import LogRecord, Origin, Outbound, SpanRecord

TRACE = bytes(range(1, 17))
OTHER = bytes(range(2, 18))
ORIGIN = Origin(b"resource", "", b"scope", "")


def span_id(number: int) -> bytes:
    return number.to_bytes(8)


def record(number: int, parent: int = 0, *, remote: bool | None = None, name: str = "op") -> SpanRecord:
    span = Span(trace_id=TRACE, span_id=span_id(number), name=name)
    if parent:
        span.parent_span_id = span_id(parent)
    return SpanRecord(TRACE, span.span_id, span.parent_span_id, remote, ORIGIN, span.SerializeToString())


class Desk:
    """The assembler with everything around it in plain sight."""

    def __init__(self, **settings: float) -> None:
        self.now_s = 0.0
        self.jobs: list[Job] = []
        self.behind = False
        self.wants_evaluations = True
        self.left: list[tuple[bytes, bytes]] = []
        self.evaluations_sent: list[tuple[EvaluationSpan, bool]] = []
        self.budget = Budget(1 << 30)
        self.assembler = Assembler(
            Settings(**{key: f"{value}s" for key, value in settings.items()}),  # type: ignore[arg-type]
            MemoryStore(self.budget),
            MemoryStore(self.budget),
            self,
            self,
        )

    def submit(self, job: JobSource) -> None:
        self.jobs.append(joined(job.parts()))

    def withdraw(self, trace_id: bytes) -> bool:
        return self.behind

    def leave(self, spans: Sequence[Outbound]) -> None:
        self.left += [(Span.FromString(span.span).span_id, span.tail) for span in spans]

    def unreadable(self, spans: int) -> None:
        raise AssertionError("all can be read")

    def evaluations(self, spans: Sequence[EvaluationSpan], origin: Origin, *, late: bool) -> None:
        self.evaluations_sent += [(span, late) for span in spans]

    def arrive(self, *records: SpanRecord) -> Taken:
        return self.assembler.add(TRACE, list(records), self.now_s)

    def arrive_unwanted(self, record: SpanRecord) -> Arrival:
        return self.assembler.add_unwanted(record, self.now_s).arrival

    def wait(self, seconds: float) -> None:
        self.now_s += seconds
        self.assembler.tick(self.now_s)

    def answer(self, *scored: int, settled: Sequence[int] = (), failure: str | None = None, final: bool = True) -> None:
        result = Judged(
            trace_id=TRACE,
            tails={span_id(number): b"<score>" for number in scored},
            carriers=seal_carriers(
                {
                    span_id(number): Carriers([EvaluationSpan(b"", b"", b"evaluation of %d" % number)], [])
                    for number in scored
                }
            ),
            settled=frozenset(span_id(number) for number in settled),
            memory=b"what was said",
            failure=failure,
            final=final,
        )
        self.assembler.judged(result, self.now_s)

    @property
    def gone(self) -> list[int]:
        return [int.from_bytes(one) for one, _ in self.left]


def test_a_complete_trace_is_judged_after_the_quiet_period_and_leaves_with_its_scores() -> None:
    desk = Desk()
    assert desk.arrive(record(2, 1), record(1)).arrival is Arrival.HELD
    desk.wait(5.9)
    assert not desk.jobs
    desk.wait(0.2)
    [job] = desk.jobs
    assert job.complete and not job.partial and len(job.spans) == 2
    assert not desk.left
    desk.answer(2)
    assert desk.left == [(span_id(2), b"<score>"), (span_id(1), b"")]


@pytest.mark.parametrize("order", [(1, 2, 3), (3, 2, 1), (2, 3, 1)])
def test_the_root_may_come_first_or_last(order: tuple[int, ...]) -> None:
    desk = Desk()
    parents = {1: 0, 2: 1, 3: 2}
    for number in order:
        desk.arrive(record(number, parents[number]))
        desk.wait(1)
    desk.wait(6)
    assert [job.complete for job in desk.jobs] == [True]


def test_every_arrival_starts_the_quiet_period_anew() -> None:
    desk = Desk()
    desk.arrive(record(1))
    for number in range(2, 6):
        desk.wait(5)
        desk.arrive(record(number, 1))
    assert not desk.jobs
    desk.wait(6)
    assert len(desk.jobs) == 1


def test_steps_are_judged_before_the_run_is_complete_and_only_settled_spans_leave() -> None:
    desk = Desk()
    desk.arrive(record(2, 1), record(3, 1))
    desk.wait(6)
    assert [job.complete for job in desk.jobs] == [False]
    desk.answer(2, 3, settled=[2])
    assert desk.gone == [2]
    desk.arrive(record(1))
    desk.wait(6)
    assert [job.complete for job in desk.jobs] == [False, True]
    assert desk.jobs[1].memory, "what was said before goes with the second job"
    desk.answer()
    assert desk.left[1:] == [(span_id(3), b"<score>"), (span_id(1), b"")], "an earlier score is not forgotten"


def test_a_quiet_trace_without_news_is_not_asked_about_twice() -> None:
    desk = Desk()
    desk.arrive(record(2, 1))
    desk.wait(6)
    desk.answer()
    desk.wait(6)
    desk.wait(6)
    assert len(desk.jobs) == 1


def test_a_parent_that_never_comes_is_waited_for_until_the_idle_timeout() -> None:
    desk = Desk()
    desk.arrive(record(2, 1, remote=False))
    desk.wait(6)
    desk.answer()
    desk.wait(23.9)
    assert len(desk.jobs) == 1
    desk.wait(0.2)
    assert desk.jobs[1].complete and desk.jobs[1].partial


def test_a_parent_that_may_be_in_another_service_makes_no_partial_trace() -> None:
    desk = Desk()
    desk.arrive(record(2, 1), record(3, 1))
    desk.wait(31)
    assert desk.jobs[-1].complete and not desk.jobs[-1].partial


def test_a_gap_below_a_top_span_makes_a_partial_trace() -> None:
    desk = Desk()
    desk.arrive(record(1), record(3, 2))
    desk.wait(31)
    assert desk.jobs[-1].complete and desk.jobs[-1].partial


def test_a_remote_parent_is_the_root_of_what_is_seen() -> None:
    desk = Desk()
    desk.arrive(record(2, 1, remote=True), record(3, 2))
    desk.wait(6)
    [job] = desk.jobs
    assert job.complete and not job.partial


def test_a_trace_that_never_falls_silent_is_judged_at_its_maximum_age() -> None:
    desk = Desk(max_age=20, max_hold=1000, idle_timeout=10)
    for number in range(2, 12):
        desk.arrive(record(number, 1))
        desk.wait(2.5)
    [job] = desk.jobs
    assert job.complete and job.partial


def test_what_keeps_arriving_after_that_is_not_judged_again_at_once() -> None:
    desk = Desk(max_age=20, max_hold=1000, idle_timeout=10)
    for number in range(2, 30):
        desk.arrive(record(number, 1))
        desk.wait(2.5)
        if desk.jobs and number % 2 == 0:
            desk.answer()
    assert len(desk.jobs) == 3, "one in 20 s"


def test_spans_leave_unscored_when_the_hold_is_over_and_their_scores_follow_on_spans_of_their_own() -> None:
    desk = Desk()
    desk.arrive(record(1))
    desk.wait(6)
    desk.wait(9.9)
    assert not desk.left
    desk.wait(0.2)
    assert desk.left == [(span_id(1), b"")]
    desk.answer(1)
    assert [(one.span, late) for one, late in desk.evaluations_sent] == [(b"evaluation of 1", True)]
    assert len(desk.left) == 1


def test_a_job_that_was_not_even_begun_when_the_hold_is_over_is_given_up() -> None:
    desk = Desk()
    desk.behind = True
    desk.arrive(record(1))
    desk.wait(6)
    desk.wait(10)
    assert desk.left == [(span_id(1), b"")]
    desk.wait(60)
    assert desk.budget.used_bytes == 0


def test_under_pressure_a_run_whose_verdict_is_overdue_gives_up_its_content_and_its_scores_still_arrive() -> None:
    desk = Desk()
    desk.arrive(record(1))
    desk.wait(6)
    desk.wait(10)
    desk.assembler.shed(desk.now_s)
    assert desk.budget.used_bytes == 0
    desk.answer(1)
    assert [late for _, late in desk.evaluations_sent] == [True]
    assert desk.assembler.stats().traces == 0 and desk.assembler.knows(TRACE)


def test_spans_of_a_run_whose_content_was_given_up_are_still_known_as_repeats() -> None:
    desk = Desk()
    desk.arrive(record(1), record(2, 1))
    desk.wait(6)
    desk.wait(10)
    desk.assembler.shed(desk.now_s)
    while_waiting = desk.arrive(record(3, 1))
    assert [one.span_id for one in while_waiting.spans] == [span_id(3)]
    desk.answer(1)
    assert desk.gone == [1, 2, 3]
    again = desk.arrive(record(1), record(2, 1), record(3, 1), record(4, 1))
    assert again.arrival is Arrival.LATE and len(again.duplicates) == 3
    assert [one.span_id for one in again.spans] == [span_id(4)]
    assert desk.budget.used_bytes == 0


@pytest.mark.parametrize("told", [0, 1, 2, 3])
def test_repeats_are_known_whether_or_not_whoever_judged_told_checksums(told: int) -> None:
    spans = [record(1), record(2, 1), record(3, 1)]
    desk = Desk()
    desk.arrive(*spans[: max(told, 1)])
    desk.wait(6)
    checksums = b"".join(checksum(one.span) for one in spans[:told])
    desk.assembler.judged(Judged(TRACE, checksums=checksums), desk.now_s)
    desk.arrive(*spans[max(told, 1) :])
    desk.assembler.shed(desk.now_s)
    again = desk.arrive(*spans, record(2, 1, name="other bytes"))
    assert again.arrival is Arrival.LATE and len(again.duplicates) == 3
    assert [one.span for one in again.spans] == [record(2, 1, name="other bytes").span]


def test_what_a_trace_costs_besides_the_bytes_of_its_spans_is_counted_and_given_back() -> None:
    desk = Desk()
    large = Origin(b"r" * 100_000, "", b"scope", "")
    desk.arrive(record(1))
    assert desk.budget.used_bytes > 1_500
    before_bytes = desk.budget.used_bytes
    desk.arrive(record(2, 1)._replace(origin=large), record(3, 1)._replace(origin=large))
    assert 97_000 < desk.budget.used_bytes - before_bytes < 103_000
    before_bytes = desk.budget.used_bytes
    for number in range(10, 110):
        desk.arrive_unwanted(record(number, 1))
    assert desk.budget.used_bytes - before_bytes > 20_000
    desk.wait(6)
    desk.answer(1)
    desk.wait(60)
    assert desk.budget.used_bytes == 0


def test_no_span_is_kept_longer_than_max_hold_even_if_it_never_gets_ready() -> None:
    desk = Desk(max_hold=31, idle_timeout=30, quiet_period=29)
    desk.arrive(record(2, 1))
    for number in range(3, 8):
        desk.wait(6)
        desk.arrive(record(number, 1))
    assert not desk.left
    desk.wait(1.1)
    assert desk.gone == [2]


def test_a_failed_job_lets_everything_leave_unscored() -> None:
    desk = Desk()
    desk.arrive(record(1))
    desk.wait(6)
    desk.answer(failure="the worker died")
    assert desk.left == [(span_id(1), b"")]


def test_spans_nobody_wants_pass_and_only_show_their_place_in_the_tree() -> None:
    desk = Desk()
    assert not desk.assembler.knows(TRACE)
    desk.arrive(record(3, 2))
    assert desk.assembler.knows(TRACE)
    assert desk.arrive_unwanted(record(2, 1)) is Arrival.PASSED
    assert desk.arrive_unwanted(record(1)) is Arrival.HELD, "a root of the trace is held with it"
    desk.wait(6)
    [job] = desk.jobs
    assert job.complete
    middle = Span.FromString(job.spans[-1][2])
    assert (middle.trace_id, middle.span_id, middle.parent_span_id) == (TRACE, span_id(2), span_id(1))


def test_a_trace_is_complete_also_when_the_last_that_was_missing_is_a_span_nobody_wants() -> None:
    desk = Desk()
    desk.arrive(record(3, 2), record(1))
    desk.wait(6)
    desk.answer()
    desk.arrive_unwanted(record(2, 1))
    desk.wait(6)
    assert [job.complete for job in desk.jobs] == [False, True]


def test_late_spans_leave_at_once_and_lead_to_judging_again() -> None:
    desk = Desk()
    desk.arrive(record(1))
    desk.wait(6)
    desk.answer(1)
    late = record(2, 1)
    assert desk.arrive(late).late == [late]
    desk.wait(6)
    assert len(desk.jobs) == 2 and len(desk.jobs[1].spans) == 2
    desk.answer(1)
    assert [late for _, late in desk.evaluations_sent] == [False, True]


def test_another_run_of_a_judged_trace_is_held_and_leaves_with_its_scores() -> None:
    desk = Desk()
    desk.arrive(record(1, 99, remote=True))
    desk.wait(6)
    desk.answer(1)
    child, top = record(3, 2), record(2, 99, remote=True)
    assert desk.arrive(child).spans == [child], "its parent may turn out to be of another run"
    desk.wait(3)
    assert desk.arrive(top).spans == [top]
    desk.wait(6)
    assert desk.jobs[-1].complete and len(desk.jobs) == 2
    desk.answer(2, 3)
    assert desk.left == [(span_id(1), b"<score>"), (span_id(3), b"<score>"), (span_id(2), b"<score>")]


def test_of_what_arrives_together_only_what_hangs_below_a_judged_run_is_late() -> None:
    desk = Desk()
    desk.arrive(record(1, 99, remote=True))
    desk.wait(6)
    desk.answer(1)
    grandchild, child, other = record(12, 11), record(11, 1), record(21, 20)
    taken = desk.arrive(grandchild, other, child)
    assert (taken.spans, taken.late) == ([other], [grandchild, child])
    assert desk.arrive(record(31, 32), record(32, 31)).late == [], "parents in a circle lead nowhere"


def test_another_run_is_not_late_below_steps_of_its_own_that_have_left_and_is_judged_though_all_of_it_has() -> None:
    desk = Desk()
    desk.arrive(record(1, 99, remote=True))
    desk.wait(6)
    desk.answer(1)
    desk.arrive(record(3, 2))
    desk.wait(6)
    desk.answer(3, settled=[3])
    assert desk.gone == [1, 3]
    below = record(4, 3)
    assert desk.arrive(below).spans == [below]
    desk.wait(6)
    desk.answer(settled=[4])
    desk.wait(30)
    assert [job.complete for job in desk.jobs] == [True, False, False, True]
    desk.answer()
    assert desk.arrive(record(5, 4)).late, "its run was judged now"


def test_what_came_during_the_judging_of_a_run_and_had_to_leave_is_not_taken_for_judged() -> None:
    desk = Desk(hold=10, max_hold=31)
    desk.arrive(record(1))
    desk.wait(6)
    desk.arrive(record(2))
    desk.wait(31)
    assert desk.gone == [1, 2]
    desk.answer(1)
    below = record(3, 2)
    assert desk.arrive(below).spans == [below]


@pytest.mark.parametrize("remote", [None, True])
def test_another_run_is_not_late_below_a_span_nobody_wants_that_came_first(remote: bool | None) -> None:
    desk = Desk()
    desk.arrive(record(1, 99, remote=True))
    desk.wait(6)
    desk.answer(1)
    arrival = desk.arrive_unwanted(record(2, 98, remote=remote))
    assert arrival is (Arrival.HELD if remote else Arrival.PASSED), "a root is held with its run"
    agent = record(3, 2)
    assert desk.arrive(agent).spans == [agent]
    desk.arrive_unwanted(record(4, 1))
    below = record(5, 4)
    assert desk.arrive(below).late == [below], "it hangs below the judged run, by way of what nobody wants"


def test_another_run_is_not_given_up_under_pressure_and_leaves_at_the_end() -> None:
    desk = Desk()
    desk.arrive(record(1, 99, remote=True))
    desk.wait(6)
    desk.answer(1)
    desk.arrive(record(2, 3))
    desk.assembler.shed(desk.now_s)
    assert desk.gone == [1]
    desk.assembler.drain(desk.now_s)
    assert desk.gone == [1, 2]


def test_what_rules_decided_is_on_the_spans_when_the_judge_is_too_slow() -> None:
    desk = Desk()
    desk.arrive(record(2, 1), record(1))
    desk.wait(6)
    desk.answer(2, final=False)
    assert not desk.left
    desk.wait(10)
    assert desk.left == [(span_id(2), b"<score>"), (span_id(1), b"")]
    desk.answer(1)
    assert [one.span for one, late in desk.evaluations_sent if late] == [b"evaluation of 1"]


def test_what_rules_decided_stays_when_the_judging_process_dies_over_the_judge() -> None:
    desk = Desk()
    desk.arrive(record(1))
    desk.wait(6)
    desk.answer(1, final=False)
    desk.answer(failure="the judging process ended")
    assert desk.left == [(span_id(1), b"<score>")]


def test_after_the_late_window_the_content_is_gone_and_the_trace_is_still_known() -> None:
    desk = Desk()
    desk.arrive(record(1))
    desk.wait(6)
    desk.answer(1)
    assert desk.budget.used_bytes > 0
    desk.wait(60)
    assert desk.budget.used_bytes == 0
    assert desk.assembler.stats().traces == 0
    assert desk.arrive(record(2, 1)).arrival is Arrival.LATE
    assert len(desk.arrive(record(1)).duplicates) == 1
    desk.wait(100)
    assert len(desk.jobs) == 1


def test_the_same_bytes_again_are_a_duplicate_and_the_same_id_with_other_bytes_is_not() -> None:
    desk = Desk()
    desk.arrive(record(1))
    assert desk.arrive(record(1)) == (Arrival.HELD, [], [], [record(1)], [])
    other = record(1, name="other")
    assert desk.arrive(other, record(1)) == (Arrival.HELD, [], [other], [record(1)], [])


def test_repeats_within_one_request_are_duplicates_as_well() -> None:
    desk = Desk()
    one, other = record(1), record(1, name="other")
    assert desk.arrive(one, one, other) == (Arrival.HELD, [one], [other], [one], [])


def test_a_result_for_a_trace_that_grew_meanwhile_does_not_let_the_new_spans_go_unjudged() -> None:
    desk = Desk()
    desk.arrive(record(2, 1))
    desk.wait(6)
    desk.arrive(record(1), record(3, 1))
    desk.answer(2, settled=[2])
    assert desk.gone == [2]
    desk.wait(6)
    assert desk.jobs[1].complete and len(desk.jobs[1].spans) == 3


def test_what_arrives_while_the_run_is_being_judged_is_held_for_judging_again() -> None:
    desk = Desk()
    desk.arrive(record(1))
    desk.wait(6)
    assert desk.arrive(record(2, 1)).arrival is Arrival.HELD
    desk.answer(1)
    assert desk.gone == [1]
    desk.wait(6)
    desk.answer(2)
    assert desk.left == [(span_id(1), b"<score>"), (span_id(2), b"<score>")]


def log_record() -> LogRecord:
    return LogRecord(TRACE, span_id(1), ORIGIN, b"log")


def other_trace(number: int) -> SpanRecord:
    span = Span(trace_id=OTHER, span_id=span_id(number))
    return SpanRecord(OTHER, span.span_id, b"", None, ORIGIN, span.SerializeToString())


def test_a_trace_of_which_another_one_tells_more_is_judged_again_as_long_as_it_is_kept() -> None:
    desk = Desk()
    desk.arrive(record(1))
    desk.wait(6.1)
    desk.answer(1)
    desk.assembler.add(OTHER, [other_trace(1)], desk.now_s)
    desk.wait(6.1)
    assert [job.trace_id for job in desk.jobs] == [TRACE, OTHER]
    desk.assembler.judged(Judged(trace_id=OTHER, again=frozenset({TRACE, b"never seen"})), desk.now_s)
    desk.wait(0.1)
    assert [job.trace_id for job in desk.jobs] == [TRACE, OTHER, TRACE]
    assert desk.jobs[-1].complete and desk.jobs[-1].memory == b"what was said"
    desk.answer()
    desk.wait(600)
    desk.assembler.judged(Judged(trace_id=OTHER, again=frozenset({TRACE})), desk.now_s)
    desk.wait(6.1)
    assert len(desk.jobs) == 3


def test_a_trace_that_is_being_judged_when_another_one_tells_more_is_judged_once_more() -> None:
    desk = Desk()
    desk.arrive(record(1))
    desk.assembler.add(OTHER, [other_trace(1)], desk.now_s)
    desk.wait(6.1)
    desk.assembler.judged(Judged(trace_id=OTHER, again=frozenset({TRACE})), desk.now_s)
    desk.answer(1)
    assert desk.left == [(span_id(1), b""), (span_id(1), b"<score>")]
    desk.wait(0.1)
    assert [job.trace_id for job in desk.jobs if job.trace_id == TRACE] == [TRACE, TRACE]


def test_log_records_go_with_the_job_and_may_come_first() -> None:
    desk = Desk()
    desk.assembler.add_log(log_record(), desk.now_s)
    desk.wait(3)
    desk.arrive(record(1))
    desk.wait(6)
    assert [body for _, _, body in desk.jobs[0].logs] == [b"log"]


def test_log_records_whose_spans_never_come_are_forgotten() -> None:
    desk = Desk()
    desk.assembler.add_log(log_record(), desk.now_s)
    desk.wait(6)
    desk.wait(31)
    assert not desk.jobs
    assert desk.budget.used_bytes == 0


def test_under_pressure_judged_content_goes_first() -> None:
    desk = Desk()
    desk.arrive(record(1))
    desk.wait(6)
    desk.answer(1)
    desk.assembler.shed(desk.now_s)
    assert desk.budget.used_bytes == 0
    assert desk.assembler.stats().traces == 0 and desk.assembler.knows(TRACE)


def test_draining_judges_what_is_complete_by_rules_and_lets_the_rest_go() -> None:
    desk = Desk()
    desk.arrive(record(1))
    other = Desk()
    other.arrive(record(2, 1))
    for one in (desk, other):
        one.assembler.drain(one.now_s)
    assert desk.jobs[0].rules_only and not desk.left
    assert desk.arrive(record(7, 1)).arrival is Arrival.PASSED
    desk.answer(1)
    assert desk.left == [(span_id(1), b"<score>")]
    assert not other.jobs and other.gone == [2]


def test_at_the_end_a_complete_run_is_judged_also_if_its_steps_are_just_being_judged() -> None:
    desk = Desk()
    desk.arrive(record(2, 1))
    desk.wait(6)
    desk.arrive(record(1))
    desk.assembler.drain(desk.now_s)
    desk.answer(2, settled=[2])
    assert desk.jobs[-1].complete and desk.jobs[-1].rules_only
    desk.answer(1)
    assert desk.left == [(span_id(2), b"<score>"), (span_id(1), b"<score>")]


def test_at_the_end_spans_do_not_wait_for_a_job_that_is_over() -> None:
    desk = Desk()
    desk.arrive(record(2, 1))
    desk.wait(6)
    desk.assembler.drain(desk.now_s)
    desk.answer(2)
    assert desk.left == [(span_id(2), b"<score>")]


def test_abandoning_lets_go_of_everything_that_is_still_held() -> None:
    desk = Desk()
    desk.arrive(record(1))
    desk.assembler.drain(desk.now_s)
    desk.assembler.abandon()
    assert desk.gone == [1]
    assert desk.assembler.stats().held_spans == 0


def test_the_next_due_time_is_never_missed_whatever_order_things_happen_in() -> None:
    desk = Desk()
    assert desk.assembler.next_due_s() is None
    desk.arrive(record(1))
    assert desk.assembler.next_due_s() == 6.0
    desk.now_s = 3.0
    desk.arrive(record(2, 1))
    assert desk.assembler.next_due_s() == 6.0, "put back when it comes up, not at every arrival"
    desk.wait(3.0)
    assert desk.assembler.next_due_s() == 9.0


@pytest.mark.parametrize("arrived_s", [0.4, 2.0, 5.9])
def test_what_is_due_is_done_however_sums_of_times_are_rounded(arrived_s: float) -> None:
    desk = Desk(quiet_period=0.3)
    desk.now_s = arrived_s
    desk.arrive(record(1))
    desk.wait(0.3)
    assert len(desk.jobs) == 1
