"""Recorded runs in which each model call is a trace of its own: judged as one run, whoever tells of them."""

from __future__ import annotations

from collections import Counter
from functools import cache
from pathlib import Path

import pytest
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from collector.saved_traces import SavedTrace
from evaluators.verdict import Level
from processors.judging import TraceInput, TraceJudge, TraceScores
from processors.pieces import Pieces
from processors.reading.transcribe import transcribe_trace
from tests.processors.ordinary import ordinary_evaluators
from tests.processors.recorded_runs import facts_of, recorded_runs, saved, transcripts_of


@cache
def runs_in_pieces() -> list[Path]:
    """Runs with several traces, none of which has a span round the run, and whose calls can be told apart."""
    found = []
    for run in recorded_runs():
        transcripts = transcripts_of(saved(run))
        asked = [call.id for one in transcripts for each in one.runs for turn in each.turns for call in turn.calls]
        headless = all(one.headless for one in transcripts) and len(set(asked)) == len(asked)
        if headless and len(transcripts) > len(facts_of(run)["user_inputs"]):
            found.append(run)
    return found


RUNS = pytest.mark.parametrize("run", runs_in_pieces(), ids=lambda run: "/".join(run.parts[-2:]))
PARENT = b"\xfe" * 8
TOGETHER = b"\xfe" * 16


def inputs(trace: SavedTrace) -> TraceInput:
    return TraceInput(
        trace_id=trace.trace_id,
        spans=[(one.origin.resource, one.origin.scope, one.span) for one in trace.spans],
        logs=[(one.origin.resource, one.origin.scope, one.record) for one in trace.logs],
    )


def in_one_trace(traces: list[TraceInput]) -> TraceInput:
    """The same spans below one that never arrived."""
    spans = []
    for resource, scope, raw in (span for trace in traces for span in trace.spans):
        span = Span.FromString(raw)
        span.trace_id = TOGETHER
        span.parent_span_id = span.parent_span_id or PARENT
        spans.append((resource, scope, span.SerializeToString()))
    return TraceInput(trace_id=TOGETHER, spans=spans, logs=[log for trace in traces for log in trace.logs])


def judge() -> TraceJudge:
    return TraceJudge(ordinary_evaluators(), read=transcribe_trace, pieces=Pieces())


def outcomes(found: list[TraceScores]) -> Counter[tuple[str, str, str, str | None]]:
    return Counter(
        (one.span_id, one.verdict.evaluator, one.verdict.status.value, one.verdict.label)
        for scores in found
        for one in scores.verdicts
    )


async def judged_in_pieces(run: Path) -> list[TraceScores]:
    traces = [inputs(trace) for trace in saved(run).traces]
    one_judge = judge()
    one_judge.expect(traces)
    return [await one_judge.judge(trace) for trace in traces]


def test_there_are_such_recordings() -> None:
    assert len({run.parent for run in runs_in_pieces()}) >= 3


@RUNS
async def test_the_verdicts_are_those_of_one_trace(run: Path) -> None:
    whole = await judge().judge(in_one_trace([inputs(trace) for trace in saved(run).traces]))
    assert outcomes(await judged_in_pieces(run)) == outcomes([whole])


@RUNS
async def test_each_answer_of_the_user_is_judged_as_one_run(run: Path) -> None:
    told = [one for scores in await judged_in_pieces(run) for one in scores.verdicts]
    levels = Counter(one.verdict.evaluator for one in told if one.verdict.level is Level.TRACE)
    assert levels == dict.fromkeys(("task_completion", "step_efficiency"), len(facts_of(run)["user_inputs"]))
