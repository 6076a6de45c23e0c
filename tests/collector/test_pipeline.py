"""What is taken in, what is held, and who gets what: the pipeline with the real slicing and the real assembler."""

from collections.abc import Callable, Sequence

import pytest
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span
from opentelemetry.sdk.metrics.export import InMemoryMetricReader

from collector.dispatch import PARCELS_AT_ONCE, Destination, Dispatch, ScoreMode
from collector.holding.assembler import Assembler
from collector.holding.settings import Settings
from collector.holding.store import Budget, MemoryStore
from collector.intake import OverloadedError, UndeclaredSignalError
from collector.judging.jobs import Apart, Carriers, EvaluationSpan, Job, JobSource, Judged, joined, seal_carriers
from collector.pipeline import SHED_PAUSE_S, Pipeline, Reading
from collector.records import Parcel, Ref, Signal, Waybill
from collector.telemetry import Telemetry
from collector.wire import Origins

LATE = Span(name="late mark").SerializeToString()
SCORE = Span(name="scored").SerializeToString()


class Shelf:
    """A queue that only keeps."""

    def __init__(self, store: MemoryStore[Parcel]) -> None:
        self._store = store
        self.parcels: list[Parcel] = []
        self.full = False

    def put(self, ref: Ref, parcel: Waybill) -> None:
        kept = self._store.read(ref)
        assert kept.waybill() == parcel
        self.parcels.append(kept)
        self._store.release(ref)

    def has_room(self) -> bool:
        return not self.full

    def spans(self) -> list[Span]:
        requests = [ExportTraceServiceRequest.FromString(one.request) for one in self.parcels]
        return [
            span
            for request in requests
            for resource in request.resource_spans
            for scope in resource.scope_spans
            for span in scope.spans
        ]

    def names(self) -> list[str]:
        return [span.name for span in self.spans()]


class Bench:
    def __init__(self, *modes: ScoreMode, limit_bytes: int = 1 << 30) -> None:
        self.now_s = 0.0
        self.jobs: list[Job] = []
        self.reader = InMemoryMetricReader()
        self.telemetry = Telemetry([self.reader])
        self.budget = Budget(limit_bytes)
        soon: list[Callable[[], None]] = []
        parcels: MemoryStore[Parcel] = MemoryStore(self.budget)
        self.shelves = [Shelf(parcels) for _ in modes]
        destinations = [
            Destination(f"d{at}", mode, shelf) for at, (mode, shelf) in enumerate(zip(modes, self.shelves, strict=True))
        ]
        self.dispatch = Dispatch(parcels, self.budget, None, lambda _, function: soon.append(function))
        self.pipeline = Pipeline(
            {Signal.TRACES: destinations, Signal.LOGS: destinations},
            self.dispatch,
            self.budget,
            self.telemetry,
            Origins(),
            lambda: self.now_s,
        )
        self._soon = soon
        self.assembler = Assembler(Settings(), MemoryStore(self.budget), MemoryStore(self.budget), self.pipeline, self)
        self.pipeline.attach(
            self.assembler, Reading(lambda span, _: b"gen_ai" in span, lambda record, _: b"gen_ai" in record, LATE)
        )

    def submit(self, job: JobSource) -> None:
        self.jobs.append(joined(job.parts()))

    def withdraw(self, trace_id: bytes) -> bool:
        return False

    def count(self, name: str) -> int:
        data = self.reader.get_metrics_data()
        scopes = [scope for resource in data.resource_metrics for scope in resource.scope_metrics] if data else []
        return sum(
            point.value
            for scope in scopes
            for metric in scope.metrics
            if metric.name == f"spanjudge_{name}"
            for point in metric.data.data_points
        )

    async def take(self, request: bytes, signal: Signal = Signal.TRACES, **headers: str) -> tuple[int, str]:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        accepted = await self.pipeline.take(signal, request, receiver="otlp", headers=named)
        return accepted.rejected, accepted.message

    def wait(self, seconds: float) -> None:
        self.now_s += seconds
        self.assembler.tick(self.now_s)
        self.settle()

    def settle(self) -> None:
        while self.turn():
            pass

    def turn(self) -> bool:
        """Do one of the things that were to be done later; False if there was none."""
        if not self._soon:
            return False
        self._soon.pop()()
        return True

    def answer(self, *scored: int) -> None:
        carrier = EvaluationSpan(b"", b"", Span(trace_id=bytes(15) + b"\1", name="evaluation").SerializeToString())
        sealed = seal_carriers({number.to_bytes(8): Carriers([carrier], []) for number in scored})
        tails = {number.to_bytes(8): SCORE for number in scored}
        self.assembler.judged(Judged(self.jobs[-1].trace_id, tails, sealed), self.now_s)
        self.settle()


