"""Reading and judging a trace costs work in proportion to its bytes, whatever its shape.

Work is counted, not timed: the lines of Python that are run, each round of a loop as one.  A trace four times as large
may cost four times as much, and hardly more.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest

from bench.long_traces import SHAPES, TRACE_ID, Trace
from evaluators.rules import evidence
from processors.judging import TraceInput, TraceJudge
from processors.otlp import decode_log, decode_span
from processors.reading import drafts
from processors.reading.transcribe import transcribe_trace
from tests.processors.ordinary import ordinary_evaluators

SIZES = {
    "large results": 4,
    "openinference": 12,
    "with bodies": 12,
    "genai": 12,
    "traceloop": 12,
    "langchain": 12,
    "span events": 12,
    "log records": 12,
    "windowed": 40,
    "changed front": 12,
    "turns in one": 60,
    "without ids": 30,
    "parallel": 25,
    "flat places": 100,
    "attributes": 500,
    "nested json": 50,
    "reprs": 20,
}
_SPANS = 120
_GROWTH = 4
_ALLOWED = 1.1


def lines_run(work: Callable[[], object]) -> int:
    """How many lines of Python a piece of work runs."""
    count = 0

    def on_line(frame: FrameType, event: str, argument: Any) -> Any:
        nonlocal count
        count += event == "line"
        return on_line

    before = sys.gettrace()
    sys.settrace(on_line)
    try:
        work()
    finally:
        sys.settrace(before)
    return count


def read(trace: Trace) -> None:
    transcribe_trace([decode_span(*raw) for raw in trace.spans], [decode_log(*raw) for raw in trace.logs])


def judge(trace: Trace) -> None:
    judging = TraceJudge(ordinary_evaluators(), read=transcribe_trace)
    given = TraceInput(trace_id=TRACE_ID, spans=trace.spans, logs=trace.logs)
    assert asyncio.run(judging.judge(given)).failure is None


@pytest.mark.parametrize("work", [read, judge])
@pytest.mark.parametrize("shape", SHAPES)
def test_work_grows_with_the_bytes_of_a_trace_and_not_faster(
    shape: str, work: Callable[[Trace], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    # Limits that small traces don't reach: on the history of turns of one span, and on what numbers are looked for in.
    monkeypatch.setattr(evidence, "_MOST_NUMBER_CHARS", 400)
    monkeypatch.setattr(drafts, "_MOST_HELD", 100)
    monkeypatch.setattr(drafts, "_OPENING", 2)
    monkeypatch.setattr(drafts, "_LATEST", 4)
    size = SIZES.get(shape, _SPANS)
    small, large = (SHAPES[shape].build(size * factor) for factor in (1, _GROWTH))
    work(small)  # What is only done once is done now.
    few, many = (lines_run(lambda: work(small)), lines_run(lambda: work(large)))
    assert many / large.size_bytes <= few / small.size_bytes * _ALLOWED
