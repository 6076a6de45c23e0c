"""Logfire's own spans of functions and, in its older form, of model calls.

A function that was instrumented leaves its arguments as attributes under their own names, listed in
`logfire.json_schema`, and its result as `return`.  Older versions write a model call's request and response bodies as
`request_data` and `response_data`; newer ones write the GenAI conventions, which are read there.
"""

from __future__ import annotations

from collections.abc import Mapping

from evaluators.cases import JsonValue
from processors.conventions.decoding.values import as_object, as_text, parsed, text_at
from processors.conventions.facts import Kind
from processors.conventions.steps import Step, StepReader
from processors.otlp import Span

SCHEMA = "logfire.json_schema"
RETURN = "return"
FUNCTION = "code.function"
REQUEST = "request_data"
RESPONSE = "response_data"
MODEL = ("gen_ai.response.model", "gen_ai.request.model")
STREAMED_TEXT = "combined_chunk_content"


class Logfire(StepReader):
    """The reader of Logfire's own attributes."""

    name = "logfire"
    marks: tuple[bytes, ...] = (b'"return":', b"response_data")

    def reads(self, span: Span) -> bool:
        """Whether the span is of a function with its result, or of a model call with its bodies."""
        attributes = span.attributes
        return SCHEMA in attributes and (RETURN in attributes or RESPONSE in attributes)

    def step(self, span: Span) -> Step:
        """The step that the span is of."""
        attributes = span.attributes
        return _model_call(attributes) if RESPONSE in attributes else _function(span)


def _model_call(attributes: Mapping[str, JsonValue]) -> Step:
    answered = parsed(attributes.get(RESPONSE))
    if isinstance(answered, dict) and STREAMED_TEXT in answered and "message" not in answered:
        answered = answered[STREAMED_TEXT]
    return Step(
        kind=Kind.LLM,
        given=attributes.get(REQUEST),
        answered=answered,
        model=text_at(attributes, *MODEL),
    )


def _function(span: Span) -> Step:
    attributes = span.attributes
    listed = as_object(as_object(attributes.get(SCHEMA)).get("properties"))
    given: dict[str, JsonValue] = {name: attributes.get(name) for name in listed if name != RETURN}
    return Step(
        kind=Kind.CHAIN,
        name=(text_at(attributes, FUNCTION) or span.name).rpartition(".")[2],
        given=given,
        answered=as_text(attributes.get(RETURN)),
        is_function=True,
    )
