"""What a span says of how its work ended: that it failed and with which words, was cancelled, or waits for an approval.

In goes a span, out come plain answers.  Frameworks record exceptions by which they only steer as if they were failures.
"""

from __future__ import annotations

import re

from processors.conventions.decoding.values import data, text_at
from processors.otlp import Span, StatusCode

EXCEPTION = "exception"
EXCEPTION_TYPE = "exception.type"
EXCEPTION_MESSAGE = "exception.message"
ERROR_TYPE = "error.type"
ERROR_MESSAGE = "error.message"
_TRACEBACK = "Traceback (most recent call last)"
_EXCEPTION_REPR = re.compile(r"(\w+)\((['\"].*['\"]),?\)", re.DOTALL)
_CONTROL_FLOW = ("Interrupt", "NodeInterrupt", "GraphInterrupt", "GraphBubbleUp", "ApprovalRequired", "CallDeferred")
_CANCELLED = ("CancelledError", "GeneratorExit", "KeyboardInterrupt", "AbortError")


def error_of(span: Span) -> str | None:
    """The error's text when the span failed, "" when it failed without one; None when it didn't fail, or is pending."""
    if span.status is not StatusCode.ERROR or is_pending(span):
        return None
    if span.status_message:
        return _plain(span.status_message)
    exception = next((event for event in span.events if event.name == EXCEPTION), None)
    told = exception.attributes.get(EXCEPTION_MESSAGE) if exception is not None else None
    return next((_plain(text) for text in (told, span.attributes.get(ERROR_MESSAGE)) if isinstance(text, str)), "")


def is_pending(span: Span) -> bool:
    """Whether the span was left because somebody has to approve first, which frameworks record as an exception."""
    return _exception_is(span, _CONTROL_FLOW)


def is_cancelled(span: Span) -> bool:
    """Whether the span was left because its work was cancelled."""
    return _exception_is(span, _CANCELLED)


def _plain(text: str) -> str:
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


def _exception_is(span: Span, names: tuple[str, ...]) -> bool:
    types = [event.attributes.get(EXCEPTION_TYPE) for event in span.events if event.name == EXCEPTION]
    types.append(span.attributes.get(ERROR_TYPE))
    return any(isinstance(name, str) and name.rpartition(".")[2] in names for name in types)
