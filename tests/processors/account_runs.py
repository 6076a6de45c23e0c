"""One run of an agent as both big conventions tell it, and its judging by the real evaluators.

The agent asks for an account, is refused or answered, asks again without a change, and answers.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping

import pytest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
from opentelemetry.proto.resource.v1.resource_pb2 import Resource
from opentelemetry.proto.trace.v1.trace_pb2 import Span
from opentelemetry.proto.trace.v1.trace_pb2 import Status as SpanStatus

from processors.judging import TraceInput, TraceJudge, TraceScores
from processors.reading.transcribe import transcribe_trace
from processors.verdicts.telling import PlacedVerdict, Raw
from tests.processors.ordinary import ordinary_evaluators

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
    judge = TraceJudge(ordinary_evaluators(), read=transcribe_trace)
    return await judge.judge(TraceInput(trace_id=TRACE_ID, spans=spans, **how))  # type: ignore[arg-type]


def outcome(placed: PlacedVerdict) -> tuple[str, str, str, str]:
    return placed.span_id, placed.verdict.evaluator, placed.verdict.status, str(placed.verdict.score)
