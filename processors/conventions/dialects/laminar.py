"""Laminar: `lmnr.span.type`, `lmnr.span.input`, `lmnr.span.output`.

What its instrumentations say of model calls is in the GenAI conventions, old or new, and is read there; of requests to
OpenAI's responses API the new form lacks the instructions, which the old one beside it has.
"""

from __future__ import annotations

from collections.abc import Mapping

from evaluators.cases import JsonValue
from processors.conventions.decoding.messages import Messages
from processors.conventions.decoding.sessions import session_of
from processors.conventions.decoding.steps import Step, step_facts
from processors.conventions.decoding.values import text_at
from processors.conventions.facts import Kind, SpanFacts
from processors.otlp import Span

SPAN_TYPE = "lmnr.span.type"
INPUT = "lmnr.span.input"
OUTPUT = "lmnr.span.output"
FIRST_ROLE = "gen_ai.prompt.0.role"
FIRST_CONTENT = "gen_ai.prompt.0.content"
FUNCTION = "DEFAULT"
"""The type of whatever was given none, so of every function that is merely observed."""

_KINDS = {
    FUNCTION: Kind.CHAIN,
    "LLM": Kind.LLM,
    "TOOL": Kind.TOOL,
    "EXECUTOR": Kind.CHAIN,
    "EVALUATION": Kind.CHAIN,
    "EVALUATOR": Kind.EVALUATION,
    "HUMAN_EVALUATOR": Kind.EVALUATION,
}


class Laminar:
    """The reader of Laminar's own attributes."""

    name = "laminar"
    marks: tuple[bytes, ...] = (b"lmnr.span.",)

    def __init__(self, messages: Messages, limit: int | None = None) -> None:
        self._messages = messages
        self._limit = limit

    def reads(self, span: Span) -> bool:
        """Whether the span has a type, an input or an output."""
        return any(key in span.attributes for key in (SPAN_TYPE, INPUT, OUTPUT))

    def read(self, span: Span) -> SpanFacts:
        """What the span says."""
        attributes = span.attributes
        type_name = (text_at(attributes, SPAN_TYPE) or FUNCTION).upper()
        kind = _KINDS.get(type_name, Kind.OTHER)
        step = Step(
            kind=kind,
            name=span.name,
            is_function=type_name == FUNCTION,
            given=attributes.get(INPUT),
            answered=attributes.get(OUTPUT),
            instructions=_instructions(attributes) if kind is Kind.LLM else None,
            session_id=session_of(attributes),
        )
        return step_facts(self.name, span, step, self._messages, self._limit)


def _instructions(attributes: Mapping[str, JsonValue]) -> JsonValue:
    return attributes.get(FIRST_CONTENT) if attributes.get(FIRST_ROLE) == "system" else None
