"""What a framework's module is: it completes and corrects what readers said of a span."""

from __future__ import annotations

from abc import ABC, abstractmethod

from processors.conventions.decoding.messages import Messages
from processors.conventions.facts import SpanFacts
from processors.otlp import Span


class Framework(ABC):
    """Knows the shapes of one framework. Made anew for each trace, so that it may remember what it has decoded.

    Args:
        messages: reads messages, and remembers them for the trace.
    """

    def __init__(self, messages: Messages) -> None:
        self._messages = messages

    @abstractmethod
    def knows(self, span: Span, facts: SpanFacts) -> bool:
        """Whether the span carries a shape of this framework's."""

    @abstractmethod
    def refined(self, span: Span, facts: SpanFacts) -> SpanFacts:
        """The facts, completed and corrected. Only asked of spans that it knows; never raises for their content."""
