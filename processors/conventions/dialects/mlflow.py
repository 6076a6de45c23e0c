"""MLflow Tracing: `mlflow.spanType`, `mlflow.spanInputs`, `mlflow.spanOutputs`, each a JSON text.

Things seen in the wild that this reader knows: `mlflow.chat.tools` has lost parts of the schemas (patterns) that the
request in the inputs still has; of streamed answers the calls are left out; a function traced without a type is of type
UNKNOWN, whatever it is.
"""

from __future__ import annotations

from evaluators.cases import JsonValue
from processors.conventions.decoding.messages import Messages
from processors.conventions.decoding.sessions import session_of
from processors.conventions.decoding.steps import Step, step_facts
from processors.conventions.decoding.values import parsed
from processors.conventions.facts import Kind, SpanFacts
from processors.otlp import Span

SPAN_TYPE = "mlflow.spanType"
INPUTS = "mlflow.spanInputs"
OUTPUTS = "mlflow.spanOutputs"
CHAT_TOOLS = "mlflow.chat.tools"
MODEL = "mlflow.llm.model"
FUNCTION = "mlflow.spanFunctionName"
CALL_ID = "tool_call_id"

_KINDS = {
    "LLM": Kind.LLM,
    "CHAT_MODEL": Kind.LLM,
    "TOOL": Kind.TOOL,
    "AGENT": Kind.AGENT,
    "WORKFLOW": Kind.WORKFLOW,
    "CHAIN": Kind.CHAIN,
    "EVALUATOR": Kind.EVALUATION,
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
        named = _decoded_text(attributes.get(SPAN_TYPE)) or "UNKNOWN"
        kind = _KINDS.get(named.upper(), Kind.OTHER)
        step = Step(
            kind=kind,
            name=span.name,
            given=attributes.get(INPUTS),
            answered=attributes.get(OUTPUTS),
            definitions=attributes.get(CHAT_TOOLS),
            is_function=kind is Kind.CHAIN and FUNCTION in attributes,
            model=_decoded_text(attributes.get(MODEL)),
            call_id=_decoded_text(attributes.get(CALL_ID)),
            session_id=session_of(attributes),
        )
        return step_facts(self.name, span, step, self._messages, self._limit)


def _decoded_text(value: JsonValue) -> str | None:
    decoded = parsed(value)
    return decoded if isinstance(decoded, str) and decoded else None
