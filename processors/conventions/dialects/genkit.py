"""Genkit (JavaScript and Go): `genkit:type`, `genkit:metadata:subtype`, `genkit:name`, `genkit:input`, `genkit:output`.

Flows, model calls and tools are actions of a subtype.  Requests and responses are whole, in Genkit's own form.  The
step `generate` calls itself for each further model call, so steps hold all steps that come after them.  Where the
framework refuses a call (arguments against the schema, an unknown tool) there is no span of the tool: the run fails.
"""

from __future__ import annotations

from processors.conventions.decoding.values import text_at
from processors.conventions.facts import Kind
from processors.conventions.steps import Step, StepReader
from processors.otlp import Span

TYPE = "genkit:type"
SUBTYPE = "genkit:metadata:subtype"
NAME = "genkit:name"
INPUT = "genkit:input"
OUTPUT = "genkit:output"

_KINDS = {
    "model": Kind.LLM,
    "background-model": Kind.LLM,
    "tool": Kind.TOOL,
    "tool.v2": Kind.TOOL,
    "agent": Kind.AGENT,
    "flow": Kind.WORKFLOW,
    "evaluator": Kind.EVALUATION,
}


class Genkit(StepReader):
    """The reader of Genkit's own attributes."""

    name = "genkit"
    marks: tuple[bytes, ...] = (b"genkit:",)
    keys = (TYPE, SUBTYPE)

    def step(self, span: Span) -> Step:
        """The step that the span is of."""
        attributes = span.attributes
        kind = _KINDS.get(text_at(attributes, SUBTYPE, TYPE) or "", Kind.CHAIN)
        name = text_at(attributes, NAME) or span.name
        return Step(
            kind=kind,
            name=name,
            given=attributes.get(INPUT),
            answered=attributes.get(OUTPUT),
            model=name.rpartition("/")[2] if kind is Kind.LLM else None,
        )
