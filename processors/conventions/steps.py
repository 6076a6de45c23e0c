"""Spans of libraries that write of each step its kind, its name, one value in and one value out.

Most tracing libraries do, under keys of their own; a reader of theirs finds the values, and this makes facts of them.
What a value holds (a request body, messages, a wrapped call of a function, plain text) is told by its shape.
"""

from __future__ import annotations

from dataclasses import dataclass

from evaluators.cases import JsonValue
from processors.conventions.bodies import (
    call_arguments,
    finish_reasons_of,
    request_messages,
    request_tools,
    response_messages,
    tool_choice_of,
)
from processors.conventions.definitions import tools_of
from processors.conventions.facts import Kind, SpanFacts, ToolFacts
from processors.conventions.messages import Messages
from processors.conventions.parts import output_of
from processors.conventions.reader import error_of, is_cancelled, is_cut, is_pending
from processors.conventions.values import as_object, cut_json, parsed, text_at
from processors.otlp import Span

_AROUND = frozenset({Kind.AGENT, Kind.WORKFLOW, Kind.CHAIN})
_ASKED_KEYS = ("prompt", "query", "question", "task", "user_input", "user_message", "message", "text", "input")


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """What a span says of one step. None: it doesn't say.

    `name`  of the tool or agent.  `definitions`  of tools that a model was offered, where they stand by themselves.
    `error`  the error's text where the dialect has a key for it; else it is taken from the span's status.
    `is_function`  the span is that of a function of the program, and doesn't say whether it is a tool: both accounts
    are given, and the rest of the trace tells which one holds.
    `truncated`  what was given is known to have been cut, although it no longer shows.
    """

    kind: Kind
    name: str | None = None
    given: JsonValue = None
    answered: JsonValue = None
    definitions: JsonValue = None
    call_id: str | None = None
    description: str | None = None
    session_id: str | None = None
    model: str | None = None
    error: str | None = None
    is_function: bool = False
    truncated: bool = False


def step_facts(dialect: str, span: Span, step: Step, messages: Messages, limit: int | None = None) -> SpanFacts:
    """The facts in a step. `limit` is the length at which attribute values are cut in this trace."""
    pending = is_pending(span)
    error = None if pending else step.error if step.error is not None else error_of(span)
    body = _body(step.given, limit)
    is_model, is_around = step.kind is Kind.LLM, step.kind in _AROUND
    answered = parsed(step.answered)
    return SpanFacts(
        kind=step.kind,
        dialect=dialect,
        input=request_messages(body, messages) if is_model else None,
        output=response_messages(answered, messages) if is_model and answered is not None else None,
        tools=(request_tools(body) or tools_of(step.definitions)) if is_model else None,
        tool_choice=tool_choice_of(body) if is_model else None,
        input_text=asked_in(body) if is_around else None,
        output_text=said_in(answered) if is_around else None,
        tool=_tool(step, error, pending, limit) if step.kind is Kind.TOOL or step.is_function else None,
        agent_name=step.name if step.kind is Kind.AGENT else None,
        session_id=step.session_id,
        model=step.model,
        finish_reasons=finish_reasons_of(answered) if is_model else None,
        error=error,
        truncated=step.truncated or is_cut(step.given, limit),
        partial=is_cancelled(span),
    )


def _body(given: JsonValue, limit: int | None) -> JsonValue:
    body = parsed(given)
    if not isinstance(body, list | dict) and is_cut(given, limit) and isinstance(given, str):
        return cut_json(given)
    return body


def _tool(step: Step, error: str | None, pending: bool, limit: int | None) -> ToolFacts:
    answered = step.answered
    is_quoted = isinstance(answered, str) and answered.startswith('"')
    result = output_of(parsed(answered) if is_quoted else answered)
    gave_nothing = pending or (error is not None and answered in ("{}", ""))
    return ToolFacts(
        name=step.name,
        call_id=step.call_id or result.call_id,
        arguments=call_arguments(step.given),
        result=None if gave_nothing else result.text,
        error=error if error is not None else (result.text or "") if result.failed else None,
        description=step.description,
        truncated=is_cut(answered, limit),
        pending=pending,
    )


def asked_in(value: JsonValue) -> str | None:
    """The one text that an agent was called with; None for anything more involved."""
    decoded = parsed(value)
    if isinstance(decoded, str):
        return decoded
    asked = as_object(decoded)
    if len(asked) == 1 and isinstance(only := next(iter(asked.values())), str):
        return only
    found = text_at(asked, *_ASKED_KEYS)
    if found is not None:
        return found
    arguments, keywords = asked.get("args"), asked.get("kwargs")
    listed = arguments if isinstance(arguments, list) else []
    named = keywords if isinstance(keywords, dict) else {}
    texts = [text for text in (*listed, *named.values()) if isinstance(text, str)]
    return texts[0] if len(texts) == 1 else text_at(named, *_ASKED_KEYS)


def said_in(value: JsonValue) -> str | None:
    """The one text that an agent gave; None for anything more involved."""
    decoded = parsed(value)
    if isinstance(decoded, dict):
        return text_at(decoded, "content") if decoded.get("role") == "assistant" else None
    return decoded if isinstance(decoded, str) else None
