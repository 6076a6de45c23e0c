"""Spans of dialects without a reader of their own: what can be taken from them by the plain meaning of their keys.

Reads what tracing libraries commonly write on the spans of workflows, agents, tools and model calls (kind, name, input,
output, session), and nothing that would have to be guessed.  Its facts only fill what the other readers left open.
"""

from __future__ import annotations

from collections.abc import Mapping

from evaluators.cases import JsonValue
from processors.conventions.bodies import call_arguments, request_messages, request_tools, response_messages
from processors.conventions.definitions import tools_of
from processors.conventions.facts import Kind, SpanFacts, ToolFacts
from processors.conventions.messages import Messages
from processors.conventions.parts import output_of
from processors.conventions.reader import error_of, is_cancelled, is_cut, is_pending
from processors.conventions.values import as_list, as_object, cut_json, first_at, parsed, text_at
from processors.otlp import Span

KINDS = ("traceloop.span.kind", "langsmith.span.kind", "langfuse.observation.type", "mlflow.spanType")
NAMES = ("traceloop.entity.name", "ai.toolCall.name", "mcp.tool.name")
INPUTS = (
    "traceloop.entity.input",
    "langfuse.observation.input",
    "ai.toolCall.args",
    "ai.prompt.messages",
    "ai.prompt",
    "mlflow.spanInputs",
)
OUTPUTS = ("traceloop.entity.output", "langfuse.observation.output", "ai.toolCall.result", "mlflow.spanOutputs")
TEXT_OUTPUT = "ai.response.text"
CALLS_OUTPUT = "ai.response.toolCalls"
TOOLS = "ai.prompt.tools"
CALL_IDS = ("ai.toolCall.id",)
SESSIONS = (
    "session.id",
    "traceloop.association.properties.session_id",
    "traceloop.association.properties.thread_id",
    "lmnr.association.properties.session_id",
    "langsmith.metadata.thread_id",
    "langsmith.metadata.session_id",
    "ai.telemetry.metadata.sessionId",
)
OPERATION = "ai.operationId"

_KINDS = {
    "llm": Kind.LLM,
    "generation": Kind.LLM,
    "chat_model": Kind.LLM,
    "tool": Kind.TOOL,
    "agent": Kind.AGENT,
    "workflow": Kind.WORKFLOW,
    "chain": Kind.CHAIN,
    "task": Kind.CHAIN,
    "span": Kind.CHAIN,
}


class Generic:
    """The reader of what no other reader reads."""

    name = "generic"
    marks: tuple[bytes, ...] = (b"traceloop.", b"langfuse.", b"langsmith.", b"mlflow.span", b"ai.operationId")

    def __init__(self, messages: Messages, limit: int | None = None) -> None:
        self._messages = messages
        self._limit = limit

    def reads(self, span: Span) -> bool:
        """Whether the span says in a known key what kind of work it is."""
        return any(key in span.attributes for key in (*KINDS, OPERATION))

    def read(self, span: Span) -> SpanFacts:
        """What the span says."""
        attributes = span.attributes
        kind = _kind(attributes)
        pending = is_pending(span)
        error = error_of(span) if not pending else None
        given, answered = first_at(attributes, *INPUTS), first_at(attributes, *OUTPUTS)
        tool = None
        if kind is Kind.TOOL:
            result = output_of(parsed(answered) if _is_quoted(answered) else answered)
            tool = ToolFacts(
                name=text_at(attributes, *NAMES) or span.name.removesuffix(".tool"),
                call_id=text_at(attributes, *CALL_IDS) or result.call_id,
                arguments=call_arguments(given),
                result=None if pending else result.text,
                error=error if error is not None else (result.text or "") if result.failed else None,
                truncated=is_cut(answered, self._limit),
                pending=pending,
            )
        body = parsed(given)
        if not isinstance(body, list | dict) and is_cut(given, self._limit) and isinstance(given, str):
            body = cut_json(given)
        is_model = kind is Kind.LLM
        if answered is None and (TEXT_OUTPUT in attributes or CALLS_OUTPUT in attributes):
            calls = as_list(attributes.get(CALLS_OUTPUT))
            answered = {"role": "assistant", "content": attributes.get(TEXT_OUTPUT) or "", "tool_calls": calls}
        return SpanFacts(
            kind=kind,
            dialect=self.name,
            input=request_messages(body, self._messages) if is_model else None,
            output=response_messages(parsed(answered), self._messages) if is_model and answered is not None else None,
            tools=(tools_of(attributes.get(TOOLS)) or request_tools(body)) if is_model else None,
            input_text=_asked(given) if kind in (Kind.AGENT, Kind.WORKFLOW) else None,
            output_text=_said(answered) if kind in (Kind.AGENT, Kind.WORKFLOW) else None,
            truncated=is_cut(given, self._limit) or is_cut(attributes.get(CALLS_OUTPUT), self._limit),
            tool=tool,
            session_id=text_at(attributes, *SESSIONS),
            error=error,
            partial=is_cancelled(span),
        )


def _kind(attributes: Mapping[str, JsonValue]) -> Kind:
    for key in KINDS:
        named = attributes.get(key)
        if isinstance(named, str):
            return _KINDS.get(named.lower(), Kind.OTHER)
    operation = attributes.get(OPERATION)
    if operation == "ai.toolCall":
        return Kind.TOOL
    if isinstance(operation, str) and operation.endswith((".doGenerate", ".doStream")):
        return Kind.LLM
    return Kind.AGENT if operation in ("ai.generateText", "ai.streamText") else Kind.OTHER


def _is_quoted(value: JsonValue) -> bool:
    return isinstance(value, str) and value.startswith('"')


def _asked(value: JsonValue) -> str | None:
    """The one text that a workflow was called with; None for anything more involved."""
    decoded = parsed(value)
    if isinstance(decoded, str):
        return decoded
    asked = as_object(decoded)
    if isinstance(asked.get("prompt"), str):
        return text_at(asked, "prompt")
    arguments = asked.get("args")
    if isinstance(arguments, list) and len(arguments) == 1 and isinstance(arguments[0], str):
        return arguments[0]
    return None


def _said(value: JsonValue) -> str | None:
    decoded = parsed(value)
    if isinstance(decoded, dict):
        return text_at(decoded, "content") if decoded.get("role") == "assistant" else None
    return decoded if isinstance(decoded, str) else None
