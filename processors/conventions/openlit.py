"""OpenLIT's decorator: `function.args`, `function.kwargs`, and the result in `gen_ai.output.messages`.

Its spans of model calls are in the GenAI conventions and are read there.  Those of decorated functions look as if they
were, but hold no messages: the arguments are reprs of Python data, the result is plain text.  Nothing on them says
whether a function is a tool or an agent, so both accounts are given, and the rest of the trace tells (see
`processors.reading.functions`).

A function that failed leaves a span with nothing on it but the exception; all that tells that it is one is the scope,
which is that of the decorator alone.
"""

from __future__ import annotations

from evaluators.cases import JsonValue
from processors.conventions.facts import Kind, SpanFacts
from processors.conventions.messages import Messages
from processors.conventions.sessions import session_of
from processors.conventions.steps import Step, step_facts
from processors.conventions.values import data
from processors.otlp import Span, StatusCode

ARGUMENTS = "function.args"
KEYWORDS = "function.kwargs"
RESULT = "gen_ai.output.messages"
SCOPE = "openlit"


class OpenLIT:
    """The reader of decorated functions."""

    name = "openlit"
    marks: tuple[bytes, ...] = (b"function.args", b"function.kwargs")
    scopes: tuple[bytes, ...] = (b"\x0a\x07openlit",)

    def __init__(self, messages: Messages, limit: int | None = None) -> None:
        self._messages = messages
        self._limit = limit

    def reads(self, span: Span) -> bool:
        """Whether the span is a decorated function's."""
        attributes = span.attributes
        if ARGUMENTS in attributes or KEYWORDS in attributes:
            return True
        return span.scope_name == SCOPE and span.status is StatusCode.ERROR and not attributes

    def read(self, span: Span) -> SpanFacts:
        """What the span says."""
        attributes = span.attributes
        step = Step(
            kind=Kind.CHAIN,
            name=span.name,
            given=_called_with(attributes.get(ARGUMENTS), attributes.get(KEYWORDS)),
            answered=attributes.get(RESULT),
            is_function=True,
            session_id=session_of(attributes),
        )
        return step_facts(self.name, span, step, self._messages, self._limit)


def _called_with(arguments: JsonValue, keywords: JsonValue) -> JsonValue:
    if arguments is None and keywords is None:
        return None
    listed, named = data(arguments), data(keywords)
    if isinstance(listed, str) and listed not in ("", "()"):
        return None
    return {
        "args": listed if isinstance(listed, list) else [],
        "kwargs": named if isinstance(named, dict) else {},
    }
