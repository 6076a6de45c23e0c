"""Claude Code's own telemetry: `claude_code.*` spans and the log records that name them.

An interaction is a run, `llm_request` a model call, `tool` an execution with the permission and the execution itself
below it.  By default they hold no content: the prompt, commands and bodies come with switches, some of them only in log
records.  A record without trace and span ids is on no span, so that it can't be placed and isn't read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from evaluators.cases import JsonValue
from processors.conventions.decoding.bodies import request_messages, request_tools, response_messages
from processors.conventions.decoding.cut import whole_json
from processors.conventions.decoding.values import PLACEHOLDERS, text_at
from processors.conventions.executions import execution_on
from processors.conventions.facts import Kind, SpanFacts, ToolFacts
from processors.conventions.failures import error_of, is_cancelled
from processors.conventions.reader import Reader
from processors.otlp import Event, Span

PREFIX = "claude_code."
TYPE = "span.type"
PROMPT = "user_prompt"
MODEL = ("gen_ai.response.model", "gen_ai.request.model", "model")
STOP_REASON = "stop_reason"
TOOL_NAME = "tool_name"
CALL_ID = ("tool_use_id", "gen_ai.tool.call.id")
TOOL_INPUT = "tool_input"
SUCCESS = "success"
ERROR = "error"
SESSION = "session.id"
PROMPT_EVENT = "user_prompt"
REQUEST_EVENT = "api_request_body"
RESPONSE_EVENT = "api_response_body"
ANSWER_EVENT = "assistant_response"
SOURCE = "query_source"
_CONVERSATIONS = ("repl_main_thread", "sdk")
"""Where answers in the conversation itself come from; titles, summaries and the like come from elsewhere."""
OUTPUT_EVENT = "tool.output"

_KINDS = {
    "interaction": Kind.AGENT,
    "llm_request": Kind.LLM,
    "tool": Kind.TOOL,
    "tool.execution": Kind.TOOL,
    "tool.blocked_on_user": Kind.BOOKKEEPING,
    "hook": Kind.BOOKKEEPING,
    "compaction": Kind.BOOKKEEPING,
}


class ClaudeCode(Reader):
    """The reader of `claude_code.*` spans."""

    name = "claude_code"
    marks: tuple[bytes, ...] = (b"claude_code.",)

    def reads(self, span: Span) -> bool:
        """Whether the span is one of Claude Code's."""
        return span.name.startswith(PREFIX)

    def read(self, span: Span) -> SpanFacts:
        """What the span and the records joined to it say."""
        attributes = span.attributes
        type_ = text_at(attributes, TYPE) or span.name.removeprefix(PREFIX)
        kind = _KINDS.get(type_, Kind.OTHER)
        error = _error(span)
        request, response = _body(span, REQUEST_EVENT), _body(span, RESPONSE_EVENT)
        reason = text_at(attributes, STOP_REASON)
        is_model = kind is Kind.LLM
        return SpanFacts(
            kind=kind,
            dialect=self.name,
            input=request_messages(request, self._messages) if is_model else None,
            output=response_messages(_said(span) if response is None else response, self._messages)
            if is_model
            else None,
            tools=request_tools(request) if is_model else None,
            input_text=_prompt(span) if kind is Kind.AGENT else None,
            output_text=_said(span) if kind is Kind.AGENT else None,
            tool=_tool(span, error, self._limit) if kind is Kind.TOOL else None,
            session_id=text_at(attributes, SESSION),
            model=text_at(attributes, *MODEL),
            finish_reasons=(reason,) if reason is not None and is_model else None,
            error=error,
            truncated=any(_is_cut(event.attributes) for event in span.events),
            partial=is_cancelled(span),
        )


def _error(span: Span) -> str | None:
    error = error_of(span)
    if not error and (error is not None or span.attributes.get(SUCCESS) in (False, "false")):
        return text_at(span.attributes, ERROR) or ""
    return error


def _prompt(span: Span) -> str | None:
    texts = [text_at(span.attributes, PROMPT)]
    texts += [text_at(event.attributes, "prompt") for event in _named(span, PROMPT_EVENT)]
    return next((text for text in texts if text is not None and text not in PLACEHOLDERS), None)


def _said(span: Span) -> str | None:
    """The last answer in the conversation, of those that are on the span; other words may have come with calls."""
    for event in reversed([*_named(span, ANSWER_EVENT)]):
        text = text_at(event.attributes, "response")
        source = text_at(event.attributes, SOURCE)
        if text is not None and text not in PLACEHOLDERS and (source is None or source.startswith(_CONVERSATIONS)):
            return text
    return None


def _body(span: Span, name: str) -> JsonValue:
    for event in _named(span, name):
        text = text_at(event.attributes, "body")
        if text is not None:
            return whole_json(text)
    return None


def _tool(span: Span, error: str | None, limit: int | None) -> ToolFacts:
    attributes = span.attributes
    given = attributes.get(TOOL_INPUT)
    result = None
    truncated = False
    for event in span.events:
        if given is None:
            given = event.attributes.get(TOOL_INPUT)
        if event.name == OUTPUT_EVENT:
            result = text_at(event.attributes, "output", "content") or result
            truncated = truncated or _is_cut(event.attributes)
    tool = execution_on(
        span,
        name=text_at(attributes, TOOL_NAME),
        call_id=text_at(attributes, *CALL_ID),
        given=given,
        answered=result,
        error=error,
        limit=limit,
    )
    return replace(tool, truncated=tool.truncated or truncated)


def _named(span: Span, name: str) -> Iterator[Event]:
    return (event for event in span.events if event.name in (name, PREFIX + name))


def _is_cut(attributes: Mapping[str, JsonValue]) -> bool:
    return any(key.endswith("_truncated") and value in (True, "true") for key, value in attributes.items())
