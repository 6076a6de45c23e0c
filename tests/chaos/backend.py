"""A backend that speaks OTLP over gRPC and HTTP, writes down every span it takes, and misbehaves when told to."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import grpc
from google.protobuf.duration_pb2 import Duration
from google.rpc.code_pb2 import UNAVAILABLE
from google.rpc.error_details_pb2 import RetryInfo
from google.rpc.status_pb2 import Status

from tests.chaos.http_server import Answer, HttpServer
from tests.chaos.ledger import Ledger
from tests.chaos.line import Line, LineState
from tests.e2e.sidecar import TRACES


@dataclass(frozen=True, slots=True)
class Mood:
    """How a backend answers.

    Attributes:
        unavailable: the share of requests that it doesn't take now; with `wait_s` it says for how long.
        forgetful: the share of requests that it takes and nevertheless says it hasn't.
        delay_s: before it answers; what it takes it takes at once.
        max_bytes: of a request; larger ones are refused as too large.
    """

    unavailable: float = 0.0
    wait_s: float | None = None
    forgetful: float = 0.0
    delay_s: float = 0.0
    max_bytes: int | None = None


WELL = Mood()


class _NotNowError(Exception):
    pass


class _TooLargeError(Exception):
    pass


class Backend(grpc.GenericRpcHandler):  # type: ignore[misc]
    """See the module's text. Over gRPC it is at the port of `grpc_line`, over HTTP at that of `http_line`.

    Args:
        name: under which the ledger knows it.
        ledger: where it writes down what it takes.
        seed: decides which requests are the unlucky ones.
    """

    def __init__(self, name: str, ledger: Ledger, seed: int) -> None:
        self.name = name
        self.mood = WELL
        self.grpc_line, self.http_line = Line(), Line()
        self.requests = 0
        self._ledger = ledger
        self._rng = random.Random(seed)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[Backend]:
        """Start and stop it."""
        options = [("grpc.max_receive_message_length", -1), ("grpc.so_reuseport", 0)]
        server = grpc.aio.server(options=options)
        server.add_generic_rpc_handlers([self])
        grpc_port = server.add_insecure_port("127.0.0.1:0")
        http = HttpServer(self._post)
        await server.start()
        await self.grpc_line.start(grpc_port)
        await self.http_line.start(await http.start())
        try:
            yield self
        finally:
            await self.grpc_line.stop()
            await self.http_line.stop()
            await http.stop()
            await server.stop(None)

    @asynccontextmanager
    async def misbehaving(self, mood: Mood = WELL, line: LineState = LineState.OPEN) -> AsyncIterator[None]:
        """Be like this meanwhile."""
        with self._ledger.trouble(f"{self.name}: {mood}, {line.value}"):
            self.mood = mood
            await self.grpc_line.become(line)
            await self.http_line.become(line)
            try:
                yield
            finally:
                self.mood = WELL
                await self.grpc_line.become(LineState.OPEN)
                await self.http_line.become(LineState.OPEN)

    async def _take(self, request: bytes) -> None:
        mood = self.mood
        self.requests += 1
        if mood.max_bytes is not None and len(request) > mood.max_bytes:
            raise _TooLargeError
        if self._rng.random() < mood.unavailable:
            raise _NotNowError
        self._ledger.arrived(self.name, request)
        if mood.delay_s:
            await asyncio.sleep(mood.delay_s)
        if self._rng.random() < mood.forgetful:
            raise _NotNowError

    def service(self, details: grpc.HandlerCallDetails) -> grpc.RpcMethodHandler | None:
        """Traces are all it takes."""
        return grpc.unary_unary_rpc_method_handler(self._export) if details.method == TRACES else None

    async def _export(self, request: bytes, context: grpc.aio.ServicerContext) -> bytes:
        try:
            await self._take(request)
        except _TooLargeError:
            words = f"Received message larger than max ({len(request)} vs. {self.mood.max_bytes})"
            await context.abort(grpc.StatusCode.RESOURCE_EXHAUSTED, words)
        except _NotNowError:
            await context.abort(grpc.StatusCode.UNAVAILABLE, "not now", _retry_info(self.mood.wait_s))
        return b""

    async def _post(self, body: bytes) -> Answer:
        try:
            await self._take(body)
        except _TooLargeError:
            return Answer(413)
        except _NotNowError:
            wait_s = self.mood.wait_s
            return Answer(
                503 if wait_s is None else 429, headers={} if wait_s is None else {"retry-after": f"{wait_s:g}"}
            )
        return Answer(headers={"content-type": "application/x-protobuf"})


def _retry_info(wait_s: float | None) -> tuple[tuple[str, bytes], ...]:
    if wait_s is None:
        return ()
    status = Status(code=UNAVAILABLE, message="not now")
    status.details.add().Pack(RetryInfo(retry_delay=Duration(nanos=int(wait_s * 1e9) % 10**9, seconds=int(wait_s))))
    return (("grpc-status-details-bin", status.SerializeToString()),)
