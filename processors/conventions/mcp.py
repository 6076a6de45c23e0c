"""Spans of the Model Context Protocol: the client's side of a call, and the server's.

The GenAI conventions call both the execution of a tool.  Where a server's span continues its client's trace, they are
one execution.  Where it begins a trace of its own, the agent that called is in another one, and there is no run here.
"""

from __future__ import annotations

from dataclasses import replace

from processors.conventions.facts import Kind, SpanFacts
from processors.conventions.messages import Messages
from processors.otlp import Span, SpanKind

METHOD = "mcp.method.name"


class MCP:
    """What the protocol's servers write."""

    name = "mcp"

    def __init__(self, messages: Messages) -> None:
        pass

    def knows(self, span: Span, facts: SpanFacts) -> bool:
        """Whether the span is a server's that begins a trace."""
        return METHOD in span.attributes and span.kind is SpanKind.SERVER and span.parent_id is None

    def refined(self, span: Span, facts: SpanFacts) -> SpanFacts:
        """The facts as those of work that no agent of this trace asked for."""
        return replace(facts, kind=Kind.OTHER, tool=None)
