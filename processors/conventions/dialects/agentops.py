"""AgentOps: `agentops.span.kind`, `agentops.<kind>.input`, `agentops.<kind>.output`, `operation.name`.

Model calls are in the first form of the GenAI conventions and are read there; the calls that a model asked for are left
out of its answers, and stand in the next history.
"""

from __future__ import annotations

from processors.conventions.decoding.values import first_at, text_at
from processors.conventions.facts import Kind
from processors.conventions.steps import Step, StepReader
from processors.otlp import Span

SPAN_KIND = "agentops.span.kind"
NAME = "operation.name"
PLACES = ("entity", "tool", "agent", "task", "operation", "workflow", "session")
"""Where input and output may stand, `agentops.<place>.input`."""
INPUTS = tuple(f"agentops.{place}.input" for place in PLACES)
OUTPUTS = tuple(f"agentops.{place}.output" for place in PLACES)

_KINDS = {
    "session": Kind.WORKFLOW,
    "workflow": Kind.WORKFLOW,
    "agent": Kind.AGENT,
    "tool": Kind.TOOL,
    "llm": Kind.LLM,
    "task": Kind.CHAIN,
    "operation": Kind.CHAIN,
    "chain": Kind.CHAIN,
}


class AgentOps(StepReader):
    """The reader of AgentOps' own attributes."""

    name = "agentops"
    marks: tuple[bytes, ...] = (b"agentops.span.kind",)
    keys = (SPAN_KIND,)

    def step(self, span: Span) -> Step:
        """The step that the span is of."""
        attributes = span.attributes
        kind = _KINDS.get((text_at(attributes, SPAN_KIND) or "").lower(), Kind.OTHER)
        return Step(
            kind=kind,
            name=text_at(attributes, NAME) or span.name.rpartition(".")[0] or span.name,
            given=first_at(attributes, *INPUTS),
            answered=first_at(attributes, *OUTPUTS),
            is_function=kind is Kind.CHAIN,
        )
