"""AgentOps: `agentops.span.kind`, `agentops.<kind>.input`, `agentops.<kind>.output`, `operation.name`.

Model calls are in the first form of the GenAI conventions and are read there; the calls that a model asked for are left
out of its answers, and stand in the next history.
"""

from __future__ import annotations

from processors.conventions.decoding.messages import Messages
from processors.conventions.decoding.sessions import session_of
from processors.conventions.decoding.steps import Step, step_facts
from processors.conventions.decoding.values import first_at, text_at
from processors.conventions.facts import Kind, SpanFacts
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


class AgentOps:
    """The reader of AgentOps' own attributes."""

    name = "agentops"
    marks: tuple[bytes, ...] = (b"agentops.span.kind",)

    def __init__(self, messages: Messages, limit: int | None = None) -> None:
        self._messages = messages
        self._limit = limit

    def reads(self, span: Span) -> bool:
        """Whether the span has a kind."""
        return SPAN_KIND in span.attributes

    def read(self, span: Span) -> SpanFacts:
        """What the span says."""
        attributes = span.attributes
        kind = _KINDS.get((text_at(attributes, SPAN_KIND) or "").lower(), Kind.OTHER)
        step = Step(
            kind=kind,
            name=text_at(attributes, NAME) or span.name.rpartition(".")[0] or span.name,
            given=first_at(attributes, *INPUTS),
            answered=first_at(attributes, *OUTPUTS),
            is_function=kind is Kind.CHAIN,
            session_id=session_of(attributes),
        )
        return step_facts(self.name, span, step, self._messages, self._limit)
