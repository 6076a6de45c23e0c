"""OpenLIT: what it writes beside, and in place of, the GenAI conventions.

Its spans of model calls are in those conventions and are read there, but for the calls that a model asked for: these
stand on the span once more, as `gen_ai.tool.name`, `gen_ai.tool.call.id` and `gen_ai.tool.args`, several joined by
commas, even where the capture of messages is switched off.

The spans of its decorator look as if they were in the conventions, but hold no messages: `function.args` and
`function.kwargs` are reprs of Python data, the result is plain text.  Nothing on them says whether a function is a tool
or an agent, so both accounts are given, and the rest of the trace tells (see `processors.reading.functions`).  A
function that failed leaves a span with nothing on it but the exception; all that tells that it is one is the scope,
which is that of the decorator alone.
"""

from __future__ import annotations

from collections.abc import Mapping

from evaluators.cases import JsonValue, Role
from processors.conventions.decoding.calls import arguments_of
from processors.conventions.decoding.values import as_text, data, first_at, json_in_a_row, text_at
from processors.conventions.facts import CallFacts, Kind, MessageFacts, SpanFacts
from processors.conventions.reader import Reader
from processors.conventions.steps import Step, StepReader
from processors.otlp import Span, StatusCode

ARGUMENTS = "function.args"
KEYWORDS = "function.kwargs"
RESULT = ("gen_ai.output.messages", "gen_ai.completion")
SCOPE = "openlit"
CALL_NAMES = "gen_ai.tool.name"
CALL_IDS = "gen_ai.tool.call.id"
CALL_ARGUMENTS = "gen_ai.tool.args"
SEPARATOR = ", "


class OpenLIT(StepReader):
    """The reader of decorated functions."""

    name = "openlit"
    marks: tuple[bytes, ...] = (b"function.args", b"function.kwargs")
    scopes: tuple[bytes, ...] = (b"\x0a\x07openlit",)

    def reads(self, span: Span) -> bool:
        """Whether the span is a decorated function's."""
        attributes = span.attributes
        if ARGUMENTS in attributes or KEYWORDS in attributes:
            return True
        return span.scope_name == SCOPE and span.status is StatusCode.ERROR and not attributes

    def step(self, span: Span) -> Step:
        """The step that the span is of."""
        attributes = span.attributes
        return Step(
            kind=Kind.CHAIN,
            name=span.name,
            given=_called_with(attributes.get(ARGUMENTS), attributes.get(KEYWORDS)),
            answered=first_at(attributes, *RESULT),
            is_function=True,
        )


class OpenLITCalls(Reader):
    """The reader of the calls that are listed on a model call's span."""

    name = "openlit"
    marks: tuple[bytes, ...] = (b"gen_ai.tool.args",)

    def reads(self, span: Span) -> bool:
        """Whether calls are listed on the span."""
        return CALL_ARGUMENTS in span.attributes

    def read(self, span: Span) -> SpanFacts:
        """The listed calls, as an answer whose words aren't known."""
        calls = _listed_calls(span.attributes)
        answer = MessageFacts(role=Role.ASSISTANT, text=None, calls=calls)
        return SpanFacts(kind=Kind.LLM, dialect=self.name, output=(answer,) if calls else None)


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


def _listed_calls(attributes: Mapping[str, JsonValue]) -> tuple[CallFacts, ...]:
    """The calls, if names, ids and arguments can be told apart: a comma may as well be part of arguments."""
    names = (text_at(attributes, CALL_NAMES) or "").split(SEPARATOR)
    ids = (text_at(attributes, CALL_IDS) or "").split(SEPARATOR)
    listed = attributes.get(CALL_ARGUMENTS)
    arguments = [arguments_of(listed)] if len(names) == 1 else json_in_a_row(as_text(listed) or "")
    if not all(names) or not len(names) == len(ids) == len(arguments):
        return ()
    return tuple(
        CallFacts(name=name, id=call_id or None, arguments=given)
        for name, call_id, given in zip(names, ids, arguments, strict=True)
    )
