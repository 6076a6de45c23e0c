"""LangWatch: `langwatch.span.type`, `langwatch.input`, `langwatch.output`, `langwatch.params`.

Input and output say what they hold: `{"type": "chat_messages" | "text" | "json", "value": ...}`.  The tools that a
model was offered stand among the parameters of the call.  A function observed without a type is a span, whatever it is.
"""

from __future__ import annotations

from evaluators.cases import JsonValue
from processors.conventions.decoding.bodies import request_definitions
from processors.conventions.decoding.messages import Messages
from processors.conventions.decoding.sessions import session_of
from processors.conventions.decoding.steps import Step, step_facts
from processors.conventions.decoding.values import as_object, text_at
from processors.conventions.facts import Kind, SpanFacts
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


class LangWatch:
    """The reader of LangWatch's own attributes."""

    name = "langwatch"
    marks: tuple[bytes, ...] = (b"langwatch.",)

    def __init__(self, messages: Messages, limit: int | None = None) -> None:
        self._messages = messages
        self._limit = limit

    def reads(self, span: Span) -> bool:
        """Whether the span has a type, an input or an output."""
        return any(key in span.attributes for key in (SPAN_TYPE, INPUT, OUTPUT))

    def read(self, span: Span) -> SpanFacts:
        """What the span says."""
        attributes = span.attributes
        type_name = (text_at(attributes, SPAN_TYPE) or FUNCTION).lower()
        kind = _KINDS.get(type_name, Kind.OTHER)
        step = Step(
            kind=kind,
            name=span.name,
            given=_value(attributes.get(INPUT)),
            answered=_value(attributes.get(OUTPUT)),
            definitions=request_definitions(attributes.get(PARAMETERS)) if kind is Kind.LLM else None,
            model=text_at(attributes, MODEL),
            is_function=type_name == FUNCTION,
            session_id=session_of(attributes),
        )
        return step_facts(self.name, span, step, self._messages, self._limit)


def _value(typed: JsonValue) -> JsonValue:
    decoded = as_object(typed)
    return decoded["value"] if "type" in decoded and "value" in decoded else typed
