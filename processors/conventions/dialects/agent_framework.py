"""Workflows of Microsoft's Agent Framework: spans of its own round the agents that follow the GenAI conventions.

`workflow.run` is the run, `executor.process` a step of it.  They hold no content; without them each agent of a workflow
would be a run by itself.
"""

from __future__ import annotations

from processors.conventions.facts import Kind, SpanFacts
from processors.conventions.failures import error_of, is_cancelled
from processors.conventions.reader import Reader
from processors.otlp import Span

RUN, BUILD, STEP = "workflow.run", "workflow.build", "executor.process"
WORKFLOW_ID = "workflow.id"
EXECUTOR_ID = "executor.id"


class AgentFramework(Reader):
    """The reader of workflows."""

    name = "agent_framework"
    marks: tuple[bytes, ...] = (b"workflow.run", b"executor.process")

    def reads(self, span: Span) -> bool:
        """Whether the span is a workflow's or one of its steps', by name and key."""
        if span.name.startswith((RUN, BUILD)):
            return WORKFLOW_ID in span.attributes
        return span.name.startswith(STEP) and EXECUTOR_ID in span.attributes

    def read(self, span: Span) -> SpanFacts:
        """What the span says."""
        kind = Kind.BOOKKEEPING if span.name.startswith(BUILD) else Kind.CHAIN
        return SpanFacts(
            kind=Kind.WORKFLOW if span.name.startswith(RUN) else kind,
            dialect=self.name,
            error=error_of(span),
            partial=is_cancelled(span),
        )