def spans(*numbers: int, wanted: bool = False, trace: int = 1, parent: int = 0, padding: int = 0) -> bytes:
    request = ExportTraceServiceRequest()
    scope = request.resource_spans.add().scope_spans.add()
    for number in numbers:
        span = scope.spans.add(trace_id=trace.to_bytes(16), span_id=number.to_bytes(8), name=f"span {number}")
        span.trace_state = "x" * padding
        if parent:
            span.parent_span_id = parent.to_bytes(8)
        if wanted:
            span.attributes.add(key="gen_ai.operation.name").value.string_value = "chat"
    return request.SerializeToString()


async def test_a_request_nobody_is_interested_in_goes_on_byte_for_byte() -> None:
    bench = Bench(ScoreMode.ATTRIBUTES, ScoreMode.NONE)
    request = spans(1, 2, 3)
    assert await bench.take(request) == (0, "")
    assert [one.request for shelf in bench.shelves for one in shelf.parcels] == [request, request]
    assert bench.shelves[0].parcels[0].items == 3


async def test_wanted_spans_are_held_for_those_who_wait_and_go_on_to_those_who_do_not() -> None:
    bench = Bench(ScoreMode.ATTRIBUTES, ScoreMode.EVALUATION_SPANS, ScoreMode.BOTH, ScoreMode.NONE)
    await bench.take(spans(1, wanted=True))
    assert [shelf.names() for shelf in bench.shelves] == [[], ["span 1"], [], ["span 1"]]
    bench.wait(6)
    bench.answer(1)
    # A later scalar field wins when messages are concatenated, which shows the tail without any attribute.
    assert [shelf.names() for shelf in bench.shelves] == [
        ["scored"],
        ["span 1", "evaluation"],
        ["evaluation", "scored"],
        ["span 1"],
    ]
    assert bench.count("processor_created_spans") == 1


async def test_scores_that_come_too_late_reach_even_those_who_wanted_attributes() -> None:
    bench = Bench(ScoreMode.ATTRIBUTES, ScoreMode.NONE)
    await bench.take(spans(1, wanted=True))
    bench.wait(6)
    bench.wait(11)
    bench.answer(1)
    assert [shelf.names() for shelf in bench.shelves] == [["span 1", "evaluation"], ["span 1"]]


async def test_in_a_mixed_request_only_what_is_wanted_is_held() -> None:
    bench = Bench(ScoreMode.ATTRIBUTES)
    await bench.take(spans(1, wanted=True) + spans(2, parent=1) + spans(3, trace=2))
    assert sorted(bench.shelves[0].names()) == ["span 2", "span 3"]


async def test_late_spans_go_on_marked() -> None:
    bench = Bench(ScoreMode.ATTRIBUTES)
    await bench.take(spans(1, wanted=True))
    bench.wait(6)
    bench.answer()
    await bench.take(spans(2, wanted=True, parent=1) + spans(3, parent=1))
    assert sorted(bench.shelves[0].names()) == ["late mark", "span 1", "span 3"]
    assert bench.count("processor_late_spans") == 1


