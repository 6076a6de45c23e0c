"""Logfire's own spans of functions and, in its older form, of model calls.

A function that was instrumented leaves its arguments as attributes under their own names, listed in
`logfire.json_schema`, and its result as `return`.  Older versions write a model call's request and response bodies as
`request_data` and `response_data`; newer ones write the GenAI conventions, which are read there.
"""

from __future__ import annotations

from collections.abc import Mapping

from evaluators.cases import JsonValue
from processors.conventions.decoding.messages import Messages
from processors.conventions.decoding.sessions import session_of
from processors.conventions.decoding.steps import Step, step_facts
from processors.conventions.decoding.values import as_object, as_text, parsed, text_at
from processors.conventions.facts import Kind, SpanFacts
from processors.otlp import Span

SCHEMA = "logfire.json_schema"
RETURN = "return"
FUNCTION = "code.function"
REQUEST = "request_data"
RESPONSE = "response_data"
MODEL = ("gen_ai.response.model", "gen_ai.request.model")
STREAMED_TEXT = "combined_chunk_content"


class Logfire:
    """The reader of Logfire's own attributes."""

    name = "logfire"
    marks: tuple[bytes, ...] = (b'"return":', b"response_data")

    def __init__(self, messages: Messages, limit: int | None = None) -> None:
        self._messages = messages
        self._limit = limit

    def reads(self, span: Span) -> bool:
        """Whether the span is of a function with its result, or of a model call with its bodies."""
        attributes = span.attributes
        return SCHEMA in attributes and (RETURN in attributes or RESPONSE in attributes)

    def read(self, span: Span) -> SpanFacts:
        """What the span says."""
        attributes = span.attributes
        step = self._model_call(attributes) if RESPONSE in attributes else self._function(span)
        return step_facts(self.name, span, step, self._messages, self._limit)

    def _model_call(self, attributes: Mapping[str, JsonValue]) -> Step:
        answered = parsed(attributes.get(RESPONSE))
        if isinstance(answered, dict) and STREAMED_TEXT in answered and "message" not in answered:
            answered = answered[STREAMED_TEXT]
        return Step(
            kind=Kind.LLM,
            given=attributes.get(REQUEST),
            answered=answered,
            model=text_at(attributes, *MODEL),
            session_id=session_of(attributes),
        )

    def _function(self, span: Span) -> Step:
        attributes = span.attributes
        listed = as_object(as_object(attributes.get(SCHEMA)).get("properties"))
        given: dict[str, JsonValue] = {name: attributes.get(name) for name in listed if name != RETURN}
        return Step(
            kind=Kind.CHAIN,
            name=(text_at(attributes, FUNCTION) or span.name).rpartition(".")[2],
            given=given,
            answered=as_text(attributes.get(RETURN)),
            is_function=True,
            session_id=session_of(attributes),
        )
