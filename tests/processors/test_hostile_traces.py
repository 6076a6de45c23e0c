"""Whatever stands in place of a recorded run's values, its trace is read and judged, and nothing in it is run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, ArrayValue, KeyValue, KeyValueList
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from evaluators.registry import EVALUATORS
from processors.conventions.decoding.values import as_text
from processors.judging import TraceJudge
from processors.otlp import decode_log, decode_span
from processors.pieces import Pieces
from processors.reading.transcribe import transcribe_trace
from processors.trace_jobs import TraceInput
from processors.transcript_json import transcript_json
from processors.verdicts.telling import Raw
from tests.processors.ordinary import ordinary_evaluators
from tests.processors.recorded_runs import runs_of_each_dialect, saved

_HUGE = f"0x{'f' * 5000}"
_RUN = "__import__('pathlib').Path('{0}').touch()"
TEXTS = [
    f"{{'role': 'user', 'content': {_HUGE}, 'arguments': {{'a': {_HUGE}}}, 'id': {_HUGE}}}",
    f'[{{"role": "assistant", "content": NaN, "tool_calls": [{{"name": "f", "arguments": {"9" * 4200}}}]}}]',
    f"[Message(role='user', content={_RUN}), {_RUN}]",
    f"{{'kwargs': {_RUN}, 'x': lambda: {_RUN}, 'y': f'{{{_RUN}}}'}}",
    '{"role": "\\ud800", "content": "\\udfff", "tool_calls": [{"id": "\\ud800"}]}',
    "[" * 3_000,
    '{"content":' * 3_000,
    '[{"role": "user", "content": ' * 200 + '"x"' + "}]" * 200,
    "[" + "-" * 3_000 + "1]",
    "[" + "'a' + " * 1_500 + "'b']",
    "Message(content=" * 1_500 + ")" * 1_500,
    '"' * 3_000,
    "\\" * 3_000,
    "Thought: x\nAction: f\nAction Input: {\n" * 500,
    "[[ ## next_tool_args ## ]]\n" * 500,
    '{"name": "f", "arguments": {}}' * 500,
    json.dumps(json.dumps(json.dumps({"messages": json.dumps([{"role": "user", "content": "[{" * 500}])}))),
    '[{"role": ["user"], "content": {"a": []}, "parts": 5, "tool_calls": {"function": 5}}, null, 5, [], "x"]',
    '{"generations": [[5]], "choices": 5, "candidates": [{"content": {"parts": 5}}], "output": 5, "messages": 5}',
    '[{"name": "f", "parameters": {"$ref": "#", "properties": 5, "required": {"a": 1}, "pattern": "(a+)+$"}}, 5]',
    '[{"name": 5, "function": [], "toolSpec": 5, "functionDeclarations": [5]}]',
    "\x00\x1b[31m\u202e\ufffe",
    "",
    "null",
]
_RING = bytes(range(8))


def _values(text: str) -> list[AnyValue]:
    """A text, and other kinds of values that say the same."""
    plain = AnyValue(string_value=text)
    pairs = [KeyValue(key=key, value=plain) for key in ("role", "content", "arguments", "name", "")]
    return [
        plain,
        AnyValue(array_value=ArrayValue(values=[plain, AnyValue(), AnyValue(int_value=-(1 << 63))])),
        AnyValue(kvlist_value=KeyValueList(values=pairs)),
        AnyValue(double_value=float("nan")),
        AnyValue(bytes_value=b"\xff" + text.encode()),
    ]


def _changed(raw: Raw, number: int, every: int, marker: Path) -> Raw:
    """A span of which some values, other ones with each number, are replaced."""
    resource, scope, serialised = raw
    span = Span.FromString(serialised)
    pairs = [*span.attributes, *(pair for event in span.events for pair in event.attributes)]
    for at, pair in enumerate(pairs):
        if at % every == number % every:
            text = TEXTS[(at + number) % len(TEXTS)].replace("{0}", str(marker))
            pair.value.CopyFrom(_values(text)[(at // every + number) % 5 if number % 2 else 0])
            head, _, tail = pair.key.partition(".0.")
            pair.key = f"{head}.{'9' * (17 + number)}.{tail}" if tail and at % 2 else pair.key
    if number % 2:
        span.parent_span_id = _RING
    return resource, scope, span.SerializeToString()


@pytest.mark.parametrize("run", runs_of_each_dialect(), ids=lambda run: f"{run.parent.name}-{run.name}")
async def test_hostile_values_cost_no_more_than_themselves(run: Path, tmp_path: Path) -> None:
    judge = TraceJudge(ordinary_evaluators(), read=transcribe_trace, pieces=Pieces())
    for trace in saved(run).traces:
        spans = [(one.origin.resource, one.origin.scope, one.span) for one in trace.spans]
        logs = [(one.origin.resource, one.origin.scope, one.record) for one in trace.logs]
        for number in range(2):
            changed = [_changed(raw, number, 3, tmp_path / "run") for raw in spans]
            transcript = transcribe_trace([decode_span(*raw) for raw in changed], [decode_log(*raw) for raw in logs])
            assert (as_text(transcript_json(transcript)) or "").encode()
            scores = await judge.judge(TraceInput(trace_id=trace.trace_id, spans=changed, logs=logs, arrived_s=number))
            assert scores.failure is None
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("run", runs_of_each_dialect()[::12], ids=lambda run: f"{run.parent.name}-{run.name}")
async def test_hostile_values_trouble_no_evaluator_there_is(run: Path, tmp_path: Path) -> None:
    judge = TraceJudge([entry.create() for entry in EVALUATORS.values()], read=transcribe_trace, pieces=Pieces())
    for trace in saved(run).traces:
        spans = [(one.origin.resource, one.origin.scope, one.span) for one in trace.spans]
        for number in range(2):
            changed = [_changed(raw, number, 3, tmp_path / "run") for raw in spans]
            scores = await judge.judge(TraceInput(trace_id=trace.trace_id, spans=changed, arrived_s=number))
            assert scores.failure is None
    assert not (tmp_path / "run").exists()