async def test_a_request_sent_twice_arrives_once() -> None:
    bench = Bench(ScoreMode.ATTRIBUTES, ScoreMode.NONE)
    request = spans(1, 2, wanted=True)
    await bench.take(request)
    await bench.take(request)
    assert bench.shelves[1].names() == ["span 1", "span 2"]
    assert bench.count("processor_deduplicated_spans") == 2
    assert bench.count("receiver_accepted_spans") == 4


async def test_bad_spans_are_left_out_and_the_sender_is_told() -> None:
    bench = Bench(ScoreMode.ATTRIBUTES)
    rejected, message = await bench.take(spans(1, 0))
    assert rejected == 1 and "span_id" in message
    assert bench.shelves[0].names() == ["span 1"]


async def test_a_full_queue_refuses_the_whole_request_with_a_delay() -> None:
    bench = Bench(ScoreMode.ATTRIBUTES, ScoreMode.NONE)
    bench.shelves[1].full = True
    with pytest.raises(OverloadedError, match="exporter d1 is full") as refused:
        await bench.take(spans(1))
    assert refused.value.retry_after_s > 0
    assert not bench.shelves[0].parcels and bench.count("receiver_accepted_spans") == 0
    assert bench.count("exporter_enqueue_failed_spans") == bench.count("receiver_refused_spans") == 1


async def test_past_the_budget_judged_content_goes_first_and_then_senders_have_to_wait() -> None:
    bench = Bench(ScoreMode.NONE, ScoreMode.ATTRIBUTES, limit_bytes=9000)
    await bench.take(spans(1, wanted=True))
    bench.wait(6)
    bench.answer()
    await bench.take(spans(*range(1, 9), trace=2, wanted=True))
    held_bytes = bench.budget.used_bytes
    with pytest.raises(OverloadedError, match="limit_mib"):
        await bench.take(spans(*range(1, 120), trace=3))
    assert bench.budget.used_bytes < held_bytes, "the judged run gave way before the sender was refused"


async def test_not_every_refused_request_leads_to_a_search_for_what_can_be_dropped() -> None:
    bench = Bench(ScoreMode.ATTRIBUTES)
    await bench.take(spans(1, wanted=True))
    bench.wait(6)
    bench.budget.limit_bytes = bench.budget.used_bytes
    with pytest.raises(OverloadedError):
        await bench.take(spans(1, trace=2))
    bench.answer()
    bench.now_s += SHED_PAUSE_S / 2
    with pytest.raises(OverloadedError):
        await bench.take(spans(1, trace=2))
    bench.now_s += SHED_PAUSE_S / 2
    await bench.take(spans(1, trace=2))


async def test_what_is_larger_than_the_budget_is_taken_when_little_is_held() -> None:
    bench = Bench(ScoreMode.ATTRIBUTES, limit_bytes=2000)
    large = spans(*range(1, 100), wanted=True)
    assert len(large) > 2000
    await bench.take(large)
    with pytest.raises(OverloadedError):
        await bench.take(spans(1, trace=2))
    bench.wait(6)
    bench.answer()
    assert len(bench.shelves[0].spans()) == 99


async def test_the_operator_is_told_once_in_a_while_that_requests_are_refused(caplog: pytest.LogCaptureFixture) -> None:
    bench = Bench(ScoreMode.ATTRIBUTES)
    bench.shelves[0].full = True
    with caplog.at_level("WARNING"):
        for _ in range(5):
            with pytest.raises(OverloadedError):
                await bench.take(spans(1))
    told = [record.getMessage() for record in caplog.records if "refused a request" in record.getMessage()]
    assert len(told) == 1 and "exporter d0 is full" in told[0]


