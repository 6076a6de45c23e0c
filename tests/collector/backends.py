"""Backends on real sockets that misbehave on request."""

from __future__ import annotations

import asyncio
import gzip
import ssl
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Self

import cramjam
import grpc
import grpc.aio
from google.protobuf.any_pb2 import Any as AnyMessage
from google.protobuf.duration_pb2 import Duration
from google.rpc.error_details_pb2 import RetryInfo
from google.rpc.status_pb2 import Status
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)


def trace_request(*names: str, padding: int = 0) -> bytes:
    """A request with one span per name."""
    request = ExportTraceServiceRequest()
    spans = request.resource_spans.add().scope_spans.add().spans
    for name in names:
        span = spans.add(name=name, trace_id=b"t" * 16, span_id=name.encode().rjust(8, b"_")[-8:])
        span.attributes.add(key="padding").value.string_value = "x" * padding
    return request.SerializeToString()


def span_names(*requests: bytes) -> list[str]:
    return [
        span.name
        for request in requests
        for resource in ExportTraceServiceRequest.FromString(request).resource_spans
        for scope in resource.scope_spans
        for span in scope.spans
    ]


def partial_success(rejected: int) -> bytes:
    response = ExportTraceServiceResponse()
    response.partial_success.rejected_spans = rejected
    response.partial_success.error_message = "some are too old"
    return response.SerializeToString()


@dataclass(frozen=True)
class GrpcFault:
    code: grpc.StatusCode
    details: str = "no"
    retry_after_s: float | None = None

    def trailers(self) -> tuple[tuple[str, bytes], ...]:
        if self.retry_after_s is None:
            return ()
        detail = AnyMessage()
        delay = Duration()
        delay.FromNanoseconds(int(self.retry_after_s * 1e9))
        detail.Pack(RetryInfo(retry_delay=delay))
        status = Status(code=self.code.value[0], message=self.details, details=[detail])
        return (("grpc-status-details-bin", status.SerializeToString()),)


@dataclass
class Attempt:
    path: str
    request: bytes
    headers: dict[str, str]


@dataclass
class GrpcBackend:
    """`answer` gets the number of the attempt and the request; it returns response bytes or a fault."""

    answer: Callable[[int, bytes], bytes | GrpcFault] = lambda number, request: b""
    delay_s: float = 0.0
    attempts: list[Attempt] = field(default_factory=list)
    accepted: list[bytes] = field(default_factory=list)
    port: int = 0
    credentials: grpc.ServerCredentials | None = None
    host: str = "127.0.0.1"

    async def __aenter__(self) -> Self:
        self._server = grpc.aio.server(options=[("grpc.max_receive_message_length", -1), ("grpc.so_reuseport", 0)])
        self._server.add_generic_rpc_handlers((_Handler(self),))
        address = f"{self.host}:{self.port}"
        if self.credentials:
            self.port = self._server.add_secure_port(address, self.credentials)
        else:
            self.port = self._server.add_insecure_port(address)
        await self._server.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._server.stop(0)

    async def export(self, request: bytes, context: grpc.aio.ServicerContext, path: str) -> bytes:
        headers = {key: str(value) for key, value in context.invocation_metadata() or ()}
        self.attempts.append(Attempt(path, request, headers))
        number = len(self.attempts)
        if self.delay_s:
            await asyncio.sleep(self.delay_s)
        outcome = self.answer(number, request)
        if isinstance(outcome, GrpcFault):
            await context.abort(outcome.code, outcome.details, outcome.trailers())
        assert isinstance(outcome, bytes)
        self.accepted.append(request)
        return outcome


class _Handler(grpc.GenericRpcHandler):
    def __init__(self, backend: GrpcBackend) -> None:
        self._backend = backend

    def service(self, handler_call_details: grpc.HandlerCallDetails) -> grpc.RpcMethodHandler:
        path = handler_call_details.method

        async def export(request: bytes, context: grpc.aio.ServicerContext) -> bytes:
            return await self._backend.export(request, context, path)

        return grpc.unary_unary_rpc_method_handler(export)


@dataclass(frozen=True)
class HttpAnswer:
    """`status` 0 closes the connection without an answer."""

    status: int = 200
    body: bytes = b""
    headers: tuple[tuple[str, str], ...] = ()


@dataclass
class HttpBackend:
    """`answer` gets the number of the attempt and the decompressed request."""

    answer: Callable[[int, bytes], HttpAnswer] = lambda number, request: HttpAnswer()
    delay_s: float = 0.0
    attempts: list[Attempt] = field(default_factory=list)
    accepted: list[bytes] = field(default_factory=list)
    connections: int = 0
    port: int = 0
    tls: ssl.SSLContext | None = None
    host: str = "127.0.0.1"

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, self.host, self.port, ssl=self.tls)
        self.port = self._server.sockets[0].getsockname()[1]
        self._writers: list[asyncio.StreamWriter] = []
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        for writer in self._writers:
            writer.close()
        await self._server.wait_closed()

    @property
    def url(self) -> str:
        return f"{'https' if self.tls else 'http'}://127.0.0.1:{self.port}"

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        self._writers.append(writer)
        try:
            while await self._exchange(reader, writer):
                pass
        except (asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError):
            pass
        finally:
            writer.close()

    async def _exchange(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:] if line)}
        body = await reader.readexactly(int(headers.get("content-length", "0")))
        if headers.get("content-encoding") == "gzip":
            body = gzip.decompress(body)
        elif headers.get("content-encoding") == "zstd":
            body = bytes(cramjam.zstd.decompress(body))
        self.attempts.append(Attempt(head[0].split(" ")[1], body, headers))
        if self.delay_s:
            await asyncio.sleep(self.delay_s)
        answer = self.answer(len(self.attempts), body)
        if answer.status == 0:
            return False
        if answer.status < 300:
            self.accepted.append(body)
        lines = [f"HTTP/1.1 {answer.status} x", f"content-length: {len(answer.body)}"]
        lines += [f"{name}: {value}" for name, value in answer.headers]
        writer.write("\r\n".join([*lines, "", ""]).encode() + answer.body)
        await writer.drain()
        return True
