"""Laminar: `lmnr.span.type`, `lmnr.span.input`, `lmnr.span.output`.

What its instrumentations say of model calls is in the GenAI conventions, old or new, and is read there; of requests to
OpenAI's responses API the new form lacks the instructions, which the old one beside it has.
"""

from __future__ import annotations

from collections.abc import Mapping

from evaluators.cases import JsonValue
from processors.conventions.decoding.values import text_at
from processors.conventions.facts import Kind
from processors.conventions.steps import Step, StepReader
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


class Laminar(StepReader):
    """The reader of Laminar's own attributes."""

    name = "laminar"
    marks: tuple[bytes, ...] = (b"lmnr.span.",)
    keys = (SPAN_TYPE, INPUT, OUTPUT)

    def step(self, span: Span) -> Step:
        """The step that the span is of."""
        attributes = span.attributes
        type_name = (text_at(attributes, SPAN_TYPE) or FUNCTION).upper()
        kind = _KINDS.get(type_name, Kind.OTHER)
        return Step(
            kind=kind,
            name=span.name,
            is_function=type_name == FUNCTION,
            given=attributes.get(INPUT),
            answered=attributes.get(OUTPUT),
            instructions=_instructions(attributes) if kind is Kind.LLM else None,
        )


def _instructions(attributes: Mapping[str, JsonValue]) -> JsonValue:
    return attributes.get(FIRST_CONTENT) if attributes.get(FIRST_ROLE) == "system" else None
