"""Spans that no reader knows: what can be taken from them by the plain meaning of their keys.

Keys are compared by their words, however they are joined (`tool.name`, `tool_name`, `acme.toolName`).  Taken is what
a key says in so many words: a kind of span, a tool's name with its arguments and its result, messages beside the name
of a model, input and output, a session.  A tool's name alone may stand on a span for many reasons, so whether such a
span is an execution is left to the rest of the trace.  Nothing is guessed from values, names of spans or scopes.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache

from evaluators.cases import JsonValue, Role
from processors.conventions.decoding.definitions import defines_arguments
from processors.conventions.decoding.sessions import session_in
from processors.conventions.decoding.values import as_list, as_object, first_at
from processors.conventions.facts import Kind, SpanFacts
from processors.conventions.steps import Step, StepReader
from processors.otlp import Span

UNKNOWN = "unknown"
"""Stands for the dialect of spans whose dialect nobody knows."""

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_KINDS = {
    "llm": Kind.LLM,
    "generation": Kind.LLM,
    "chat_model": Kind.LLM,
    "tool": Kind.TOOL,
    "agent": Kind.AGENT,
    "workflow": Kind.WORKFLOW,
    "chain": Kind.CHAIN,
}
_MEANINGS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("kind", ("span kind", "span type", "observation type", "run type", "step type")),
    ("tool", ("tool name", "tool call name")),
    ("call_id", ("tool call id",)),
    ("arguments", ("tool arguments", "tool args", "tool input", "tool parameters", "call arguments", "call args")),
    ("result", ("tool result", "tool output", "tool response", "call result", "call output")),
    ("tools", ("tools", "tool definitions")),
    ("model", ("model", "model name", "model id")),
    ("agent", ("agent name",)),
    ("given", ("messages", "input messages", "prompt", "input", "inputs", "input value", "request")),
    ("answered", ("output messages", "completion", "output", "outputs", "output value", "response")),
)
_BY_WORDS = {words: meaning for meaning, spellings in _MEANINGS for words in spellings}
_MOST_WORDS = 3


class Generic(StepReader):
    """The reader of spans that no other reader knows."""

    name = UNKNOWN
    marks: tuple[bytes, ...] = (b"tool_name", b"tool.name", b"tool_call", b"tool.call", b'"role":')

    def reads(self, span: Span) -> bool:
        """Whether a key of the span says that it is about a tool, an agent or a model call."""
        meant = _meant(span.attributes)
        return "tool" in meant or _kind(meant) is not Kind.OTHER

    def step(self, span: Span) -> Step:
        """The step that the span is of."""
        meant = _meant(span.attributes)
        kind = _kind(meant)
        is_tool = kind is Kind.TOOL or "tool" in meant
        tool = meant.get("tool")
        if defines_arguments(meant.get("arguments")):
            # What some call a tool's parameters is their schema.
            del meant["arguments"]
        return Step(
            kind=kind,
            name=_text(tool if is_tool else meant.get("agent")) or span.name,
            given=first_at(meant, "arguments", "given") if is_tool else meant.get("given"),
            answered=first_at(meant, "result", "answered") if is_tool else meant.get("answered"),
            definitions=meant.get("tools"),
            call_id=_text(meant.get("call_id")),
            model=_text(meant.get("model")),
            is_function=is_tool,
        )

    def read(self, span: Span) -> SpanFacts:
        """What the span says, whatever the key under which it names a session."""
        facts = super().read(span)
        return replace(facts, session_id=facts.session_id or session_in(span.attributes, ""))


def _meant(attributes: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    """The attributes whose keys are understood, by what they mean; of several of one meaning the first."""
    meant: dict[str, JsonValue] = {}
    for key, value in attributes.items():
        meaning = _meaning(key)
        if meaning is not None and value is not None:
            meant.setdefault(meaning, value)
    return meant


@lru_cache(maxsize=4096)
def _meaning(key: str) -> str | None:
    words = [word.lower() for word in _WORD.findall(key[-64:])]
    for count in range(_MOST_WORDS, 0, -1):
        found = _BY_WORDS.get(" ".join(words[-count:]))
        if found is not None:
            return found
    return None


def _kind(meant: Mapping[str, JsonValue]) -> Kind:
    named = _text(meant.get("kind"))
    if named is not None and named.lower() in _KINDS:
        return _KINDS[named.lower()]
    if "tool" in meant:
        return Kind.TOOL if "arguments" in meant or "result" in meant else Kind.OTHER
    if "model" in meant and _has_messages(meant.get("given")):
        return Kind.LLM
    return Kind.OTHER


def _has_messages(value: JsonValue) -> bool:
    listed = as_list(value) or as_list(as_object(value).get("messages"))
    return any(isinstance(item, dict) and item.get("role") in tuple(Role) for item in listed)


def _text(value: JsonValue) -> str | None:
    return value if isinstance(value, str) and value else None
