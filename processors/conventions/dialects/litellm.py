"""LiteLLM's `raw_gen_ai_request` spans: a provider's request and response field by field, `llm.<provider>.*`.

They stand below the span of the call itself, or below whatever span of the application was current.  In the latter case
LiteLLM writes the call's attributes on to that span, every call over the one before, so that these are all there is.
Values are reprs of Python data.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from evaluators.cases import JsonValue
from processors.conventions.decoding.bodies import request_messages, response_messages
from processors.conventions.decoding.cut import is_cut
from processors.conventions.decoding.definitions import tools_of
from processors.conventions.decoding.values import data, text_at
from processors.conventions.facts import Kind, SpanFacts
from processors.conventions.failures import error_of, is_cancelled
from processors.conventions.reader import Reader
from processors.otlp import Span

NAME = "raw_gen_ai_request"
_ANSWERS = ("choices", "output", "content", "candidates")
_FIELD = re.compile(
    r"llm\.[a-z0-9_]+\.(messages|input|contents|system|tools|choices|output|content|candidates|id|model)"
)


class LiteLLM(Reader):
    """The reader of LiteLLM's raw requests."""

    name = "litellm"
    marks: tuple[bytes, ...] = (b"raw_gen_ai_request",)

    def reads(self, span: Span) -> bool:
        """Whether the span is a raw request's."""
        return span.name == NAME

    def read(self, span: Span) -> SpanFacts:
        """What the span says."""
        raw = _fields(span.attributes)
        fields = {name: data(value) for name, value in raw.items()}
        answer: JsonValue = {name: fields[name] for name in _ANSWERS if name in fields}
        return SpanFacts(
            kind=Kind.LLM,
            dialect=self.name,
            input=request_messages(fields, self._messages),
            output=response_messages(answer, self._messages) if answer else None,
            tools=tools_of(fields["tools"]) if "tools" in fields else None,
            response_id=text_at(raw, "id"),
            model=text_at(raw, "model"),
            error=error_of(span),
            truncated=any(is_cut(value, self._limit) for value in raw.values()),
            partial=is_cancelled(span),
        )


def _fields(attributes: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    found: dict[str, JsonValue] = {}
    for key, value in attributes.items():
        match = _FIELD.fullmatch(key)
        if match is not None:
            found.setdefault(match[1], value)
    return found
