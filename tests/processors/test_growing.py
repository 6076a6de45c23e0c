"""A trace that is judged while it arrives: what stands in the end is what one look at the whole of it would say."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from collector.saved_traces import SavedTrace
from evaluators.verdict import Status
from processors.judging import TraceInput, TraceJudge
from processors.reading.transcribe import transcribe_trace
from processors.verdicts.marks import Marks
from tests.processors.ordinary import ordinary_evaluators
from tests.processors.recorded_runs import runs_of_each_dialect, saved

Standing = dict[tuple[str, str], str | None]


async def standing(trace: SavedTrace, order: list[int], looks: set[int]) -> Standing:
    """The labels that stand when the spans have come in this order, and were looked at when so many were there."""
    judge = TraceJudge(ordinary_evaluators(), read=transcribe_trace)
    spans = [(one.origin.resource, one.origin.scope, one.span) for one in trace.spans]
    logs = [(one.origin.resource, one.origin.scope, one.record) for one in trace.logs]
    marks: Marks = {}
    labels: Standing = {}
    for number in [*sorted(looks - {len(order)}), len(order)]:
        found = await judge.judge(
            TraceInput(
                trace_id=trace.trace_id,
                spans=[spans[at] for at in order[:number]],
                logs=logs,
                complete=number == len(order),
                marks=marks,
            )
        )
        assert found.failure is None
        marks = found.marks
        for one in found.verdicts:
            key = one.span_id, one.verdict.evaluator
            labels[key] = one.verdict.label
            if one.verdict.status is not Status.OK:
                del labels[key]
    return labels


@pytest.mark.parametrize("run", runs_of_each_dialect(), ids=lambda run: run.parent.name)
async def test_no_order_of_arrival_leaves_another_verdict_standing(run: Path) -> None:
    for trace in saved(run).traces:
        in_order = list(range(len(trace.spans)))
        whole = await standing(trace, in_order, set())
        for seed in range(2):
            order = random.Random(seed).sample(in_order, len(in_order))
            assert await standing(trace, order, set(in_order[1:])) == whole
