"""OTLP over gRPC: the three Export methods, their requests taken as raw bytes.

The methods are served as streams of which one message is read: unlike for a plain call, a sender is then asked for its
token, and for patience, before its message is received.

What gRPC itself answers: RESOURCE_EXHAUSTED to messages over the limit (after decompression), UNIMPLEMENTED to unknown
methods, INTERNAL or UNIMPLEMENTED to compressions other than gzip and deflate. There is no limit on calls at a time:
the library would refuse further ones without telling senders to try again.
"""

from __future__ import annotations

import socket
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path

import grpc

from collector.config.settings import split_host_port
from collector.intake import Accepted, Intake, MalformedRequestError, OverloadedError, UndeclaredSignalError
from collector.receivers.answers import UNAUTHENTICATED, refusal_for, status_protobuf, success_protobuf
from collector.receivers.bearer import BearerCheck
from collector.receivers.connections import allowed_connections
from collector.receivers.in_hand import InHand
from collector.receivers.otlp_settings import GrpcSettings, KeepaliveParameters, TlsSettings
from collector.receivers.request_headers import as_mapping
from collector.receivers.startup import ReceiverStartError, open_sockets
from collector.receivers.turns import Turns
from collector.receivers.unix_socket import OwnSocket, clear_the_way, private_until_done
from collector.records import Signal

_SERVICES = {
    Signal.TRACES: "opentelemetry.proto.collector.trace.v1.TraceService",
    Signal.LOGS: "opentelemetry.proto.collector.logs.v1.LogsService",
    Signal.METRICS: "opentelemetry.proto.collector.metrics.v1.MetricsService",
}
_CODES = {code.value[0]: code for code in grpc.StatusCode}
_DETAILS_TRAILER = "grpc-status-details-bin"

_MIB = 1 << 20
# Messages are received by the library as a whole, and only then is known how large they are. So many at once.
_READING_AT_ONCE = 64
# A message may take this long, its turn included; this long alone if other calls wait for a turn.
_MESSAGE_S = 30.0
_MESSAGE_WHILE_OTHERS_WAIT_S = 5.0
_RETRY_AFTER_S = 1.0
# Messages in hand may hold this many times the limit for one of them.
_MESSAGES_AT_ONCE = 4
_STREAMS_PER_CONNECTION = 256
_METADATA_BYTES = 64 << 10  # as much as the head of a request over HTTP
# A connection that doesn't say what it wants within this time is closed.
_HANDSHAKE_S = 10.0

_Export = Callable[[object, grpc.aio.ServicerContext], Awaitable[bytes]]


