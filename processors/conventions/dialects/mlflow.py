"""MLflow Tracing: `mlflow.spanType`, `mlflow.spanInputs`, `mlflow.spanOutputs`, each a JSON text.

Things seen in the wild that this reader knows: `mlflow.chat.tools` has lost parts of the schemas (patterns) that the
request in the inputs still has; of streamed answers the calls are left out; a function traced without a type is of type
UNKNOWN, whatever it is.
"""

from __future__ import annotations

from evaluators.cases import JsonValue
from processors.conventions.decoding.values import parsed
from processors.conventions.facts import Kind
from processors.conventions.steps import Step, StepReader
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


class MLflow(StepReader):
    """The reader of MLflow's own attributes."""

    name = "mlflow"
    marks: tuple[bytes, ...] = (b"mlflow.span",)
    keys = (SPAN_TYPE, INPUTS, OUTPUTS)

    def step(self, span: Span) -> Step:
        """The step that the span is of."""
        attributes = span.attributes
        named = _decoded_text(attributes.get(SPAN_TYPE)) or "UNKNOWN"
        kind = _KINDS.get(named.upper(), Kind.OTHER)
        return Step(
            kind=kind,
            name=span.name,
            given=attributes.get(INPUTS),
            answered=attributes.get(OUTPUTS),
            definitions=attributes.get(CHAT_TOOLS),
            is_function=kind is Kind.CHAIN and FUNCTION in attributes,
            model=_decoded_text(attributes.get(MODEL)),
            call_id=_decoded_text(attributes.get(CALL_ID)),
        )


def _decoded_text(value: JsonValue) -> str | None:
    decoded = parsed(value)
    return decoded if isinstance(decoded, str) and decoded else None
