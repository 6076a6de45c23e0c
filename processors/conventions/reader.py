"""What a reader of a dialect is, and what all of them share."""

from __future__ import annotations

import re
from typing import Protocol

from evaluators.cases import JsonValue
from processors.conventions.decoding.values import REDACTED, cut_json, data, from_json, text_at
from processors.conventions.facts import SpanFacts
from processors.conventions.limits import has_length
from processors.otlp import Event, Span, StatusCode

EXCEPTION = "exception"
EXCEPTION_TYPE = "exception.type"
EXCEPTION_MESSAGE = "exception.message"
ERROR_TYPE = "error.type"
ERROR_MESSAGE = "error.message"
_TRACEBACK = "Traceback (most recent call last)"
_EXCEPTION_REPR = re.compile(r"(\w+)\((['\"].*['\"]),?\)", re.DOTALL)
_CONTROL_FLOW = ("Interrupt", "NodeInterrupt", "GraphInterrupt", "GraphBubbleUp", "ApprovalRequired", "CallDeferred")
_CANCELLED = ("CancelledError", "GeneratorExit", "KeyboardInterrupt", "AbortError")


class Reader(Protocol):
    """Reads the spans of one dialect. Made anew for each trace, so that it may remember what it has decoded.

    `marks` are byte strings one of which is in every serialised span that it reads: at the beginning of a key or of the
    span's name, or anywhere if it begins with a quotation mark.
    """

    name: str
    marks: tuple[bytes, ...]

    def reads(self, span: Span) -> bool:
        """Whether the span carries this dialect, by what is on it."""

    def read(self, span: Span) -> SpanFacts:
        """What the span says. Only asked of spans that it reads; never raises for their content."""


def shown(value: JsonValue) -> JsonValue:
    """A value unless it was hidden by the instrumentation, then None."""
    return None if value == REDACTED else value


def exception_of(span: Span) -> Event | None:
    """The exception recorded on a span, the first of several."""
    return next((event for event in span.events if event.name == EXCEPTION), None)


def error_of(span: Span) -> str | None:
    """The error's text when the span failed, "" when it failed without one; None when it didn't fail."""
    if span.status is not StatusCode.ERROR:
        return None
    if span.status_message:
        return plain_error(span.status_message)
    found = exception_of(span)
    sources = [found.attributes.get(EXCEPTION_MESSAGE)] if found is not None else []
    sources += [span.attributes.get(ERROR_MESSAGE)]
    return next((plain_error(text) for text in sources if isinstance(text, str)), "")


def plain_error(text: str) -> str:
    """What an error says: without the stack trace that some write behind it, the repr of an exception or of a report in
    its words."""
    told = text.partition(_TRACEBACK)[0].strip() or text
    if told.startswith("{"):
        report = data(told)
        details = report.get("data") if isinstance(report, dict) else None
        return (text_at(details, "error") if isinstance(details, dict) else None) or told
    repeated = _EXCEPTION_REPR.fullmatch(told)
    words = data(repeated[2]) if repeated is not None else None
    if repeated is None or not isinstance(words, str) or words == repeated[2]:
        return told
    return f"{repeated[1]}: {words}"


def is_pending(span: Span) -> bool:
    """Whether the span was left because somebody has to approve first, which frameworks record as an exception."""
    return _exception_is(span, _CONTROL_FLOW)


def is_cancelled(span: Span) -> bool:
    """Whether the span was left because its work was cancelled."""
    return _exception_is(span, _CANCELLED)


def _exception_is(span: Span, names: tuple[str, ...]) -> bool:
    types = [event.attributes.get(EXCEPTION_TYPE) for event in span.events if event.name == EXCEPTION]
    types.append(span.attributes.get(ERROR_TYPE))
    return any(isinstance(name, str) and name.rpartition(".")[2] in names for name in types)


def is_cut(value: JsonValue, limit: int | None) -> bool:
    """Whether a text was cut by a length limit: it is as long as the limit, or ends inside its JSON."""
    if not isinstance(value, str):
        return False
    if has_length(value, limit):
        return True
    looks_cut = value[:2] in ("[{", '{"') and value[-1] not in "]}"
    return looks_cut and from_json(value) is None and cut_json(value) is not None
