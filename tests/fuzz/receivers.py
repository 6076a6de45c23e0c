"""Both receivers without their sockets: bytes go in where the network would put them, and the answer is looked at.

A search makes some hundred thousand tries; over real sockets (`tests/e2e`) it would make some thousand.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable
from typing import Any

import grpc
import orjson
import uvicorn
from google.rpc.status_pb2 import Status
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse
from uvicorn.server import ServerState

from collector.receivers.connections import Connections
from collector.receivers.http_protocol import DeadlineProtocol
from collector.receivers.otlp_grpc import OtlpGrpcReceiver
from collector.receivers.otlp_http import OtlpHttpReceiver
from collector.receivers.otlp_settings import GrpcSettings, HttpSettings
from collector.records import Signal
from tests.e2e.receiving import RememberingIntake

_PROTOBUF, _JSON = b"application/x-protobuf", b"application/json"
_PATHS = (b"/v1/traces", b"/v1/logs", b"/v1/metrics")
_ENCODINGS = (b"", b"gzip", b"zstd", b"zlib", b"deflate", b"snappy", b"x-snappy-framed", b"lz4", b"br", b"gzip, gzip")
# What a sender may be told about a request that is wrong in itself; never 500, and 503 only by what passes.
_ANSWERS = {200, 204, 400, 404, 405, 413, 415}
_ON_CONNECTIONS = _ANSWERS | {100, 431, 503}
_CODES = {3, 5, 8, 12}
_STATUS_LINE = re.compile(rb"HTTP/1\.1 ([0-9]{3}) [A-Za-z -]+\r\n")


def post_anything(data: bytes) -> None:
    """A request of the right form with any body; the first byte chooses its signal, content type and encoding."""
    choice = data[0] if data else 0
    in_protobuf = choice % 2 == 0
    headers = [(b"content-type", _PROTOBUF if in_protobuf else _JSON)]
    encoding = _ENCODINGS[(choice // 16) % len(_ENCODINGS)]
    if encoding:
        headers.append((b"content-encoding", encoding))
    intake = RememberingIntake()
    status, body = asyncio.run(_ask(intake, _PATHS[choice // 2 % 8 % 3], headers, data[1:]))
    assert status in _ANSWERS, status
    if status != 200:
        told = Status.FromString(body) if in_protobuf else orjson.loads(body)
        code, message = (told.code, told.message) if in_protobuf else (told["code"], told["message"])
        assert code in _CODES
        assert message
    elif in_protobuf:
        assert len(intake.taken) == 1
        assert ExportTraceServiceResponse.FromString(body).partial_success.rejected_spans >= 0
    else:
        assert len(intake.taken) == 1
        assert isinstance(orjson.loads(body), dict)


async def _ask(
    intake: RememberingIntake, path: bytes, headers: list[tuple[bytes, bytes]], body: bytes
) -> tuple[int, bytes]:
    receiver = OtlpHttpReceiver(HttpSettings(max_request_body_size_mib=1), intake, "otlp")
    sent: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    scope = {"type": "http", "method": "POST", "path": path.decode(), "headers": headers}
    await receiver._app(scope, receive, send)  # type: ignore[arg-type]
    return sent[0]["status"], b"".join(message.get("body", b"") for message in sent[1:])


def talk_anything(data: bytes) -> None:
    """Any bytes on a connection, in pieces of sizes that the bytes themselves choose."""
    asyncio.run(_talk(data))


async def _talk(data: bytes) -> None:
    receiver = OtlpHttpReceiver(HttpSettings(), RememberingIntake(), "otlp")
    config = uvicorn.Config(
        receiver._app,
        lifespan="off",
        ws="none",
        interface="asgi3",
        log_config=None,
        access_log=False,
        proxy_headers=False,
    )
    config.load()
    transport = _Transport()
    protocol = DeadlineProtocol(config, ServerState(), {}, connections=Connections(10))
    protocol.connection_made(transport)
    for piece in _pieces(data):
        if not transport.is_closing():
            protocol.data_received(piece)
        await asyncio.sleep(0)
    for _ in range(20):
        await asyncio.sleep(0)
    protocol.connection_lost(None)
    tasks = list(protocol.tasks)
    await asyncio.wait_for(asyncio.gather(*tasks), 5)
    for line in _STATUS_LINE.findall(bytes(transport.written)):
        assert int(line) in _ON_CONNECTIONS, line
    assert not transport.written or transport.written.startswith(b"HTTP/1.1 ")


def _pieces(data: bytes) -> Iterable[bytes]:
    at = 0
    while at < len(data):
        size = data[at] + 1 if data[at] < 32 else len(data)
        yield data[at : at + size]
        at += size


class _Transport(asyncio.Transport):
    """Keeps what is written."""

    def __init__(self) -> None:
        super().__init__()
        self.written = bytearray()
        self._closing = False

    def write(self, data: Any) -> None:
        self.written += data

    def is_closing(self) -> bool:
        return self._closing

    def close(self) -> None:
        self._closing = True

    def abort(self) -> None:
        self._closing = True

    def pause_reading(self) -> None:
        pass

    def resume_reading(self) -> None:
        pass


class _AbortedError(Exception):
    """The call was ended with an error."""


class _Context:
    """A call with one message."""

    def __init__(self, message: bytes) -> None:
        self._message = message
        self.code: grpc.StatusCode | None = None

    def invocation_metadata(self) -> list[tuple[str, str | bytes]]:
        return [("user-agent", "any"), ("x-bin", b"\0")]

    async def read(self) -> bytes:
        return self._message

    async def abort(self, code: grpc.StatusCode, message: str, trailers: tuple[tuple[str, bytes], ...]) -> None:
        assert message
        assert Status.FromString(dict(trailers)["grpc-status-details-bin"]).code == code.value[0]
        self.code = code
        raise _AbortedError


def send_anything(data: bytes) -> None:
    """Any message as a call of each of the three methods."""
    for signal in Signal:
        asyncio.run(_call(signal, data))


async def _call(signal: Signal, message: bytes) -> None:
    intake = RememberingIntake()
    receiver = OtlpGrpcReceiver(GrpcSettings(), intake, "otlp")
    context = _Context(message)
    try:
        answer = await receiver._export(signal)(None, context)  # type: ignore[arg-type]
    except _AbortedError:
        assert context.code is grpc.StatusCode.INVALID_ARGUMENT
    else:
        assert ExportTraceServiceResponse.FromString(answer).partial_success.rejected_spans >= 0
        assert len(intake.taken) == 1
