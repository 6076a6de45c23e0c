"""Real spans in both conventions, judged by the real evaluators: the right span gets the right keys, and no secret."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import pytest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
from opentelemetry.proto.resource.v1.resource_pb2 import Resource
from opentelemetry.proto.trace.v1.trace_pb2 import Span
from opentelemetry.proto.trace.v1.trace_pb2 import Status as SpanStatus

from evaluators.cases import Run
from evaluators.judge.question import Answer, JudgeFailure, Question
from evaluators.registry import EVALUATORS
from evaluators.verdict import Level, Status
from processors.judging import TraceInput, TraceJudge, TraceScores
from processors.marks import Marks
from processors.telling import PlacedVerdict, Raw
from processors.transcribe import transcribe_trace
from processors.verdict_json import verdict_json

TRACE_ID = bytes(range(1, 17))
SERVICE = Resource(
    attributes=[KeyValue(key="service.name", value=AnyValue(string_value="assistant"))]
).SerializeToString()
AGENT, FIRST, TOOL, SECOND, TOOL_AGAIN, LAST = range(1, 7)
SECRET = "sk-live-9f8e7d6c5b4a39281706f5e4d3c2b1a0"
SCHEMA = {
    "type": "object",
    "properties": {"user_id": {"type": "string", "description": "ids have the form u_<digits>"}},
    "required": ["user_id"],
}
REJECTED = "user_id '4471' is invalid: ids have the form u_<digits>"
QUESTION = "What is the plan of account 4471?"
ASKED = {"user_id": "4471"}


def span_id(number: int) -> bytes:
    return number.to_bytes(8)


def raw(number: int, name: str, attributes: Mapping[str, object], *, error: str | None = None) -> Raw:
    status = SpanStatus(code=SpanStatus.STATUS_CODE_ERROR, message=error) if error else None
    span = Span(
        trace_id=TRACE_ID,
        span_id=span_id(number),
        parent_span_id=span_id(AGENT) if number != AGENT else b"",
        name=name,
        start_time_unix_nano=10**18 + number * 1000,
        end_time_unix_nano=10**18 + (9000 if number == AGENT else number * 1000 + 900),
        attributes=[KeyValue(key=key, value=AnyValue(string_value=str(value))) for key, value in attributes.items()],
        status=status,
    )
    return SERVICE, b"", span.SerializeToString()


def openinference(answer: str, result: str | None, error: str | None) -> list[Raw]:
    """An agent asks for an account, asks again without a change, and answers."""

    def said(history: list[dict[str, object]], number: int, answered: str | None) -> dict[str, object]:
        flat: dict[str, object] = {"openinference.span.kind": "LLM"}
        tool = {"type": "function", "function": {"name": "get_account", "parameters": SCHEMA}}
        flat["llm.tools.0.tool.json_schema"] = json.dumps(tool)
        for at, message in enumerate(history):
            flat.update({f"llm.input_messages.{at}.message.{key}": value for key, value in message.items()})
        flat["llm.output_messages.0.message.role"] = "assistant"
        if answered is None:
            calls = asking(number)
            flat.update({f"llm.output_messages.0.message.{key}": value for key, value in calls.items()})
        else:
            flat["llm.output_messages.0.message.content"] = answered
        return flat

    def asking(number: int) -> dict[str, object]:
        prefix = "tool_calls.0.tool_call"
        return {
            f"{prefix}.id": f"call-{number}",
            f"{prefix}.function.name": "get_account",
            f"{prefix}.function.arguments": json.dumps(ASKED),
        }

    def executed() -> dict[str, object]:
        kind = {"openinference.span.kind": "TOOL", "tool.name": "get_account", "input.value": json.dumps(ASKED)}
        return kind if result is None else {**kind, "output.value": result}

    def answered(number: int) -> list[dict[str, object]]:
        told = result if result is not None else f"Error: {error}"
        return [
            {"role": "assistant", **asking(number)},
            {"role": "tool", "tool_call_id": f"call-{number}", "content": told},
        ]

    user: list[dict[str, object]] = [{"role": "user", "content": QUESTION}]
    agent = {"openinference.span.kind": "AGENT", "input.value": QUESTION, "output.value": answer, "session.id": "s-1"}
    return [
        raw(FIRST, "ChatCompletion", said(user, 1, None)),
        raw(TOOL, "get_account", executed(), error=error),
        raw(SECOND, "ChatCompletion", said([*user, *answered(1)], 2, None)),
        raw(TOOL_AGAIN, "get_account", executed(), error=error),
        raw(LAST, "ChatCompletion", said([*user, *answered(1), *answered(2)], 3, answer)),
        raw(AGENT, "assistant", agent),
    ]


def genai(answer: str, result: str | None, error: str | None) -> list[Raw]:
    """The same run as the GenAI semantic conventions tell it."""

    def message(role: str, *parts: dict[str, object]) -> dict[str, object]:
        return {"role": role, "parts": list(parts)}

    def asking(number: int) -> dict[str, object]:
        return {"type": "tool_call", "id": f"call-{number}", "name": "get_account", "arguments": ASKED}

    def chat(history: list[dict[str, object]], *output: dict[str, object]) -> dict[str, object]:
        tool = {"type": "function", "name": "get_account", "parameters": SCHEMA}
        return {
            "gen_ai.operation.name": "chat",
            "gen_ai.tool.definitions": json.dumps([tool]),
            "gen_ai.input.messages": json.dumps(history),
            "gen_ai.output.messages": json.dumps([{**message("assistant", *output), "finish_reason": "stop"}]),
        }

    def executed(number: int) -> dict[str, object]:
        facts: dict[str, object] = {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": "get_account",
            "gen_ai.tool.call.id": f"call-{number}",
            "gen_ai.tool.call.arguments": json.dumps(ASKED),
        }
        return facts if result is None else {**facts, "gen_ai.tool.call.result": result}

    def answered(number: int) -> list[dict[str, object]]:
        told = result if result is not None else f"Error: {error}"
        response = {"type": "tool_call_response", "id": f"call-{number}", "response": told}
        return [message("assistant", asking(number)), message("tool", response)]

    user = [message("user", {"type": "text", "content": QUESTION})]
    agent = {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.agent.name": "assistant",
        "gen_ai.conversation.id": "s-1",
        "gen_ai.input.messages": json.dumps(user),
        "gen_ai.output.messages": json.dumps([message("assistant", {"type": "text", "content": answer})]),
    }
    return [
        raw(FIRST, "chat", chat(user, asking(1))),
        raw(TOOL, "execute_tool get_account", executed(1), error=error),
        raw(SECOND, "chat", chat([*user, *answered(1)], asking(2))),
        raw(TOOL_AGAIN, "execute_tool get_account", executed(2), error=error),
        raw(LAST, "chat", chat([*user, *answered(1), *answered(2)], {"type": "text", "content": answer})),
        raw(AGENT, "invoke_agent assistant", agent),
    ]


Convention = Callable[[str, str | None, str | None], list[Raw]]
CONVENTIONS = pytest.mark.parametrize("convention", [openinference, genai])


async def judged(spans: list[Raw], **how: object) -> TraceScores:
    judge = TraceJudge([entry.create() for entry in EVALUATORS.values()], read=transcribe_trace)
    return await judge.judge(TraceInput(trace_id=TRACE_ID, spans=spans, **how))  # type: ignore[arg-type]


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


@CONVENTIONS
async def test_judging_span_by_span_says_the_same_as_judging_at_once(convention: Convention) -> None:
    spans = convention("I could not find it.", None, REJECTED)
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
    evaluators = [entry.create(entry.settings(judge="judge/default")) for entry in EVALUATORS.values()]
    judge = TraceJudge(evaluators, {"judge/default": recorder}, read=transcribe_trace)
    trace = TraceInput(trace_id=TRACE_ID, spans=convention("It is on the basic plan.", '{"plan": "basic"}', None))
    scores = await judge.judge(trace)
    levels = [{EVALUATORS[name].evaluator_type.level for name in request} for request in recorder.requests]
    assert sorted(levels, key=str) == [{Level.SPAN}, {Level.TRACE}]
    assert len(recorder.requests[0]) > 2
    assert {placed.verdict.status for placed in scores.verdicts} <= {Status.OK, Status.JUDGE_ERROR}
    recorder.requests.clear()
    await judge.judge(replace(trace, rules_only=True))
    assert recorder.requests == []


def outcome(placed: PlacedVerdict) -> tuple[str, str, str, str]:
    return placed.span_id, placed.verdict.evaluator, placed.verdict.status, str(placed.verdict.score)
