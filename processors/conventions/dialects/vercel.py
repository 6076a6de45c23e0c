"""The AI SDK's own vocabulary, `ai.*`, as its versions up to 6 write it, and later ones when asked for the old form.

One `ai.generateText` (or `streamText`, `generateObject`, `streamObject`) is a run; its `doGenerate` or `doStream` spans
are model calls, and `ai.toolCall` spans are executions.  The `gen_ai.*` attributes on model calls hold no content.
"""

from __future__ import annotations

from collections.abc import Mapping

from evaluators.cases import JsonValue, Role
from processors.conventions.decoding.bodies import request_messages, tool_choice_of
from processors.conventions.decoding.cut import is_cut, whole_of
from processors.conventions.decoding.definitions import tools_of
from processors.conventions.decoding.sessions import session_of
from processors.conventions.decoding.values import as_object, as_text, first_at, parsed, text_at
from processors.conventions.executions import execution_on
from processors.conventions.facts import Kind, MessageFacts, SpanFacts, ToolFacts
from processors.conventions.failures import error_of, is_cancelled
from processors.conventions.reader import Reader
from processors.otlp import Span

OPERATION = "ai.operationId"
FUNCTION = "ai.telemetry.functionId"
PROMPT = "ai.prompt"
PROMPT_MESSAGES = "ai.prompt.messages"
PROMPT_TOOLS = "ai.prompt.tools"
PROMPT_TOOL_CHOICE = "ai.prompt.toolChoice"
TEXT = ("ai.response.text", "ai.result.text")
OBJECT = ("ai.response.object", "ai.result.object")
TOOL_CALLS = ("ai.response.toolCalls", "ai.result.toolCalls")
RESPONSE_ID = ("ai.response.id", "gen_ai.response.id")
MODEL = ("ai.response.model", "gen_ai.response.model", "ai.model.id")
FINISH_REASON = ("ai.response.finishReason", "ai.finishReason")
TOOL_NAME = "ai.toolCall.name"
TOOL_CALL_ID = "ai.toolCall.id"
TOOL_ARGUMENTS = "ai.toolCall.args"
TOOL_RESULT = "ai.toolCall.result"

_TOOL = "ai.toolCall"
_RUNS = frozenset({"ai.generateText", "ai.streamText", "ai.generateObject", "ai.streamObject"})
_MODEL_CALLS = (".doGenerate", ".doStream")


class Vercel(Reader):
    """The reader of `ai.*`."""

    name = "vercel"
    marks: tuple[bytes, ...] = (b"ai.operationId",)

    def reads(self, span: Span) -> bool:
        """Whether the span names an operation of the AI SDK."""
        return isinstance(span.attributes.get(OPERATION), str)

    def read(self, span: Span) -> SpanFacts:
        """What the span says."""
        attributes = span.attributes
        kind = _kind(attributes)
        answered = None
        given: tuple[MessageFacts, ...] | None = None
        if kind in (Kind.LLM, Kind.AGENT):
            answered = self._answered(attributes)
            given = self._given(attributes)
        reason = text_at(attributes, *FINISH_REASON)
        return SpanFacts(
            kind=kind,
            dialect=self.name,
            input=given,
            output=answered if kind is Kind.LLM else None,
            input_text=_asked(attributes) if kind is Kind.AGENT else None,
            output_text=_said(attributes) if kind is Kind.AGENT else None,
            tools=tools_of(attributes.get(PROMPT_TOOLS)) if kind is Kind.LLM else None,
            tool_choice=_tool_choice(attributes),
            tool=self._tool(span) if kind is Kind.TOOL else None,
            agent_name=text_at(attributes, FUNCTION) if kind is Kind.AGENT else None,
            session_id=session_of(attributes),
            response_id=text_at(attributes, *RESPONSE_ID) if kind is Kind.LLM else None,
            model=text_at(attributes, *MODEL),
            finish_reasons=(reason,) if reason is not None and kind is Kind.LLM else None,
            error=error_of(span),
            truncated=any(
                is_cut(attributes.get(key), self._limit) for key in (PROMPT, PROMPT_MESSAGES, *TEXT, *TOOL_CALLS)
            ),
            partial=is_cancelled(span),
        )

    def _given(self, attributes: Mapping[str, JsonValue]) -> tuple[MessageFacts, ...] | None:
        value = first_at(attributes, PROMPT_MESSAGES, PROMPT)
        body = whole_of(value, self._limit)
        if isinstance(body, dict) and isinstance(body.get("prompt"), str | list):
            body = {"messages": body["prompt"], **body}
        if isinstance(body, dict | list):
            return request_messages(body, self._messages)
        return None

    def _answered(self, attributes: Mapping[str, JsonValue]) -> tuple[MessageFacts, ...] | None:
        text, listed, built = (first_at(attributes, *keys) for keys in (TEXT, TOOL_CALLS, OBJECT))
        if text is None and listed is None and built is None:
            return None
        calls = whole_of(listed, self._limit)
        words = text if text is not None else as_text(built)
        message: dict[str, JsonValue] = {"role": "assistant", "content": words or ""}
        if isinstance(calls, list):
            message["tool_calls"] = calls
        return self._messages.read(message, Role.ASSISTANT)

    def _tool(self, span: Span) -> ToolFacts:
        attributes = span.attributes
        return execution_on(
            span,
            name=text_at(attributes, TOOL_NAME),
            call_id=text_at(attributes, TOOL_CALL_ID),
            given=attributes.get(TOOL_ARGUMENTS),
            answered=attributes.get(TOOL_RESULT),
            limit=self._limit,
        )


def _kind(attributes: Mapping[str, JsonValue]) -> Kind:
    operation = attributes.get(OPERATION)
    if operation == _TOOL:
        return Kind.TOOL
    if operation in _RUNS:
        return Kind.AGENT
    if isinstance(operation, str) and operation.endswith(_MODEL_CALLS):
        return Kind.LLM
    return Kind.OTHER


def _asked(attributes: Mapping[str, JsonValue]) -> str | None:
    """What a run was asked, where it was asked in one text."""
    return text_at(as_object(attributes.get(PROMPT)), "prompt")


def _said(attributes: Mapping[str, JsonValue]) -> str | None:
    return as_text(first_at(attributes, *TEXT, *OBJECT))


def _tool_choice(attributes: Mapping[str, JsonValue]) -> str | None:
    choice = attributes.get(PROMPT_TOOL_CHOICE)
    return tool_choice_of({"tool_choice": parsed(choice)}) if choice is not None else None
