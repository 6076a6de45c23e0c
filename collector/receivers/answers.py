"""What receivers answer: OTLP responses and google.rpc.Status, and which refusal belongs to which error.

Both transports take their codes and texts from here, so that a sender is told the same whichever it uses.
"""

from __future__ import annotations

import logging
import traceback
from dataclasses import dataclass
from enum import IntEnum

import orjson
from google.protobuf.duration_pb2 import Duration
from google.rpc.error_details_pb2 import BadRequest, RetryInfo
from google.rpc.status_pb2 import Status
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse

from collector.intake import Accepted, MalformedRequestError, OverloadedError, UndeclaredSignalError
from collector.receivers.decompress import BodyTooLargeError, UnknownEncodingError
from collector.records import Signal

_LOG = logging.getLogger(__name__)
_MAX_MESSAGE_CHARS = 4096
_RETRY_UNEXPECTED_S = 5.0
_REJECTED_NAMES = {
    Signal.TRACES: "rejectedSpans",
    Signal.LOGS: "rejectedLogRecords",
    Signal.METRICS: "rejectedDataPoints",
}


class Code(IntEnum):
    """The codes of google.rpc.Code that receivers use."""

    INVALID_ARGUMENT = 3
    NOT_FOUND = 5
    RESOURCE_EXHAUSTED = 8
    UNIMPLEMENTED = 12
    UNAVAILABLE = 14
    UNAUTHENTICATED = 16


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a request wasn't taken. With `retry_after_s` it may be sent again after that time."""

    code: Code
    http_status: int
    message: str
    retry_after_s: float | None = None


UNAUTHENTICATED = Refusal(
    Code.UNAUTHENTICATED, 401, "a valid bearer token is needed: send the header 'Authorization: Bearer <token>'"
)


def refusal_for(error: Exception) -> Refusal:
    """The refusal that an error means.

    An error that nobody foresaw is logged and answered as retryable: senders drop what is answered with a final code,
    and it may have been a passing condition.
    """
    message = _shortened(str(error))
    if isinstance(error, MalformedRequestError):
        return Refusal(Code.INVALID_ARGUMENT, 400, message)
    if isinstance(error, OverloadedError):
        return Refusal(Code.UNAVAILABLE, 503, message, error.retry_after_s)
    if isinstance(error, UndeclaredSignalError):
        return Refusal(Code.UNIMPLEMENTED, 404, message)
    if isinstance(error, BodyTooLargeError):
        return Refusal(Code.RESOURCE_EXHAUSTED, 413, message)
    if isinstance(error, UnknownEncodingError):
        return Refusal(Code.UNIMPLEMENTED, 415, message)
    # Not the message: it may quote what was received.
    place = traceback.extract_tb(error.__traceback__)[-1:]
    where = f"{place[0].filename}:{place[0].lineno}" if place else "unknown place"
    _LOG.error("a request failed unexpectedly: %s at %s; its sender is asked to try again", type(error).__name__, where)
    return Refusal(Code.UNAVAILABLE, 503, "the request could not be handled; try again later", _RETRY_UNEXPECTED_S)


def success_protobuf(accepted: Accepted) -> bytes:
    """A serialised Export*ServiceResponse; all three signals have the same fields."""
    if not accepted.rejected and not accepted.message:
        return b""
    response = ExportTraceServiceResponse()
    response.partial_success.rejected_spans = accepted.rejected
    response.partial_success.error_message = _shortened(accepted.message)
    return response.SerializeToString()


def success_json(signal: Signal, accepted: Accepted) -> bytes:
    """An Export*ServiceResponse in JSON."""
    if not accepted.rejected and not accepted.message:
        return b"{}"
    partial = {_REJECTED_NAMES[signal]: str(accepted.rejected), "errorMessage": _shortened(accepted.message)}
    return orjson.dumps({"partialSuccess": partial})


def status_protobuf(refusal: Refusal) -> bytes:
    """A serialised google.rpc.Status, with RetryInfo if the request may be sent again."""
    status = Status(code=refusal.code, message=refusal.message)
    if refusal.retry_after_s is not None:
        delay = Duration()
        delay.FromMilliseconds(round(refusal.retry_after_s * 1000))
        status.details.add().Pack(RetryInfo(retry_delay=delay))
    elif refusal.code is Code.INVALID_ARGUMENT:
        violation = BadRequest.FieldViolation(field="request", description=refusal.message)
        status.details.add().Pack(BadRequest(field_violations=[violation]))
    serialised: bytes = status.SerializeToString()
    return serialised


def status_json(refusal: Refusal) -> bytes:
    """A google.rpc.Status in JSON."""
    return orjson.dumps({"code": int(refusal.code), "message": refusal.message})


def _shortened(message: str) -> str:
    return message if len(message) <= _MAX_MESSAGE_CHARS else f"{message[:_MAX_MESSAGE_CHARS]}…"
