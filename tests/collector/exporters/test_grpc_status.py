"""Every gRPC status, with and without RetryInfo, from a real server: what the exporter takes it for."""

from __future__ import annotations

import pytest
from google.protobuf.any_pb2 import Any as AnyMessage
from google.rpc.error_details_pb2 import BadRequest, RetryInfo
from google.rpc.status_pb2 import Status
from grpc import StatusCode

from collector.exporters.grpc_status import failure, retry_info_s
from collector.exporters.otlp_grpc import OtlpGrpcSender, OtlpGrpcSettings
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
from tests.collector.backends import GrpcBackend, GrpcFault, trace_request

# Status → for traces, and for logs where that differs.
BY_CODE: dict[StatusCode, tuple[type[SendError], ...]] = {
    StatusCode.CANCELLED: (RetryableError,),
    StatusCode.UNKNOWN: (FaultyError,),
    StatusCode.INVALID_ARGUMENT: (RejectedDataError,),
    StatusCode.DEADLINE_EXCEEDED: (RetryableError,),
    StatusCode.NOT_FOUND: (MisconfiguredError,),
    StatusCode.ALREADY_EXISTS: (FaultyError,),
    StatusCode.PERMISSION_DENIED: (MisconfiguredError,),
    StatusCode.UNAUTHENTICATED: (MisconfiguredError,),
    StatusCode.RESOURCE_EXHAUSTED: (RetryableError,),
    StatusCode.FAILED_PRECONDITION: (MisconfiguredError,),
    StatusCode.ABORTED: (RetryableError,),
    StatusCode.OUT_OF_RANGE: (RetryableError,),
    StatusCode.UNIMPLEMENTED: (MisconfiguredError, UnsupportedSignalError),
    StatusCode.INTERNAL: (FaultyError,),
    StatusCode.UNAVAILABLE: (RetryableError,),
    StatusCode.DATA_LOSS: (RetryableError,),
}


async def told(fault: GrpcFault, signal: Signal) -> SendError:
    async with GrpcBackend(lambda number, request: fault) as backend:
        settings = OtlpGrpcSettings.model_validate(
            {"endpoint": f"127.0.0.1:{backend.port}", "tls": {"insecure": True}, "timeout": "5s"}
        )
        sender = OtlpGrpcSender("otlp", settings)
        await sender.start()
        with pytest.raises(SendError) as caught:
            await sender.send(signal, trace_request("a"), {})
        await sender.stop()
    return caught.value


def test_the_table_names_every_status_but_ok() -> None:
    assert set(BY_CODE) == set(StatusCode) - {StatusCode.OK}


@pytest.mark.parametrize("retry_after_s", [None, 0.0, 2.5])
@pytest.mark.parametrize("signal", [Signal.TRACES, Signal.LOGS])
@pytest.mark.parametrize("code", BY_CODE, ids=lambda code: code.name)
async def test_a_status_is(code: StatusCode, signal: Signal, retry_after_s: float | None) -> None:
    found = await told(GrpcFault(code, "no", retry_after_s), signal)
    expected = BY_CODE[code][-1] if signal is Signal.LOGS else BY_CODE[code][0]
    assert type(found) is expected
    assert code.name in str(found)
    if isinstance(found, RetryableError):
        assert found.retry_after_s == retry_after_s


@pytest.mark.parametrize(
    "words",
    [
        "grpc: received message larger than max (5 vs. 4)",
        "SERVER: Received message larger than max (5000000 vs. 4194304)",
        "trying to send message larger than max",
        "request exceeds the limit of 4 MiB",
        "message size too large",
    ],
)
def test_resource_exhausted_is_about_the_size_if_it_says_so_and_names_no_delay(words: str) -> None:
    code = StatusCode.RESOURCE_EXHAUSTED
    assert type(failure("h:1", Signal.TRACES, code, words)) is TooLargeError
    assert type(failure("h:1", Signal.TRACES, code, words, 1.0)) is RetryableError


@pytest.mark.parametrize("words", ["quota of the tenant used up", "too many requests", ""])
def test_resource_exhausted_that_names_no_size_is_a_limit_that_passes(words: str) -> None:
    assert type(failure("h:1", Signal.TRACES, StatusCode.RESOURCE_EXHAUSTED, words)) is RetryableError


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("grpc: error unmarshalling request: string field contains invalid UTF-8", RejectedDataError),
        ("Exception deserializing request!", RejectedDataError),
        ("failed to parse the server's configuration", FaultyError),
        ("decoder pool is closed", FaultyError),
    ],
)
def test_internal_is_about_the_request_only_where_a_grpc_library_says_so(words: str, expected: type[SendError]) -> None:
    assert type(failure("h:1", Signal.TRACES, StatusCode.INTERNAL, words)) is expected


def test_a_compression_that_is_not_implemented_switches_no_signal_off() -> None:
    found = failure("h:1", Signal.LOGS, StatusCode.UNIMPLEMENTED, "unknown compression gzip")
    assert type(found) is MisconfiguredError


@pytest.mark.parametrize(
    "code",
    [
        *(StatusCode.INVALID_ARGUMENT, StatusCode.INTERNAL, StatusCode.UNKNOWN, StatusCode.FAILED_PRECONDITION),
        *(StatusCode.UNAVAILABLE, StatusCode.RESOURCE_EXHAUSTED, StatusCode.ABORTED, StatusCode.DATA_LOSS),
        *(StatusCode.UNAUTHENTICATED, StatusCode.PERMISSION_DENIED, StatusCode.NOT_FOUND, StatusCode.UNIMPLEMENTED),
    ],
)
def test_words_that_may_quote_content_are_kept_apart_from_the_message(code: StatusCode) -> None:
    found = failure("h:1", Signal.TRACES, code, "bad value: my secret")
    assert "secret" not in str(found)
    assert found.answer == "bad value: my secret"


@pytest.mark.parametrize("words", ["failed to connect to all addresses; last error: refused", "Socket closed"])
def test_the_words_of_a_connection_that_failed_are_told(words: str) -> None:
    assert str(failure("h:1", Signal.TRACES, StatusCode.UNAVAILABLE, words)) == f"h:1 answered UNAVAILABLE: {words}"


def details(*messages: object) -> bytes:
    status = Status(code=14)
    for message in messages:
        packed = AnyMessage()
        packed.Pack(message)
        status.details.append(packed)
    return status.SerializeToString()


def delay(seconds: int, nanos: int = 0) -> RetryInfo:
    info = RetryInfo()
    info.retry_delay.seconds, info.retry_delay.nanos = seconds, nanos
    return info


@pytest.mark.parametrize(
    ("value", "expected_s"),
    [
        (details(delay(3, 500_000_000)), 3.5),
        (details(BadRequest(), delay(1)), 1.0),
        (details(RetryInfo()), 0.0),
        (details(delay(-5)), 0.0),
        (details(delay(2**63 - 1)), float(2**63 - 1)),
        (details(BadRequest()), None),
        (details(), None),
        (b"\xff\xff", None),
        (Status(details=[AnyMessage(type_url="type.googleapis.com/google.rpc.RetryInfo", value=b"\xff")])
         .SerializeToString(), None),
        ("text", None),
    ],
)  # fmt: skip
def test_the_delay_is_that_of_a_retry_info_that_can_be_read(value: bytes | str, expected_s: float | None) -> None:
    assert retry_info_s([("other", "x"), ("grpc-status-details-bin", value)]) == expected_s
