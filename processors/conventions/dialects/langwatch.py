"""LangWatch: `langwatch.span.type`, `langwatch.input`, `langwatch.output`, `langwatch.params`.

Input and output say what they hold: `{"type": "chat_messages" | "text" | "json", "value": ...}`.  The tools that a
model was offered stand among the parameters of the call.  A function observed without a type is a span, whatever it is.
"""

from __future__ import annotations

from evaluators.cases import JsonValue
from processors.conventions.decoding.bodies import request_definitions
from processors.conventions.decoding.values import as_object, text_at
from processors.conventions.facts import Kind
from processors.conventions.steps import Step, StepReader
from processors.otlp import Span

SPAN_TYPE = "langwatch.span.type"
INPUT = "langwatch.input"
OUTPUT = "langwatch.output"
PARAMETERS = "langwatch.params"
MODEL = "gen_ai.request.model"
FUNCTION = "span"

_KINDS = {
    "llm": Kind.LLM,
    "tool": Kind.TOOL,
    "agent": Kind.AGENT,
    "workflow": Kind.WORKFLOW,
    "chain": Kind.CHAIN,
    "task": Kind.CHAIN,
    "module": Kind.CHAIN,
    "component": Kind.CHAIN,
    "evaluation": Kind.EVALUATION,
    FUNCTION: Kind.CHAIN,
}


class LangWatch(StepReader):
    """The reader of LangWatch's own attributes."""

    name = "langwatch"
    marks: tuple[bytes, ...] = (b"langwatch.",)
    keys = (SPAN_TYPE, INPUT, OUTPUT)

    def step(self, span: Span) -> Step:
        """The step that the span is of."""
        attributes = span.attributes
        type_name = (text_at(attributes, SPAN_TYPE) or FUNCTION).lower()
        kind = _KINDS.get(type_name, Kind.OTHER)
        return Step(
            kind=kind,
            name=span.name,
            given=_value(attributes.get(INPUT)),
            answered=_value(attributes.get(OUTPUT)),
            definitions=request_definitions(attributes.get(PARAMETERS)) if kind is Kind.LLM else None,
            model=text_at(attributes, MODEL),
            is_function=type_name == FUNCTION,
        )


def _value(typed: JsonValue) -> JsonValue:
    decoded = as_object(typed)
    return decoded["value"] if "type" in decoded and "value" in decoded else typed