class OtlpGrpcReceiver:
    """Listens on one address.

    Args:
        settings: of this protocol.
        intake: takes the requests.
        receiver: id of the receiver, such as `otlp/agents`.
    """

    def __init__(self, settings: GrpcSettings, intake: Intake, receiver: str) -> None:
        self._settings = settings
        self._intake = intake
        self._receiver = receiver
        self._bearer = BearerCheck(settings.auth)
        self._in_hand = InHand(_MESSAGES_AT_ONCE * settings.max_recv_msg_size_mib * _MIB)
        self._turns = Turns(_READING_AT_ONCE, _MESSAGE_WHILE_OTHERS_WAIT_S, _MESSAGE_S)
        self._server: grpc.aio.Server | None = None
        self._socket: OwnSocket | None = None
        self.port = 0
        """The port that is listened on, once started; 0 for a unix socket."""

    async def start(self) -> None:
        """Listen; raises StartError."""
        settings = self._settings
        server = grpc.aio.server(
            options=[
                ("grpc.max_receive_message_length", settings.max_recv_msg_size_mib * _MIB),
                ("grpc.max_concurrent_streams", _STREAMS_PER_CONNECTION),
                ("grpc.max_metadata_size", _METADATA_BYTES),
                ("grpc.absolute_max_metadata_size", _METADATA_BYTES),
                ("grpc.max_allowed_incoming_connections", allowed_connections()),
                ("grpc.server_handshake_timeout_ms", round(_HANDSHAKE_S * 1000)),
                ("grpc.so_reuseport", 0),  # or a second sidecar would silently take half of the connections
                # Senders may ping as often as they like: being cut off would cost them their telemetry.
                ("grpc.keepalive_permit_without_calls", 1),
                ("grpc.http2.min_ping_interval_without_data_ms", 1_000),
                ("grpc.http2.max_ping_strikes", 0),
                *_ends_of_connections(settings.keepalive.server_parameters),
            ]
        )
        server.add_generic_rpc_handlers(
            [
                grpc.method_handlers_generic_handler(
                    service, {"Export": grpc.stream_unary_rpc_method_handler(self._export(signal))}
                )
                for signal, service in _SERVICES.items()
            ]
        )
        self.port = self._listen(server)
        await server.start()
        self._server = server

    async def stop(self, grace_s: float) -> None:
        """Take no new requests, and wait at most `grace_s` seconds for those under way."""
        if self._server is not None:
            await self._server.stop(grace_s)
            self._server = None
        if self._socket is not None:
            self._socket.remove()
            self._socket = None

    def _listen(self, server: grpc.aio.Server) -> int:
        settings = self._settings
        key = f"receivers::{self._receiver}::protocols::grpc::endpoint"
        if settings.transport == "unix":
            path = Path(settings.endpoint)
            clear_the_way(path, key)  # the library would take it from whoever listens there
            with private_until_done():
                self._bind(server, f"unix:{path}", key)
            path.chmod(int(settings.socket_mode, 8))
            self._socket = OwnSocket(path)
            return 0
        # gRPC says only that it failed; binding first tells why.
        sockets = open_sockets(settings.endpoint, key)
        for opened in sockets:
            opened.close()
        host, port = split_host_port(settings.endpoint)
        if not host:
            host = "::" if socket.has_dualstack_ipv6() else "0.0.0.0"  # noqa: S104 - all interfaces were asked for
        return self._bind(server, f"[{host}]:{port}" if ":" in host else f"{host}:{port}", key)

    def _bind(self, server: grpc.aio.Server, address: str, key: str) -> int:
        settings = self._settings
        try:
            if settings.tls is None:
                bound = server.add_insecure_port(address)
            else:
                bound = server.add_secure_port(address, _credentials(settings.tls, self._receiver))
        except RuntimeError:
            bound = 0
        if not bound:
            raise ReceiverStartError(
                f"can't listen on {settings.endpoint}; check {key} and, with tls, that the certificate is in order"
            )
        return int(bound)

    def _export(self, signal: Signal) -> _Export:
        async def export(_: object, context: grpc.aio.ServicerContext) -> bytes:
            headers = as_mapping(
                (name, value) for name, value in context.invocation_metadata() if isinstance(value, str)
            )
            if not self._bearer.passes(headers):
                refusal = UNAUTHENTICATED
            else:
                try:
                    return success_protobuf(await self._take(signal, context, headers))
                except Exception as error:  # the outermost loop: every request gets an answer
                    refusal = refusal_for(error)
            trailers = ((_DETAILS_TRAILER, status_protobuf(refusal)),)
            await context.abort(_CODES[refusal.code], refusal.message, trailers)
            raise AssertionError("abort has raised")

        return export

    async def _take(self, signal: Signal, context: grpc.aio.ServicerContext, headers: Mapping[str, str]) -> Accepted:
        if not self._intake.accepts(signal):
            raise UndeclaredSignalError(f"no {signal} pipeline names {self._receiver} (service::pipelines::{signal})")
        with self._in_hand.request() as share:
            try:
                request = await self._turns.take(context.read)
            except TimeoutError:
                raise OverloadedError("the message arrived too slowly; try again", _RETRY_AFTER_S) from None
            if request is grpc.aio.EOF:
                # If it was too large, the library has answered already, and what is answered here isn't sent.
                raise MalformedRequestError("the call holds no message")
            share.add(len(request))
            share.require_room()
            return await self._intake.take(signal, request, receiver=self._receiver, headers=headers)


def _ends_of_connections(parameters: KeepaliveParameters) -> list[tuple[str, int]]:
    durations_s = {
        "grpc.max_connection_idle_ms": parameters.max_connection_idle,
        "grpc.max_connection_age_ms": parameters.max_connection_age,
        "grpc.max_connection_age_grace_ms": parameters.max_connection_age_grace,
        "grpc.keepalive_time_ms": parameters.time,
        "grpc.keepalive_timeout_ms": parameters.timeout,
        "grpc.http2.ping_timeout_ms": parameters.timeout,  # the one that ends connections on which nothing is under way
    }
    # Without a limit the library would stop to ping a connection on which nothing is sent.
    pings = [("grpc.http2.max_pings_without_data", 0)]
    return pings + [(name, max(1, round(value * 1000))) for name, value in durations_s.items() if value is not None]


def _credentials(tls: TlsSettings, receiver: str) -> grpc.ServerCredentials:
    def read(path: Path) -> bytes:
        try:
            return path.read_bytes()
        except OSError as error:
            raise ReceiverStartError(
                f"can't read {path}: {error.strerror}; correct receivers::{receiver}::protocols::grpc::tls"
            ) from None

    pair: Sequence[tuple[bytes, bytes]] = [(read(tls.key_file), read(tls.cert_file))]
    client_ca = read(tls.client_ca_file) if tls.client_ca_file else None
    return grpc.ssl_server_credentials(pair, root_certificates=client_ca, require_client_auth=client_ca is not None)
