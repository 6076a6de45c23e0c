"""Reading what backends answer, the same for both transports."""

from __future__ import annotations

from importlib.metadata import version

from google.protobuf.message import DecodeError
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse

USER_AGENT = f"spanjudge/{version('spanjudge')}"
_MAX_TEXT_CHARS = 200


def rejected_items(answer: bytes) -> int:
    """How many items an Export*ServiceResponse says were rejected.

    The responses of all signals have the same field numbers.  An answer that is no response rejects nothing: the
    status has already said that the request was taken.
    """
    try:
        return max(ExportTraceServiceResponse.FromString(answer).partial_success.rejected_spans, 0)
    except DecodeError:
        return 0


def clean(text: str) -> str:
    """A backend's words for a log line: printable, on one line, short."""
    shown = "".join(character if character.isprintable() else " " for character in text[: 4 * _MAX_TEXT_CHARS])
    words = " ".join(shown.split())
    return words if len(words) <= _MAX_TEXT_CHARS else words[: _MAX_TEXT_CHARS - 1] + "…"
