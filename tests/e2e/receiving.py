"""Receivers on real sockets, in front of an intake that remembers what it took and answers as it is told."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from collector.intake import Accepted
from collector.receivers.otlp_grpc import OtlpGrpcReceiver
from collector.receivers.otlp_http import OtlpHttpReceiver
from collector.receivers.otlp_settings import GrpcSettings, HttpSettings
from collector.records import Signal
from collector.wire import Origins, count_data_points, describe_rejections, slice_logs, slice_spans


@dataclass
class RememberingIntake:
    """Slices requests as the pipeline does; `failure` is raised instead."""

    taken: list[tuple[Signal, bytes, Mapping[str, str]]] = field(default_factory=list)
    failure: Exception | None = None
    signals: frozenset[Signal] = frozenset(Signal)

    def accepts(self, signal: Signal) -> bool:
        return signal in self.signals

    async def take(self, signal: Signal, request: bytes, *, receiver: str, headers: Mapping[str, str]) -> Accepted:
        if self.failure is not None:
            raise self.failure
        self.taken.append((signal, request, headers))
        if signal is Signal.METRICS:
            count_data_points(request)
            return Accepted()
        rejected = (slice_spans if signal is Signal.TRACES else slice_logs)(request, (), Origins()).rejected
        return Accepted(len(rejected), describe_rejections(rejected)) if rejected else Accepted()


@asynccontextmanager
async def http_receiver(intake: RememberingIntake, **settings: Any) -> AsyncIterator[OtlpHttpReceiver]:
    settings.setdefault("endpoint", "127.0.0.1:0")
    receiver = OtlpHttpReceiver(HttpSettings.model_validate(settings), intake, "otlp")
    await receiver.start()
    try:
        yield receiver
    finally:
        await receiver.stop(1)


@asynccontextmanager
async def grpc_receiver(intake: RememberingIntake, **settings: Any) -> AsyncIterator[OtlpGrpcReceiver]:
    settings.setdefault("endpoint", "127.0.0.1:0")
    receiver = OtlpGrpcReceiver(GrpcSettings.model_validate(settings), intake, "otlp")
    await receiver.start()
    try:
        yield receiver
    finally:
        await receiver.stop(1)


@dataclass
class Answer:
    status: int
    headers: dict[str, str]
    body: bytes


class Connection:
    """An HTTP/1.1 client that sends exactly the bytes it is given."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer

    async def send(self, data: bytes) -> None:
        self.writer.write(data)
        await self.writer.drain()

    async def answer(self) -> Answer:
        head = (await self.reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:]) if name}
        body = await self.reader.readexactly(int(headers.get("content-length", 0)))
        return Answer(int(head[0].split()[1]), headers, body)

    async def is_closed(self) -> bool:
        return await self.reader.read(1) == b""


@asynccontextmanager
async def connection(port: int) -> AsyncIterator[Connection]:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        async with asyncio.timeout(20):
            yield Connection(reader, writer)
    finally:
        writer.close()


def post(body: bytes, path: str = "/v1/traces", content_type: str = "application/x-protobuf", **headers: str) -> bytes:
    """The bytes of a request; header names are given with underscores."""
    lines = [f"POST {path} HTTP/1.1", "host: localhost", f"content-length: {len(body)}"]
    lines += [f"content-type: {content_type}"] if content_type else []
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join([*lines, "", ""]).encode() + body


async def ask(port: int, request: bytes) -> Answer:
    """Send one request on a new connection."""
    async with connection(port) as client:
        await client.send(request)
        return await client.answer()
