"""MLflow Tracing: `mlflow.spanType`, `mlflow.spanInputs`, `mlflow.spanOutputs`, each a JSON text."""

from __future__ import annotations

from processors.conventions.facts import Kind, SpanFacts
from processors.conventions.messages import Messages
from processors.conventions.sessions import session_of
from processors.conventions.steps import Step, step_facts
from processors.conventions.values import parsed
from processors.otlp import Span

SPAN_TYPE = "mlflow.spanType"
INPUTS = "mlflow.spanInputs"
OUTPUTS = "mlflow.spanOutputs"
CHAT_TOOLS = "mlflow.chat.tools"

_KINDS = {
    "LLM": Kind.LLM,
    "CHAT_MODEL": Kind.LLM,
    "TOOL": Kind.TOOL,
    "AGENT": Kind.AGENT,
    "WORKFLOW": Kind.WORKFLOW,
    "CHAIN": Kind.CHAIN,
    "UNKNOWN": Kind.CHAIN,
    "TASK": Kind.CHAIN,
}


class MLflow:
    """The reader of MLflow's own attributes."""

    name = "mlflow"
    marks: tuple[bytes, ...] = (b"mlflow.span",)

    def __init__(self, messages: Messages, limit: int | None = None) -> None:
        self._messages = messages
        self._limit = limit

    def reads(self, span: Span) -> bool:
        """Whether the span has a type, or inputs or outputs."""
        return any(key in span.attributes for key in (SPAN_TYPE, INPUTS, OUTPUTS))

    def read(self, span: Span) -> SpanFacts:
        """What the span says."""
        attributes = span.attributes
        named = parsed(attributes.get(SPAN_TYPE))
        kind = _KINDS.get(named.upper(), Kind.OTHER) if isinstance(named, str) else Kind.OTHER
        step = Step(
            kind=kind,
            name=span.name,
            given=attributes.get(INPUTS),
            answered=attributes.get(OUTPUTS),
            definitions=attributes.get(CHAT_TOOLS),
            session_id=session_of(attributes),
        )
        return step_facts(self.name, span, step, self._messages, self._limit)
