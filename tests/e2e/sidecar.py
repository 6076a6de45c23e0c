"""The real sidecar as a child process, and a real OTLP/gRPC backend in this one."""

import asyncio
import os
import signal
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import grpc
import httpx2
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span

TRACES = "/opentelemetry.proto.collector.trace.v1.TraceService/Export"
LOGS = "/opentelemetry.proto.collector.logs.v1.LogsService/Export"
METRICS = "/opentelemetry.proto.collector.metrics.v1.MetricsService/Export"


_given: set[int] = set()


def free_port() -> int:
    """A port on which nobody listens. None is given twice: a sidecar that was given the same for two things refuses."""
    while True:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = int(probe.getsockname()[1])
        if port not in _given:
            _given.add(port)
            return port


class Backend(grpc.GenericRpcHandler):
    """Takes everything, keeps the bytes, and refuses for a while if told to."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.requests: dict[str, list[bytes]] = {TRACES: [], LOGS: [], METRICS: []}
        self.unavailable = False

    def service(self, details: grpc.HandlerCallDetails) -> grpc.RpcMethodHandler | None:
        async def export(request: bytes, context: grpc.aio.ServicerContext) -> bytes:
            if self.unavailable:
                await context.abort(grpc.StatusCode.UNAVAILABLE, "not now")
            self.requests[details.method].append(request)
            return b""

        return grpc.unary_unary_rpc_method_handler(export) if details.method in self.requests else None

    @property
    def spans(self) -> list[Span]:
        parsed = [ExportTraceServiceRequest.FromString(request) for request in self.requests[TRACES]]
        return [
            span
            for request in parsed
            for resource in request.resource_spans
            for scope in resource.scope_spans
            for span in scope.spans
        ]


@asynccontextmanager
async def running_backend(port: int = 0) -> AsyncIterator[Backend]:
    backend = Backend(port or free_port())
    server = grpc.aio.server(options=[("grpc.so_reuseport", 0)])
    server.add_generic_rpc_handlers([backend])
    server.add_insecure_port(f"127.0.0.1:{backend.port}")
    await server.start()
    try:
        yield backend
    finally:
        await server.stop(None)


class Sidecar:
    def __init__(self, folder: Path, text: str) -> None:
        self.grpc_port, self.http_port, self.health_port = free_port(), free_port(), free_port()
        self.folder = self.runtime_folder = folder
        self.config = folder / "config.yaml"
        self.config.write_text(
            text.replace("GRPC_PORT", str(self.grpc_port))
            .replace("HTTP_PORT", str(self.http_port))
            .replace("HEALTH_PORT", str(self.health_port))
        )
        self._process: asyncio.subprocess.Process | None = None

    @property
    def process(self) -> asyncio.subprocess.Process:
        assert self._process is not None
        return self._process

    @property
    def environment(self) -> dict[str, str]:
        """Its own, and that of commands which find it."""
        own = str(self.runtime_folder)
        return {**os.environ, "PYTHONPATH": str(Path.cwd()), "XDG_RUNTIME_DIR": own, "TMPDIR": own}

    async def command(self, *arguments: str) -> tuple[int, str, str]:
        """Run another command of the same program: its exit code, what it printed, and what it reported."""
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-P", "-m", "collector", *arguments),
            cwd=self.folder,
            env=self.environment,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        async with asyncio.timeout(60):
            out, err = await process.communicate()
        assert process.returncode is not None
        return process.returncode, out.decode(), err.decode()

    async def start(self) -> None:
        with (self.folder / "stdout").open("wb") as out, (self.folder / "stderr").open("wb") as err:
            self._process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-P", "-m", "collector", "run", "--config", str(self.config)),
                cwd=self.folder,
                env=self.environment,
                stdout=out,
                stderr=err,
            )
        async with asyncio.timeout(60), httpx2.AsyncClient(trust_env=False) as client:
            while True:
                if self.process.returncode is not None:
                    raise AssertionError(f"the sidecar ended with {self.process.returncode}: {self.stderr}")
                try:
                    if (await client.get(f"http://127.0.0.1:{self.health_port}/")).status_code == 200:
                        return
                except httpx2.TransportError:
                    await asyncio.sleep(0.05)

    async def stop(self) -> int:
        """End it as an operator does, and give its exit code."""
        if self.process.returncode is None:
            self.process.send_signal(signal.SIGTERM)
        async with asyncio.timeout(60):
            return await self.process.wait()

    @property
    def stdout(self) -> str:
        return (self.folder / "stdout").read_text()

    @property
    def stderr(self) -> str:
        return (self.folder / "stderr").read_text()


@asynccontextmanager
async def running_sidecar(folder: Path, text: str) -> AsyncIterator[Sidecar]:
    sidecar = Sidecar(folder, text)
    await sidecar.start()
    try:
        yield sidecar
    finally:
        await sidecar.stop()
