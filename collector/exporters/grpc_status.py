"""A gRPC status → what to do next.

Retryable is what OTLP calls so (https://opentelemetry.io/docs/specs/otlp/#failures). Of the rest OTLP has clients drop
the data; here only data that the destination calls bad leaves for the dead-letter file, and everything else is kept.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

import grpc
from google.protobuf.message import DecodeError
from google.rpc.error_details_pb2 import RetryInfo
from google.rpc.status_pb2 import Status

from collector.exporters.answers import clean
from collector.exporters.sender import (
    FaultyError,
    MisconfiguredError,
    RejectedDataError,
    RetryableError,
    SendError,
    TooLargeError,
    UnsupportedSignalError,
)
from collector.records import Signal

CERTIFICATE_WORDS = "CERTIFICATE_VERIFY_FAILED"
"""In the details of UNAVAILABLE when the server's certificate isn't trusted."""
# How servers say that a request is too big, and that they couldn't read one: the codes alone don't tell.
_SIZE_WORDS = re.compile(r"larger than max|message size|too large|max.{0,20}size|exceeds.{0,40}(?:limit|size)", re.I)
_UNREADABLE_WORDS = re.compile(
    r"error unmarshall?ing request|failed to unmarshal the received message|deserializing request|"
    r"invalid protobuf byte sequence",
    re.I,
)
# 80 is the P of HTTP/1.1.
_NOT_GRPC_WORDS = re.compile(r"Expected SETTINGS frame as the first frame, got frame type 80")
# How gRPC libraries, and nobody who has read the request, say that nobody takes it, and that there is no connection or
# no answer. Any other words may quote what was sent.
_NOT_THERE_WORDS = re.compile(r"method not found|unknown (?:service|method)|unknown compression|.{0,30}compress", re.I)
_CONNECTION_WORDS = re.compile(
    r"failed to connect|connection|socket closed|broken pipe|recvmsg|sendmsg|dns|name resolution|no route|"
    r"deadline exceeded|cancelled|stream removed|transport is closing|endpoint closing|goaway|keepalive|ping timeout",
    re.I,
)
_COMPRESSION_WORDS = re.compile(r"compress|encoding", re.I)

_RETRYABLE = frozenset(
    {
        grpc.StatusCode.CANCELLED,
        grpc.StatusCode.DEADLINE_EXCEEDED,
        grpc.StatusCode.ABORTED,
        grpc.StatusCode.OUT_OF_RANGE,
        grpc.StatusCode.UNAVAILABLE,
        grpc.StatusCode.DATA_LOSS,
        # With RetryInfo by OTLP; without it is a quota, which doesn't last either. Sizes are told apart before.
        grpc.StatusCode.RESOURCE_EXHAUSTED,
    }
)
_MISCONFIGURED = frozenset(
    {
        grpc.StatusCode.UNAUTHENTICATED,
        grpc.StatusCode.PERMISSION_DENIED,
        grpc.StatusCode.NOT_FOUND,
        grpc.StatusCode.FAILED_PRECONDITION,
    }
)
_STATUS_DETAILS = "grpc-status-details-bin"


def failure(
    where: str, signal: Signal, code: grpc.StatusCode, details: str, retry_after_s: float | None = None
) -> SendError:
    """What a status that isn't OK means.

    Args:
        where: the destination, for the message.
        signal: of the request.
        code, details: the status.
        retry_after_s: the delay of a RetryInfo; None when there is none.
    """
    said = f"{where} answered {code.name}"
    if code is grpc.StatusCode.INVALID_ARGUMENT:
        return RejectedDataError(said, clean(details))
    if code is grpc.StatusCode.INTERNAL and _UNREADABLE_WORDS.search(details):
        # What gRPC libraries answer, before any service sees it, to strings that are no UTF-8.
        return RejectedDataError(f"{said}: it can't read the request", clean(details))
    if code is grpc.StatusCode.RESOURCE_EXHAUSTED and retry_after_s is None and _SIZE_WORDS.search(details):
        return TooLargeError(f"{said}: the request is too large", clean(details))
    if code is grpc.StatusCode.UNIMPLEMENTED:
        # Traces are what the sidecar is for: a wrong address must not switch them off.
        if signal is Signal.TRACES or _COMPRESSION_WORDS.search(details):
            told = f": {clean(details)}" if _NOT_THERE_WORDS.match(details) else ""
            return MisconfiguredError(f"{said}{told}", clean(details))
        return UnsupportedSignalError(f"{said} for {signal}")
    if code is grpc.StatusCode.UNAVAILABLE and CERTIFICATE_WORDS in details:
        return MisconfiguredError(
            f"the certificate of {where} isn't trusted ({CERTIFICATE_WORDS}); put the one to trust under tls::ca_file"
        )
    if code is grpc.StatusCode.UNAVAILABLE and _NOT_GRPC_WORDS.search(details):
        return MisconfiguredError(f"{where} doesn't speak HTTP/2; if it is the port for OTLP/HTTP, use otlp_http")
    if code in _MISCONFIGURED:
        return MisconfiguredError(said, clean(details))
    if code in _RETRYABLE:
        told = f": {clean(details)}" if _CONNECTION_WORDS.match(details) else ""
        return RetryableError(f"{said}{told}", retry_after_s, clean(details))
    # The words of a service that failed may be an exception that quotes what it failed on.
    return FaultyError(said, retry_after_s, clean(details))


def retry_info_s(metadata: Iterable[tuple[str, str | bytes]]) -> float | None:
    """The delay of the RetryInfo in a status' details, in seconds; None without one that can be read."""
    for key, value in metadata:
        if key != _STATUS_DETAILS or not isinstance(value, bytes):
            continue
        try:
            for detail in Status.FromString(value).details:
                info = RetryInfo()
                if detail.Unpack(info):
                    return max(float(info.retry_delay.seconds) + float(info.retry_delay.nanos) / 1e9, 0.0)
        except DecodeError:
            return None
    return None
