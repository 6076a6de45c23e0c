"""OTLP over HTTP/1.1: POST /v1/traces, /v1/logs and /v1/metrics, in protobuf and JSON, compressed or not.

The server is uvicorn with httptools, run inside the sidecar's event loop; three paths need no framework around it.
Every refusal carries a google.rpc.Status in the encoding of the request, and says with Retry-After whether the sender
may try again.
"""

from __future__ import annotations

import asyncio
import contextlib
import math
import socket
import ssl
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import uvicorn

from collector.intake import Accepted, Intake, OverloadedError, UndeclaredSignalError
from collector.otlp_json import Converted, convert
from collector.receivers.answers import (
    UNAUTHENTICATED,
    Code,
    Refusal,
    refusal_for,
    status_json,
    status_protobuf,
    success_json,
    success_protobuf,
)
from collector.receivers.bearer import BearerCheck
from collector.receivers.connections import Connections, allowed_connections
from collector.receivers.cors import Cors, is_preflight
from collector.receivers.decompress import BodyTooLargeError, decompress, read_encoding
from collector.receivers.http_protocol import DeadlineProtocol
from collector.receivers.in_hand import InHand, Share
from collector.receivers.otlp_settings import HttpSettings
from collector.receivers.request_headers import as_mapping
from collector.receivers.startup import BACKLOG, ReceiverStartError, open_sockets
from collector.receivers.unix_socket import OwnSocket, bind
from collector.records import Signal

if TYPE_CHECKING:
    from uvicorn._types import ASGIReceiveCallable, ASGISendCallable, HTTPScope, Scope

_PATHS = {f"/v1/{signal}": signal for signal in Signal}
_PROTOBUF = "application/x-protobuf"
_JSON = "application/json"
_MIB = 1 << 20

_IDLE_S = 120  # longer than any exporter's interval, so that connections are still there for the next export
# A body may take this long, and longer only while it arrives at this rate.
_BODY_START_S = 10.0
_BODY_BYTES_PER_S = 64 << 10
# Bodies in hand may hold this many times the limit for one of them.
_BODIES_AT_ONCE = 4
_RETRY_AFTER_S = 1.0
# A sender that begins TLS has to be done with it in this time.
_HANDSHAKE_S = 10.0
# Work on more than this leaves the event loop, which otherwise would answer nobody meanwhile.
_SMALL_BYTES = 256 << 10


