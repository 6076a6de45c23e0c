"""Jobs that would take more memory than their worth: told as failed, without being read."""

from __future__ import annotations

import pytest
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from collector.judging import worker
from collector.judging.jobs import Job
from collector.judging.setup import Plan, build
from collector.judging.worker import judge_job, trace_of

TRACE_ID = bytes(15) + b"\1"


def job(spans: int, records: int = 0, size: int = 0) -> Job:
    made = [
        Span(trace_id=TRACE_ID, span_id=number.to_bytes(8), name="x" * size).SerializeToString()
        for number in range(1, spans + 1)
    ]
    logs = [(b"", b"", b"")] * records
    return Job(TRACE_ID, [(b"", b"", made)], logs, complete=True, partial=False)


async def failure_of(asked: Job) -> str | None:
    judge, _ = build(Plan(evaluators={}))
    result, _ = await judge_job(judge, asked, trace_of(asked, 0.0), lambda *_: None)
    return result.failure


@pytest.mark.parametrize("large", [job(1, size=200_000), job(60), job(1, records=60)])
async def test_a_trace_is_too_large_by_its_bytes_its_spans_or_its_log_records(
    large: Job, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert await failure_of(large) is None
    monkeypatch.setattr(worker, "MAX_JOB_BYTES", 100_000)
    failure = await failure_of(large)
    assert failure is not None and "too large" in failure


async def test_fifty_thousand_small_spans_are_not_too_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "MAX_JOB_BYTES", worker.MAX_JOB_BYTES // 100)
    assert await failure_of(job(500, size=400)) is None