async def test_a_giant_trace_leaves_in_turns_complete_and_in_order() -> None:
    bench = Bench(ScoreMode.ATTRIBUTES)
    numbers = range(2, 45)
    await bench.take(spans(1, wanted=True))
    for number in numbers:
        await bench.take(spans(number, wanted=True, parent=1, padding=400_000))
    bench.now_s += 6
    bench.assembler.tick(bench.now_s)
    bench.assembler.judged(Judged(bench.jobs[-1].trace_id), bench.now_s)
    turns = 0
    sent = 0
    while bench.turn():
        now_sent = len(bench.shelves[0].parcels)
        assert now_sent - sent <= PARCELS_AT_ONCE
        turns, sent = turns + 1, now_sent
    assert turns > 1
    assert [span.span_id for span in bench.shelves[0].spans()] == [number.to_bytes(8) for number in range(1, 45)]


async def test_a_large_resource_is_not_repeated_for_every_megabyte_of_spans() -> None:
    bench = Bench(ScoreMode.ATTRIBUTES)
    request = ExportTraceServiceRequest()
    resource = request.resource_spans.add()
    resource.resource.attributes.add(key="large").value.string_value = "r" * 5_000_000
    scope = resource.scope_spans.add()
    for number in range(1, 11):
        span = scope.spans.add(trace_id=(1).to_bytes(16), span_id=number.to_bytes(8), name="gen_ai" + "x" * 1_000_000)
        if number > 1:
            span.parent_span_id = (1).to_bytes(8)
    await bench.take(request.SerializeToString())
    bench.wait(6)
    bench.answer()
    assert len(bench.shelves[0].spans()) == 10
    assert sum(len(one.request) for one in bench.shelves[0].parcels) <= 2 * 15_100_000


async def test_spans_of_different_forwarded_headers_never_share_a_parcel() -> None:
    bench = Bench(ScoreMode.ATTRIBUTES)
    await bench.take(spans(1, wanted=True), x_project_name="a", authorization="secret")
    await bench.take(spans(2, wanted=True, parent=1), x_project_name="b")
    bench.wait(6)
    bench.answer()
    assert [one.headers for one in bench.shelves[0].parcels] == [
        (("x-project-name", "a"),),
        (("x-project-name", "b"),),
    ]


async def test_an_undeclared_signal_is_refused_for_good() -> None:
    bench = Bench(ScoreMode.ATTRIBUTES)
    assert not bench.pipeline.accepts(Signal.METRICS)
    with pytest.raises(UndeclaredSignalError, match="service::pipelines::metrics"):
        await bench.take(b"", Signal.METRICS)


def logs(*bodies: str) -> bytes:
    request = ExportLogsServiceRequest()
    scope = request.resource_logs.add().scope_logs.add()
    for body in bodies:
        scope.log_records.add(trace_id=(1).to_bytes(16)).body.string_value = body
    return request.SerializeToString()


async def test_log_records_with_content_are_forwarded_at_once_and_judged_with_their_trace() -> None:
    bench = Bench(ScoreMode.ATTRIBUTES)
    request = logs("gen_ai content", "something else")
    await bench.take(request, Signal.LOGS)
    assert [one.request for one in bench.shelves[0].parcels] == [request]
    await bench.take(spans(1, wanted=True))
    bench.wait(6)
    assert len(bench.jobs[0].logs) == 1


@pytest.mark.parametrize("order", [[True, False], [False, True]])
async def test_within_one_request_the_order_of_spans_does_not_decide_what_is_held(order: Sequence[bool]) -> None:
    bench = Bench(ScoreMode.ATTRIBUTES)
    parts = {True: spans(2, wanted=True, parent=1), False: spans(1)}
    await bench.take(b"".join(parts[wanted] for wanted in order))
    assert bench.shelves[0].names() == []


def test_what_is_said_of_spans_that_have_long_left_goes_the_way_that_they_went() -> None:
    bench = Bench(ScoreMode.ATTRIBUTES, ScoreMode.NONE)
    told = EvaluationSpan(b"", b"", Span(name="evaluation").SerializeToString())
    bench.pipeline.evaluations_apart(Apart([told], ("", (("x-project-name", "shop"),))))
    attributes, none = bench.shelves
    assert attributes.names() == ["evaluation"] and none.names() == []
    assert attributes.parcels[0].headers == (("x-project-name", "shop"),)
