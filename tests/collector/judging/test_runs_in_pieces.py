"""Runs whose model calls are traces of their own, on their way through assembler and judge."""

from __future__ import annotations

from collections.abc import Sequence

from opentelemetry.proto.trace.v1.trace_pb2 import Span

from collector.holding.assembler import Assembler
from collector.holding.settings import Settings
from collector.holding.store import Budget, MemoryStore
from collector.judging.jobs import EvaluationSpan, Job, JobSource, joined
from collector.judging.setup import Plan, build
from collector.judging.worker import judge_job, trace_of
from collector.records import Origin, Outbound, SpanRecord
from evaluators.registry import EVALUATORS
from processors.judging import TraceInput
from tests.processors.account_runs import FIRST, LAST, REJECTED, SECOND, genai
from tests.processors.bare_calls import bare

QUIET_S = 6.1


class Sidecar:
    """Assembler and judge, on a clock that the test turns."""

    wants_evaluations = False

    def __init__(self, rejoin: str = "history") -> None:
        self.now_s = 0.0
        self.left: dict[int, set[str]] = {}
        self.evaluations_sent: list[tuple[int, str, bool]] = []
        self._jobs: list[Job] = []
        budget = Budget(1 << 30)
        self._assembler = Assembler(Settings(), MemoryStore(budget), MemoryStore(budget), self, self)
        settings = {name: entry.create().settings for name, entry in EVALUATORS.items()}
        self._judge, _ = build(Plan(evaluators=settings, rejoin=rejoin))

    def submit(self, job: JobSource) -> None:
        self._jobs.append(joined(job.parts()))

    def withdraw(self, trace_id: bytes) -> bool:
        return False

    def leave(self, spans: Sequence[Outbound]) -> None:
        for one in spans:
            span, tail = Span.FromString(one.span), Span.FromString(one.tail)
            labels = {pair.key.split(".")[1] for pair in tail.attributes if pair.key.endswith(".label")}
            self.left[int.from_bytes(span.span_id)] = labels

    def unreadable(self, spans: int) -> None:
        raise AssertionError("all can be read")

    def evaluations(self, spans: Sequence[EvaluationSpan], origin: Origin, *, late: bool) -> None:
        for one in spans:
            span = Span.FromString(one.span)
            said = {pair.key: pair.value.string_value for pair in span.attributes}
            label = next(value for key, value in said.items() if key.endswith(".label") and key.startswith("eval."))
            supersedes = any(key.endswith(".supersedes") for key in said)
            self.evaluations_sent.append((int.from_bytes(span.parent_span_id), label, supersedes))

    def arrive(self, *traces: TraceInput) -> None:
        for trace in traces:
            ((resource, scope, span),) = trace.spans
            origin = Origin(resource, "", scope, "")
            record = SpanRecord(trace.trace_id, Span.FromString(span).span_id, b"", None, origin, span)
            self._assembler.add(trace.trace_id, [record], self.now_s)

    async def wait(self, seconds: float) -> None:
        self.now_s += seconds
        self._assembler.tick(self.now_s)
        jobs, self._jobs = self._jobs, []
        traces = [trace_of(job, self.now_s) for job in jobs]
        self._judge.expect(traces)
        for job, trace in zip(jobs, traces, strict=True):
            result, _ = await judge_job(self._judge, job, trace, lambda *_: None)
            self._assembler.judged(result, self.now_s)


TRACES = bare(genai("I could not find it.", None, REJECTED))


async def test_pieces_that_come_together_leave_with_all_that_is_to_be_said() -> None:
    sidecar = Sidecar()
    sidecar.arrive(*TRACES)
    await sidecar.wait(QUIET_S)
    assert sidecar.left[FIRST] == {"tool_invocation"}
    assert "step_efficiency" in sidecar.left[LAST] and "step_efficiency" not in sidecar.left[SECOND]
    await sidecar.wait(QUIET_S)
    assert not sidecar.evaluations_sent


async def test_what_a_later_piece_tells_of_an_earlier_one_follows_on_an_evaluation_span() -> None:
    sidecar = Sidecar()
    first, second, last = TRACES
    sidecar.arrive(first)
    await sidecar.wait(QUIET_S)
    assert set(sidecar.left) == {FIRST}
    sidecar.arrive(second)
    await sidecar.wait(QUIET_S)
    await sidecar.wait(0.1)
    assert {(number, label) for number, label, _ in sidecar.evaluations_sent} == {(FIRST, "incorrect")}
    sidecar.arrive(last)
    await sidecar.wait(QUIET_S)
    await sidecar.wait(0.1)
    assert {number for number, _, _ in sidecar.evaluations_sent} == {FIRST, SECOND}
    assert "step_efficiency" in sidecar.left[LAST]
    told = len(sidecar.evaluations_sent)
    for _ in range(20):
        await sidecar.wait(10)
    assert len(sidecar.evaluations_sent) == told


async def test_no_piece_waits_for_the_next_one() -> None:
    sidecar = Sidecar()
    for number, trace in enumerate(TRACES, start=1):
        sidecar.arrive(trace)
        await sidecar.wait(QUIET_S)
        assert len(sidecar.left) == number


async def test_switched_off_each_trace_is_judged_by_itself() -> None:
    sidecar = Sidecar(rejoin="off")
    for trace in TRACES:
        sidecar.arrive(trace)
        await sidecar.wait(QUIET_S)
        await sidecar.wait(0.1)
    assert not sidecar.evaluations_sent
