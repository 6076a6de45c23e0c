"""Jobs that are large: told as failed without being read, if more than judging them is worth; else piece by piece."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from collector.judging import jobs, process
from collector.judging.jobs import (
    Carriers,
    EvaluationSpan,
    GivenUpError,
    Job,
    Judged,
    joined,
    open_carriers,
    pieces_of,
    seal_carriers,
)
from collector.judging.setup import Plan, build
from collector.judging.worker import judge_job, trace_of
from evaluators.registry import EVALUATORS
from tests.collector.judging.test_judging_process import running

TRACE_ID = bytes(15) + b"\1"


def job(spans: int, records: int = 0, size: int = 0, trace_id: bytes = TRACE_ID) -> Job:
    made = [
        Span(trace_id=trace_id, span_id=number.to_bytes(8), name="x" * size).SerializeToString()
        for number in range(1, spans + 1)
    ]
    logs = [(b"", b"", b"")] * records
    return Job(trace_id, [(b"", b"", made)], logs, complete=True, partial=False)


class InPieces:
    """A job whose content is handed over in so many pieces, or is given up after some of them."""

    complete, partial, rules_only = True, False, False

    def __init__(self, number: int, pieces: int, *, lasts: int | None = None, cost_bytes: int = 16 << 20) -> None:
        self.trace_id = number.to_bytes(16)
        self.cost_bytes = cost_bytes
        self._pieces = pieces
        self._lasts = pieces if lasts is None else lasts
        self.read = 0

    def parts(self) -> Iterator[Job]:
        for at in range(self._pieces):
            if at == self._lasts:
                raise GivenUpError
            self.read += 1
            yield job(1, trace_id=self.trace_id)._replace(more=at < self._pieces - 1)


@pytest.fixture(autouse=True)
def the_faulty_process_is_found(monkeypatch: pytest.MonkeyPatch) -> None:

    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[3]))


@pytest.mark.parametrize("large", [job(1, size=200_000), job(60), job(1, records=60)])
async def test_a_trace_is_too_large_by_its_bytes_its_spans_or_its_log_records(
    large: Job, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "LARGE_JOB_BYTES", 50_000)
    monkeypatch.setattr(process, "MAX_JOB_BYTES", 100_000)
    async with running({}) as (judging, results):
        judging.submit(large)
        await results.until(lambda: len(results.all) == 1)
    assert "too large" in (results.all[0].failure or "")


def test_fifty_thousand_small_spans_are_not_too_large() -> None:
    assert 100 * job(500, size=400).cost_bytes < jobs.MAX_JOB_BYTES


async def test_small_jobs_do_not_wait_for_the_pieces_of_a_large_one() -> None:
    large = InPieces(1, 200)
    async with running({}) as (judging, results):
        judging.submit(large)
        for number in range(2, 12):
            judging.submit(job(1, trace_id=number.to_bytes(16)))
        await judging.idle()
    assert [int.from_bytes(one.trace_id) for one in results.all] == [*range(2, 12), 1]


async def test_a_job_whose_content_is_given_up_on_the_way_fails_and_harms_no_other() -> None:
    async with running({}) as (judging, results):
        judging.submit(InPieces(1, 5, lasts=2))
        judging.submit(InPieces(2, 3, lasts=0, cost_bytes=10))
        judging.submit(job(1, trace_id=(3).to_bytes(16)))
        await judging.idle()
    failures = {int.from_bytes(one.trace_id): one.failure for one in results.all if one.final}
    assert failures[3] is None
    assert [failures[number] for number in (1, 2)] == ["its content was given up before it was judged"] * 2


async def test_large_jobs_are_under_way_one_at_a_time() -> None:
    first, second = InPieces(1, 3), InPieces(2, 3)
    async with running({"hang_on": (1).to_bytes(16)}, silence_limit_s=2.0) as (judging, results):
        judging.submit(first)
        judging.submit(second)
        await results.until(lambda: first.read == 3)
        assert second.read == 0


async def test_a_large_trace_gets_the_same_scores_in_pieces_as_whole() -> None:
    evaluators = {name: entry.create().settings for name, entry in EVALUATORS.items()}
    whole = job(2500)
    spans = whole.batches[0][2]
    pieces = [
        Job(TRACE_ID, [(b"", b"", spans[:1000])], [], complete=True, partial=False, more=True),
        Job(TRACE_ID, [(b"", b"", spans[1000:2000])], [], complete=True, partial=False, more=True),
        whole._replace(batches=[(b"", b"", spans[2000:])]),
    ]
    found = []
    for one in (whole, joined(pieces)):
        judge, _ = build(Plan(evaluators=evaluators))
        result, counts = await judge_job(judge, one, trace_of(one, 0.0), lambda *_: None)
        assert result.failure is None
        found.append((result.tails, result.checksums, result.settled, counts.take()))
    assert found[0] == found[1]
    assert len(found[0][1]) == 4 * 2500


def test_a_large_result_goes_in_pieces_that_say_the_same() -> None:
    span_ids = [number.to_bytes(8) for number in range(2500)]
    result = Judged(
        TRACE_ID,
        tails={span_id: b"tail" + span_id for span_id in span_ids},
        carriers=seal_carriers({one: Carriers([EvaluationSpan(b"", b"", one)], []) for one in span_ids[:1500]}),
        extra=frozenset(span_ids[:10] + span_ids[-10:]),
        settled=frozenset(span_ids),
        memory=b"what was said",
        checksums=b"sums",
    )
    pieces = list(pieces_of(result))
    assert [piece.more for piece in pieces] == [True, True, False]
    assert {key: tail for piece in pieces for key, tail in piece.tails.items()} == result.tails
    assert {key: one for piece in pieces for key, one in open_carriers(piece).items()} == open_carriers(result)
    assert frozenset().union(*(piece.extra for piece in pieces)) == result.extra
    for piece in pieces:
        assert piece.tails.keys() >= open_carriers(piece).keys()
    last = pieces[-1]
    assert last.final and (last.settled, last.memory, last.checksums) == (result.settled, b"what was said", b"sums")
