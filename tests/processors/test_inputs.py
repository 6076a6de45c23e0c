"""What is said to have all inputs is what evaluators can judge: the same recordings, asked and judged."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from collector.commands.transcript import read
from collector.saved_traces import SavedTrace, read_saved_traces
from evaluators.verdict import Status
from processors.inputs import inputs_found
from processors.judging import TraceInput, TraceJudge
from processors.reading.transcribe import transcribe
from tests.processors.ordinary import ordinary_evaluators

RECORDED = Path(__file__).parents[1] / "recorded"
DIALECTS = [
    "openai__openinference",
    "openai__openinference-hidden",
    "anthropic__otel-genai-span",
    "anthropic__otel-genai-off",
]


def statuses(trace: SavedTrace) -> dict[str, set[Status]]:
    judge = TraceJudge(ordinary_evaluators(), read=lambda s, r: transcribe("", s, r))
    spans = [(one.origin.resource, one.origin.scope, one.span) for one in trace.spans]
    logs = [(one.origin.resource, one.origin.scope, one.record) for one in trace.logs]
    scores = asyncio.run(judge.judge(TraceInput(trace_id=trace.trace_id, spans=spans, logs=logs)))
    found: dict[str, set[Status]] = {}
    for placed in scores.verdicts:
        found.setdefault(placed.verdict.evaluator, set()).add(placed.verdict.status)
    return found


@pytest.mark.parametrize("dialect", DIALECTS)
def test_an_evaluator_lacks_inputs_where_its_verdict_says_so_and_nowhere_else(dialect: str) -> None:
    traces = read_saved_traces([RECORDED / dialect]).traces
    assert traces
    for trace in traces:
        judged = statuses(trace)
        for name, ready in inputs_found(read(trace)).items():
            said = judged.get(name, set()) - {Status.NOT_APPLICABLE}
            if ready is None:
                assert not said
            elif ready:
                assert said
                assert Status.MISSING_INPUT not in said
            else:
                assert not said or Status.MISSING_INPUT in said


def test_where_no_answer_of_a_model_was_captured_nothing_about_its_calls_is_ready() -> None:
    (trace,) = read_saved_traces([RECORDED / "openai__openinference-hidden" / "lend"]).traces
    assert set(inputs_found(read(trace)).values()) <= {False, None}
    assert inputs_found(read(trace))["tool_selection"] is False
