"""An OTLP/HTTP receiver that keeps each request body as it came, only decompressed."""

from __future__ import annotations

import gzip
import threading
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any

from google.protobuf.message import Message
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

_SIGNALS = ("traces", "logs")


@dataclass(frozen=True, slots=True)
class Received:
    """One request: its signal ("traces" or "logs"), its encoding ("pb" or "json"), its body."""

    signal: str
    encoding: str
    body: bytes

    def message(self) -> Message:
        """The request, if its encoding is "pb"."""
        if self.signal == "traces":
            return ExportTraceServiceRequest.FromString(self.body)
        return ExportLogsServiceRequest.FromString(self.body)


class Sink:
    """Receives on a free port of this machine while it is entered; what came is in `received`, in order of arrival."""

    def __init__(self) -> None:
        self.received: list[Received] = []
        self._lock = threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05})

    @property
    def url(self) -> str:
        """The endpoint's root: exporters add `/v1/traces`."""
        return f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> Sink:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def keep(self, path: str, encoding: str, body: bytes) -> None:
        """Keep a request of a signal that is recorded; others, such as metrics, are dropped."""
        signal = path.rstrip("/").rpartition("/")[2]
        if signal in _SIGNALS and body:
            with self._lock:
                self.received.append(Received(signal, encoding, body))


def _handler(sink: Sink) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = self._body()
            if self.headers.get("Content-Encoding") == "gzip":
                body = gzip.decompress(body)
            kind = self.headers.get("Content-Type", "")
            sink.keep(self.path.partition("?")[0], "json" if kind.startswith("application/json") else "pb", body)
            self.send_response(200)
            self.send_header("Content-Type", kind)
            answer = b"{}" if kind.startswith("application/json") else b""
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def do_GET(self) -> None:
            self.send_response(404)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def _body(self) -> bytes:
            if self.headers.get("Transfer-Encoding") != "chunked":
                return self.rfile.read(int(self.headers.get("Content-Length") or 0))
            chunks = []
            while size := int(self.rfile.readline().partition(b";")[0], 16):
                chunks.append(self.rfile.read(size))
                self.rfile.readline()
            self.rfile.readline()
            return b"".join(chunks)

        def log_message(self, format: str, *args: Any) -> None:
            pass

    return Handler
