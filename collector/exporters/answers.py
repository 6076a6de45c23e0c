"""Reading what backends answer, the same for both transports."""

from __future__ import annotations

import json
from importlib.metadata import version

from google.protobuf.message import DecodeError
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse

from collector.exporters.sender import Taken

USER_AGENT = f"spanjudge/{version('spanjudge')}"
MAX_ANSWER_BYTES = 4 << 20
"""Larger answers aren't read, as OTLP recommends."""
_MAX_TEXT_CHARS = 200
_REJECTED_KEYS = ("rejectedSpans", "rejectedLogRecords", "rejectedDataPoints")


def taken(answer: bytes) -> Taken:
    """What an Export*ServiceResponse says came of a request that was taken.

    The responses of all signals have the same field numbers.  An answer that is no response rejects nothing: the
    status has already said that the request was taken.  A negative number is none.
    """
    try:
        said = ExportTraceServiceResponse.FromString(answer).partial_success
    except DecodeError:
        return Taken()
    rejected = max(said.rejected_spans, 0)
    return Taken(rejected, warned=not rejected and bool(said.error_message))


def taken_by_json(answer: bytes) -> Taken:
    """The same for backends that answer in JSON whatever they were asked in. 64-bit numbers may be strings in it."""
    try:
        said = json.loads(answer)["partialSuccess"]
        number = int(next((said[key] for key in _REJECTED_KEYS if key in said), 0))
        warned = bool(said.get("errorMessage"))
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError, OverflowError):
        return Taken()
    rejected = max(number, 0)
    return Taken(rejected, warned=not rejected and warned)


def clean(text: str) -> str:
    """A backend's words for a log line: printable, on one line, short."""
    shown = "".join(character if character.isprintable() else " " for character in text[: 4 * _MAX_TEXT_CHARS])
    words = " ".join(shown.split())
    return words if len(words) <= _MAX_TEXT_CHARS else words[: _MAX_TEXT_CHARS - 1] + "…"
