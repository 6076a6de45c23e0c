"""Frameworks that write content in shapes of their own, within whatever convention their spans follow.

A reader says what a span says in the words of a convention.  Where a framework keeps its content in those words' values
in a shape that the convention knows nothing of (reprs of its objects, its own JSON, a language of its own in the
model's text), its module completes or corrects the facts.  Which one does is decided by what is on the span.

A new framework is one module with a class that is a `Framework`, and one line in `FRAMEWORKS`.
"""

from __future__ import annotations

from processors.conventions.decoding.messages import Messages
from processors.conventions.facts import SpanFacts
from processors.conventions.frameworks.adk_context import AdkContext
from processors.conventions.frameworks.crewai import CrewAI
from processors.conventions.frameworks.dspy import DSPy
from processors.conventions.frameworks.framework import Framework
from processors.conventions.frameworks.haystack import Haystack
from processors.conventions.frameworks.llamaindex import LlamaIndex
from processors.conventions.frameworks.react_text import ReActText
from processors.conventions.frameworks.smolagents import Smolagents
from processors.otlp import Span

FRAMEWORKS: tuple[type[Framework], ...] = (AdkContext, CrewAI, DSPy, Haystack, LlamaIndex, Smolagents, ReActText)


class Frameworks:
    """All frameworks, for the spans of one trace."""

    def __init__(self, messages: Messages) -> None:
        self._frameworks = [make(messages) for make in FRAMEWORKS]

    def refined(self, span: Span, facts: SpanFacts) -> SpanFacts:
        """What a span says, framework's shapes included."""
        for framework in self._frameworks:
            if framework.knows(span, facts):
                facts = framework.refined(span, facts)
        return facts
