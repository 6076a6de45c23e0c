"""Spans made for Braintrust: `braintrust.span_attributes`, `braintrust.input_json`, `braintrust.output_json`.

Its namespace is written by hand or by integrations, beside other conventions; each field may stand there as JSON text
(`..._json`) or as a plain value.  The tools that a model was offered stand in `braintrust.metadata`.
"""

from __future__ import annotations

from processors.conventions.decoding.bodies import request_definitions
from processors.conventions.decoding.values import as_object, first_at, text_at
from processors.conventions.facts import Kind
from processors.conventions.steps import Step, StepReader
from processors.otlp import Span

SPAN_ATTRIBUTES = "braintrust.span_attributes"
SPAN_TYPE = "braintrust.span_attributes.type"
INPUT = ("braintrust.input_json", "braintrust.input")
OUTPUT = ("braintrust.output_json", "braintrust.output")
METADATA = "braintrust.metadata"

_KINDS = {
    "llm": Kind.LLM,
    "tool": Kind.TOOL,
    "function": Kind.CHAIN,
    "task": Kind.CHAIN,
    "score": Kind.EVALUATION,
    "eval": Kind.EVALUATION,
}


class Braintrust(StepReader):
    """The reader of Braintrust's own attributes."""

    name = "braintrust"
    marks: tuple[bytes, ...] = (b"braintrust.",)
    keys = (SPAN_ATTRIBUTES, SPAN_TYPE, *INPUT, *OUTPUT)

    def step(self, span: Span) -> Step:
        """The step that the span is of."""
        attributes = span.attributes
        own = as_object(attributes.get(SPAN_ATTRIBUTES))
        type_name = (text_at(attributes, SPAN_TYPE) or text_at(own, "type") or "function").lower()
        kind = _KINDS.get(type_name, Kind.OTHER)
        return Step(
            kind=kind,
            name=text_at(own, "name") or span.name,
            given=first_at(attributes, *INPUT),
            answered=first_at(attributes, *OUTPUT),
            definitions=request_definitions(attributes.get(METADATA)) if kind is Kind.LLM else None,
            is_function=kind is Kind.CHAIN,
        )
