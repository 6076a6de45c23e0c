"""Spans of libraries that write of each step its kind, its name, one value in and one value out.

Most tracing libraries do, under keys of their own; a reader of theirs finds the values, and `StepReader` makes facts of
them.  What a value holds (a request body, messages, a wrapped call of a function, plain text) is told by its shape.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace

from evaluators.cases import JsonValue, Role
from processors.conventions.decoding.bodies import (
    finish_reasons_of,
    request_messages,
    request_tools,
    response_messages,
    text_of_parts,
    tool_choice_of,
)
from processors.conventions.decoding.cut import OpenObject, is_cut, whole_of
from processors.conventions.decoding.definitions import tools_of
from processors.conventions.decoding.messages import Messages
from processors.conventions.decoding.sessions import session_of
from processors.conventions.decoding.values import as_list, as_object, parsed, text_at
from processors.conventions.executions import execution_on
from processors.conventions.facts import Kind, SpanFacts, ToolFacts
from processors.conventions.failures import error_of, is_cancelled, is_pending
from processors.conventions.reader import Reader
from processors.otlp import Span

_AROUND = frozenset({Kind.AGENT, Kind.WORKFLOW, Kind.CHAIN})
_ASKED_KEYS = ("prompt", "query", "question", "task", "user_input", "user_message", "message", "text", "input")


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """What a span says of one step. None: it doesn't say.

    `name`  of the tool or agent.  `definitions`  of tools that a model was offered, and `instructions` that
    it was given, where they stand by themselves.
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
    instructions: JsonValue = None
    call_id: str | None = None
    description: str | None = None
    model: str | None = None
    error: str | None = None
    is_function: bool = False
    truncated: bool = False


class StepReader(Reader):
    """A reader of such a library. `keys` are attributes one of which is on every span that it reads."""

    keys: tuple[str, ...] = ()

    def reads(self, span: Span) -> bool:
        """Whether the span has one of the keys."""
        return any(key in span.attributes for key in self.keys)

    def read(self, span: Span) -> SpanFacts:
        """What the span says."""
        return step_facts(self.name, span, self.step(span), self._messages, self._limit)

    @abstractmethod
    def step(self, span: Span) -> Step:
        """The step that a span is of: its values, as they stand there."""


def step_facts(dialect: str, span: Span, step: Step, messages: Messages, limit: int | None = None) -> SpanFacts:
    """The facts in a step. `limit` is the length at which attribute values are cut in this trace."""
    error = step.error if step.error is not None and not is_pending(span) else error_of(span)
    given, answered = whole_of(step.given, limit), whole_of(step.answered, limit)
    facts = SpanFacts(
        kind=step.kind,
        dialect=dialect,
        tool=_execution(span, step, limit) if step.kind is Kind.TOOL or step.is_function else None,
        agent_name=step.name if step.kind is Kind.AGENT else None,
        session_id=session_of(span.attributes),
        model=step.model,
        error=error,
        truncated=step.truncated or is_cut(step.given, limit),
        tools_cut=is_cut(step.given, limit) or is_cut(step.definitions, limit),
        partial=is_cancelled(span),
    )
    if step.kind is Kind.LLM:
        request = _request(given)
        told = text_of_parts(step.instructions)
        return replace(
            facts,
            system=(told,) if told else None,
            input=messages.read(request, Role.USER)
            if isinstance(request, str)
            else request_messages(request, messages),
            output=response_messages(answered, messages) if answered is not None else None,
            tools=request_tools(request) or tools_of(step.definitions),
            tool_choice=tool_choice_of(request),
            finish_reasons=finish_reasons_of(answered),
        )
    if step.kind in _AROUND:
        return replace(
            facts,
            input_text=asked_in(given) or _last_words(given, Role.USER, messages),
            output_text=said_in(answered) or _last_words(answered, Role.ASSISTANT, messages),
        )
    return facts


def _execution(span: Span, step: Step, limit: int | None) -> ToolFacts:
    return execution_on(
        span,
        name=step.name,
        call_id=step.call_id,
        given=step.given,
        answered=step.answered,
        error=step.error,
        description=step.description,
        limit=limit,
    )


def _request(given: JsonValue) -> JsonValue:
    """What a model was given, without the call of the function that asked it; a prompt as its words."""
    called = as_object(given)
    if called.keys() == {"args", "kwargs"}:
        named, listed = as_object(called["kwargs"]), as_list(called["args"])
        found = next((item for item in listed if isinstance(item, list | dict)), None)
        return named if "messages" in named or found is None else {**named, "messages": found}
    prompt = called.get("prompt")
    return prompt if isinstance(prompt, str) and "messages" not in called else given


def _last_words(state: JsonValue, role: Role, messages: Messages) -> str | None:
    """The text of the last message in a graph's state, if it is of this role."""
    listed = as_object(state).get("messages")
    read = messages.read(listed[-1:], role) if isinstance(listed, list) else None
    last = read[-1] if read else None
    return last.text if last is not None and last.role is role and not last.calls else None


def asked_in(value: JsonValue) -> str | None:
    """The one text that an agent was called with; None for anything more involved."""
    decoded = parsed(value)
    if isinstance(decoded, str):
        return decoded
    asked = as_object(decoded)
    is_whole = not isinstance(asked, OpenObject)
    if len(asked) == 1 and is_whole and isinstance(only := next(iter(asked.values())), str):
        return only
    found = text_at(asked, *_ASKED_KEYS)
    if found is not None:
        return found
    arguments, keywords = asked.get("args"), asked.get("kwargs")
    listed = arguments if isinstance(arguments, list) else []
    named = keywords if isinstance(keywords, dict) else {}
    texts = [text for text in (*listed, *named.values()) if isinstance(text, str)]
    return texts[0] if len(texts) == 1 and is_whole else text_at(named, *_ASKED_KEYS)


def said_in(value: JsonValue) -> str | None:
    """The one text that an agent gave; None for anything more involved."""
    decoded = parsed(value)
    if isinstance(decoded, dict):
        return text_at(decoded, "content") if decoded.get("role") == "assistant" else None
    return decoded if isinstance(decoded, str) else None
