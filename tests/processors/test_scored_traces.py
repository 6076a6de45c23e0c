"""Real spans in both conventions, judged by the real evaluators: the right span gets the right keys, and no secret."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace

import pytest
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from evaluators.cases import Run
from evaluators.computed import ComputedSettings
from evaluators.judge.question import Answer, JudgeFailure, Question
from evaluators.registry import EVALUATORS
from evaluators.verdict import Level, Status
from processors.judging import TraceInput, TraceJudge, TraceScores
from processors.reading.readiness import REQUIRED
from processors.reading.transcribe import transcribe_trace
from processors.verdicts.marks import Marks
from processors.verdicts.telling import PlacedVerdict
from processors.verdicts.verdict_json import verdict_json
from tests.processors.account_runs import (
    AGENT,
    CONVENTIONS,
    FIRST,
    LAST,
    REJECTED,
    SECOND,
    SECRET,
    TOOL,
    TOOL_AGAIN,
    TRACE_ID,
    Convention,
    judged,
    outcome,
    span_id,
)


def written(scores: TraceScores, number: int) -> dict[str, object]:
    tail = scores.spans[span_id(number)].tail if span_id(number) in scores.spans else b""
    return {pair.key: getattr(pair.value, pair.value.WhichOneof("value")) for pair in Span.FromString(tail).attributes}


@CONVENTIONS
async def test_a_futile_retry_is_written_on_the_spans_that_it_is_about(convention: Convention) -> None:
    scores = await judged(convention("I could not find it.", None, REJECTED))
    assert scores.failure is None
    for tool in (TOOL, TOOL_AGAIN):
        assert written(scores, tool)["eval.tool_invocation.label"] == "incorrect"
    assert written(scores, SECOND)["eval.tool_response_handling.issue"] == "identical_retry"
    assert written(scores, AGENT)["eval.step_efficiency.passed"] is False
    assert written(scores, AGENT)["eval.tool_invocation.run.all_passed"] is False
    assert not {key for key in written(scores, LAST) if key.startswith("eval.tool_invocation")}
    assert {placed.session_id for placed in scores.verdicts} == {"s-1"}


@CONVENTIONS
async def test_what_needs_a_model_is_neither_right_nor_wrong_without_one(convention: Convention) -> None:
    scores = await judged(convention("It is on the basic plan.", '{"plan": "basic"}', None))
    statuses = {placed.verdict.evaluator: placed.verdict.status for placed in scores.verdicts}
    assert statuses["task_completion"] == statuses["tool_selection"] == "needs_judge"
    assert written(scores, FIRST) == {}


@CONVENTIONS
async def test_a_leaked_secret_is_named_and_never_quoted(convention: Convention) -> None:
    result = json.dumps({"plan": "basic", "api_key": SECRET})
    scores = await judged(convention(f"It is on the basic plan; its key is {SECRET}.", result, None))
    assert written(scores, LAST)["eval.tool_response_handling.issue"] == "leak"
    everything = json.dumps([verdict_json(placed) for placed in scores.verdicts])
    leaving = b"".join(
        part
        for of in scores.spans.values()
        for part in (of.tail, *(carrier.span for carrier in (*of.alternatives, *of.extra)))
    )
    for cut in range(8, len(SECRET) - 8):
        assert SECRET[cut : cut + 8] not in everything
        assert SECRET[cut : cut + 8].encode() not in leaving


@pytest.mark.parametrize("root_first", [False, True])
@CONVENTIONS
async def test_judging_span_by_span_says_the_same_as_judging_at_once(convention: Convention, root_first: bool) -> None:
    spans = convention("I could not find it.", None, REJECTED)
    spans = [spans[-1], *spans[:-1]] if root_first else spans
    at_once = await judged(spans)
    said: list[PlacedVerdict] = []
    marks: Marks = {}
    for arrived in range(1, len(spans) + 1):
        growing = await judged(spans[:arrived], complete=False, marks=marks)
        said += growing.verdicts
        marks = growing.marks
    assert {one.verdict.evaluator for one in said} >= {"tool_invocation", "tool_response_handling"}
    said += (await judged(spans, marks=marks)).verdicts
    assert sorted(map(outcome, said)) == sorted(map(outcome, at_once.verdicts))


class Recorder:
    """A judge that answers nothing and remembers what it was asked."""

    model = "none"

    def __init__(self) -> None:
        self.requests: list[list[str]] = []

    async def ask(self, run: Run, questions: Sequence[Question]) -> list[Answer]:
        self.requests.append([question.evaluator for question in questions])
        failure = JudgeFailure(status=Status.JUDGE_ERROR, reason="the model is down")
        return [failure for _ in questions]


@CONVENTIONS
async def test_the_steps_of_a_run_share_one_request_and_the_run_has_one(convention: Convention) -> None:
    recorder = Recorder()
    asking = [entry for entry in EVALUATORS.values() if not issubclass(entry.settings, ComputedSettings)]
    evaluators = [entry.create(entry.settings(judge="judge/default")) for entry in asking]
    judge = TraceJudge(evaluators, {"judge/default": recorder}, read=transcribe_trace)
    trace = TraceInput(trace_id=TRACE_ID, spans=convention("It is on the basic plan.", '{"plan": "basic"}', None))
    scores = await judge.judge(trace)
    levels = [{EVALUATORS[name].evaluator_type.level for name in request} for request in recorder.requests]
    assert sorted(levels, key=str) == [{Level.SPAN}, {Level.TRACE}]
    assert len(recorder.requests[0]) > 2
    said = [placed.verdict for placed in scores.verdicts if placed.verdict.evaluator in REQUIRED]
    assert {verdict.status for verdict in said} <= {Status.OK, Status.JUDGE_ERROR}
    recorder.requests.clear()
    await judge.judge(replace(trace, rules_only=True))
    assert recorder.requests == []