class OtlpHttpReceiver:
    """Listens on one address.

    Args:
        settings: of this protocol.
        intake: takes the requests.
        receiver: id of the receiver, such as `otlp/agents`.
    """

    def __init__(self, settings: HttpSettings, intake: Intake, receiver: str) -> None:
        self._settings = settings
        self._intake = intake
        self._receiver = receiver
        self._bearer = BearerCheck(settings.auth)
        self._cors = Cors(settings.cors) if settings.cors is not None else None
        self._limit_bytes = settings.max_request_body_size_mib * _MIB
        self._in_hand = InHand(_BODIES_AT_ONCE * self._limit_bytes)
        self._converting = asyncio.Lock()
        self._server: _Server | None = None
        self._serving: asyncio.Task[None] | None = None
        self._socket: OwnSocket | None = None
        self.port = 0
        """The port that is listened on, once started; 0 for a unix socket."""

    async def start(self) -> None:
        """Listen; raises StartError."""
        key = f"receivers::{self._receiver}::protocols::http"
        config = uvicorn.Config(
            self._app,
            http=partial(DeadlineProtocol, connections=Connections(allowed_connections())),  # type: ignore[arg-type]
            ws="none",
            lifespan="off",
            interface="asgi3",
            log_config=None,
            log_level="error",
            access_log=False,
            proxy_headers=False,
            server_header=False,
            timeout_keep_alive=_IDLE_S,
        )
        if self._settings.tls is not None:
            tls = self._settings.tls
            config.ssl_certfile, config.ssl_keyfile = str(tls.cert_file), str(tls.key_file)
            if tls.client_ca_file is not None:
                config.ssl_ca_certs, config.ssl_cert_reqs = str(tls.client_ca_file), ssl.CERT_REQUIRED
        try:
            config.load()
        except (ssl.SSLError, OSError) as error:
            reason = error.strerror or type(error).__name__
            raise ReceiverStartError(f"the certificate can't be used ({reason}); correct {key}::tls") from None
        if self._settings.transport == "unix":
            path = Path(self._settings.endpoint)
            sockets = [bind(path, int(self._settings.socket_mode, 8), f"{key}::endpoint", BACKLOG)]
            self._socket = OwnSocket(path)
        else:
            sockets = open_sockets(self._settings.endpoint, f"{key}::endpoint")
            self.port = sockets[0].getsockname()[1]
        self._server = _Server(config)
        self._serving = asyncio.create_task(self._server.serve(sockets), name=f"{self._receiver} http")
        while not self._server.started:
            if self._serving.done():
                await self._serving
            await asyncio.sleep(0)

    async def stop(self, grace_s: float) -> None:
        """Take no new requests, and wait at most `grace_s` seconds for those under way."""
        if self._server is None or self._serving is None:
            return
        self._server.config.timeout_graceful_shutdown = math.ceil(grace_s)
        self._server.should_exit = True
        await self._serving
        self._server = self._serving = None
        if self._socket is not None:
            self._socket.remove()
            self._socket = None

    async def _app(self, scope: Scope, receive: ASGIReceiveCallable, send: ASGISendCallable) -> None:
        if scope["type"] != "http":
            return
        headers = as_mapping((name.decode("latin-1"), value.decode("latin-1")) for name, value in scope["headers"])
        if self._cors is not None and is_preflight(scope["method"], headers):
            await _send_nothing(send, self._cors.preflight(headers))
            return
        cors = self._cors.of_answer(headers) if self._cors is not None else []
        content_type = headers.get("content-type", "").partition(";")[0].strip().lower()
        in_protobuf = content_type == _PROTOBUF
        more_headers: list[tuple[bytes, bytes]] = []
        try:
            signal = self._route(scope, headers, content_type)
            accepted = await self._take(signal, headers, in_protobuf, receive)
        except _ClientLeftError:
            return
        except _RefusedError as error:
            refusal, more_headers = error.refusal, error.headers
        except asyncio.CancelledError:
            # Only the end of the server does this. Its own answer would be final, and the sender would drop the data.
            refusal = Refusal(Code.UNAVAILABLE, 503, "shutting down; try again", _RETRY_AFTER_S)
        except Exception as error:  # the outermost loop: every request gets an answer
            refusal = refusal_for(error)
        else:
            body = success_protobuf(accepted) if in_protobuf else success_json(signal, accepted)
            await _send(send, 200, in_protobuf, body, cors)
            return
        if refusal.retry_after_s is not None:
            more_headers = [(b"retry-after", b"%d" % max(1, math.ceil(refusal.retry_after_s)))]
        more_headers += cors
        body = status_protobuf(refusal) if in_protobuf else status_json(refusal)
        await _send(send, refusal.http_status, in_protobuf, body, more_headers)

    def _route(self, scope: HTTPScope, headers: Mapping[str, str], content_type: str) -> Signal:
        """The signal of a request whose head can be accepted."""
        signal = _PATHS.get(scope["path"])
        if signal is None:
            paths = ", ".join(_PATHS)
            raise _RefusedError(Code.NOT_FOUND, 404, f"there is nothing at this path; OTLP is taken at {paths}")
        if scope["method"] != "POST":
            raise _RefusedError(Code.UNIMPLEMENTED, 405, "only POST is possible here", (b"allow", b"POST"))
        if not self._bearer.passes(headers):
            challenge = (b"www-authenticate", b"Bearer")
            raise _RefusedError(UNAUTHENTICATED.code, 401, UNAUTHENTICATED.message, challenge)
        if content_type not in (_PROTOBUF, _JSON):
            message = f"the content-type has to be {_PROTOBUF} or {_JSON}"
            raise _RefusedError(Code.INVALID_ARGUMENT, 415, message, (b"accept", f"{_PROTOBUF}, {_JSON}".encode()))
        if not self._intake.accepts(signal):
            raise UndeclaredSignalError(f"no {signal} pipeline names {self._receiver} (service::pipelines::{signal})")
        return signal

    async def _take(
        self, signal: Signal, headers: Mapping[str, str], in_protobuf: bool, receive: ASGIReceiveCallable
    ) -> Accepted:
        encoding = read_encoding(headers.get("content-encoding", ""))
        with self._in_hand.request() as share:
            body = await self._read_body(headers.get("content-length"), receive, share)
            if encoding:
                body = await self._decompressed(encoding, body)
                share.add(len(body))
                share.require_room()
            warning = ""
            if not in_protobuf:
                converted = await self._converted(signal, body)
                body, warning = converted.request, converted.warning
            accepted = await self._intake.take(signal, body, receiver=self._receiver, headers=headers)
        return Accepted(accepted.rejected, accepted.message or warning) if warning else accepted

    async def _read_body(self, content_length: str | None, receive: ASGIReceiveCallable, share: Share) -> bytes:
        # The parser has seen to it that it fits 64 bits; what stands before the last digits can only be zeros.
        if content_length is not None and int(content_length[-20:]) > self._limit_bytes:
            raise BodyTooLargeError(self._limit_message())
        parts: list[bytes] = []
        begun_s = asyncio.get_running_loop().time()
        try:
            async with asyncio.timeout(_BODY_START_S) as deadline:
                while True:
                    event = await receive()
                    if event["type"] != "http.request":
                        raise _ClientLeftError
                    part = event.get("body", b"")
                    parts.append(part)
                    share.add(len(part))
                    if share.size_bytes > self._limit_bytes:
                        raise BodyTooLargeError(self._limit_message())
                    if not event.get("more_body", False):
                        return b"".join(parts)
                    share.require_room()
                    deadline.reschedule(begun_s + _BODY_START_S + share.size_bytes / _BODY_BYTES_PER_S)
        except TimeoutError:
            raise OverloadedError("the body arrived too slowly; try again", _RETRY_AFTER_S) from None

    async def _decompressed(self, encoding: str, body: bytes) -> bytes:
        try:
            if len(body) <= _SMALL_BYTES:
                try:
                    return decompress(encoding, body, min(_MIB, self._limit_bytes))
                except BodyTooLargeError:
                    pass
            return await asyncio.to_thread(decompress, encoding, body, self._limit_bytes)
        except BodyTooLargeError:
            raise BodyTooLargeError(self._limit_message()) from None

    async def _converted(self, signal: Signal, body: bytes) -> Converted:
        if len(body) <= _SMALL_BYTES:
            return convert(signal, body)
        # One after the other: what is read from JSON takes many times the room of its text, and is made no faster at
        # the same time.
        async with self._converting:
            return await asyncio.to_thread(convert, signal, body)

    def _limit_message(self) -> str:
        return (
            f"the request is larger than {self._limit_bytes // _MIB} MiB "
            f"(receivers::{self._receiver}::protocols::http::max_request_body_size_mib); send smaller batches"
        )


