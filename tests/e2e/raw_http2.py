"""An HTTP/2 client that sends the frames it is told to, for calls that no gRPC library would make."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import h2.connection
import h2.events
from google.rpc.status_pb2 import Status

TRACES = "/opentelemetry.proto.collector.trace.v1.TraceService/Export"


def framed(message: bytes, *, compressed: bool = False, size_bytes: int | None = None) -> bytes:
    """A message as gRPC frames it; `size_bytes` is what the frame says of its size."""
    return bytes([compressed]) + (len(message) if size_bytes is None else size_bytes).to_bytes(4, "big") + message


@dataclass
class Call:
    """What came back of one call."""

    headers: dict[str, str] = field(default_factory=dict)
    data: bytes = b""
    reset: bool = False
    ended: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def code(self) -> int | None:
        return int(self.headers["grpc-status"]) if "grpc-status" in self.headers else None

    @property
    def status(self) -> Status:
        text = self.headers["grpc-status-details-bin"]
        return Status.FromString(base64.b64decode(text + "=" * (-len(text) % 4)))


class RawClient:
    """One connection."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._h2 = h2.connection.H2Connection()
        self._calls: dict[int, Call] = {}
        self.went_away: list[int] = []
        self.pongs = 0
        self.closed = asyncio.Event()
        self._heard = asyncio.Event()

    async def start(self) -> None:
        self._h2.initiate_connection()
        await self._flush()

    async def open(
        self, path: str = TRACES, headers: Sequence[tuple[str, str]] = (), *, end: bool = False, method: str = "POST"
    ) -> int:
        """Begin a call and return its number."""
        number = self._h2.get_next_available_stream_id()
        self._calls[number] = Call()
        sent = {":method": method, ":scheme": "http", ":path": path, ":authority": "localhost", "te": "trailers"}
        sent["content-type"] = "application/grpc"
        for name, value in headers:
            if name in sent:
                sent[name] = value
        extra = [(name, value) for name, value in headers if name not in sent]
        self._h2.send_headers(number, [*sent.items(), *extra], end_stream=end)
        await self._flush()
        return number

    async def send(self, number: int, data: bytes, *, end: bool = True) -> None:
        at = 0
        while at < len(data) and not self._calls[number].ended.is_set():
            size = min(self._h2.local_flow_control_window(number), self._h2.max_outbound_frame_size, len(data) - at)
            if not size:
                self._heard.clear()
                await self._heard.wait()
                continue
            self._h2.send_data(number, data[at : at + size])
            at += size
            await self._flush()
        if end and not self._calls[number].ended.is_set():
            self._h2.end_stream(number)
            await self._flush()

    async def ping(self) -> None:
        self._h2.ping(b"12345678")
        await self._flush()

    async def ended(self, number: int) -> Call:
        call = self._calls[number]
        await call.ended.wait()
        return call

    async def call(self, data: bytes, path: str = TRACES, headers: Sequence[tuple[str, str]] = ()) -> Call:
        number = await self.open(path, headers)
        await self.send(number, data)
        return await self.ended(number)

    async def listen(self) -> None:
        while data := await self._reader.read(65536):
            for event in self._h2.receive_data(data):
                self._note(event)
            await self._flush()
            self._heard.set()
        self.closed.set()
        for call in self._calls.values():
            call.ended.set()

    def _note(self, event: h2.events.Event) -> None:
        call = self._calls.get(getattr(event, "stream_id", None) or 0, Call())
        if isinstance(event, h2.events.ResponseReceived | h2.events.TrailersReceived):
            call.headers |= {_text(name): _text(value) for name, value in event.headers or ()}
        elif isinstance(event, h2.events.DataReceived):
            call.data += event.data or b""
        elif isinstance(event, h2.events.StreamEnded):
            call.ended.set()
        elif isinstance(event, h2.events.StreamReset):
            call.reset = True
            call.ended.set()
        elif isinstance(event, h2.events.ConnectionTerminated):
            self.went_away.append(int(event.error_code or 0))
        elif isinstance(event, h2.events.PingAckReceived):
            self.pongs += 1

    async def _flush(self) -> None:
        self._writer.write(self._h2.data_to_send())
        await self._writer.drain()


def _text(value: bytes | str) -> str:
    return value.decode() if isinstance(value, bytes) else value


@asynccontextmanager
async def raw_client(port: int) -> AsyncIterator[RawClient]:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    client = RawClient(reader, writer)
    listening = asyncio.create_task(client.listen())
    try:
        async with asyncio.timeout(20):
            await client.start()
            yield client
    finally:
        listening.cancel()
        writer.close()
        await asyncio.gather(listening, return_exceptions=True)