async def _send(
    send: ASGISendCallable, status: int, in_protobuf: bool, body: bytes, more_headers: list[tuple[bytes, bytes]]
) -> None:
    headers = [
        (b"content-type", _PROTOBUF.encode() if in_protobuf else _JSON.encode()),
        (b"content-length", b"%d" % len(body)),
        *more_headers,
    ]
    await send({"type": "http.response.start", "status": status, "headers": headers, "trailers": False})
    await send({"type": "http.response.body", "body": body, "more_body": False})


async def _send_nothing(send: ASGISendCallable, headers: list[tuple[bytes, bytes]]) -> None:
    await send({"type": "http.response.start", "status": 204, "headers": headers, "trailers": False})
    await send({"type": "http.response.body", "body": b"", "more_body": False})


class _RefusedError(Exception):
    """A refusal by the head of the request, with the headers that belong to it."""

    def __init__(self, code: Code, http_status: int, message: str, *headers: tuple[bytes, bytes]) -> None:
        super().__init__(message)
        self.refusal = Refusal(code, http_status, message)
        self.headers = list(headers)


class _ClientLeftError(Exception):
    """The sender closed the connection before its request was complete."""


class _Server(uvicorn.Server):
    """uvicorn as a part of a program: signals are the program's, and a TLS handshake has its time."""

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Listen on these sockets. In uvicorn's own a silent sender keeps its connection for a minute."""
        config, loop = self.config, asyncio.get_running_loop()
        await self.lifespan.startup()

        def connect() -> asyncio.Protocol:
            protocol: asyncio.Protocol = config.http_protocol_class(  # type: ignore[call-arg]
                config=config, server_state=self.server_state, app_state=self.lifespan.state
            )
            return protocol

        limit_s = None if config.ssl is None else _HANDSHAKE_S
        self.servers = [
            await loop.create_server(connect, sock=one, ssl=config.ssl, backlog=BACKLOG, ssl_handshake_timeout=limit_s)
            for one in sockets or ()
        ]
        self.started = True

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield
