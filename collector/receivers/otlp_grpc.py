"""OTLP over gRPC: the three Export methods, their requests taken as raw bytes.

What gRPC itself answers: RESOURCE_EXHAUSTED to messages over the limit (after decompression), UNIMPLEMENTED to unknown
methods and to compressions other than gzip and deflate. There is no limit on calls at a time: the library would refuse
further ones without telling senders to try again.
"""

from __future__ import annotations

import socket
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

import grpc

from collector.config.settings import split_host_port
from collector.intake import Intake
from collector.receivers.answers import UNAUTHENTICATED, refusal_for, status_protobuf, success_protobuf
from collector.receivers.bearer import BearerCheck
from collector.receivers.otlp_settings import GrpcSettings, TlsSettings
from collector.receivers.startup import ReceiverStartError, open_sockets
from collector.records import Signal

_SERVICES = {
    Signal.TRACES: "opentelemetry.proto.collector.trace.v1.TraceService",
    Signal.LOGS: "opentelemetry.proto.collector.logs.v1.LogsService",
    Signal.METRICS: "opentelemetry.proto.collector.metrics.v1.MetricsService",
}
_CODES = {code.value[0]: code for code in grpc.StatusCode}
_DETAILS_TRAILER = "grpc-status-details-bin"

_Export = Callable[[bytes, grpc.aio.ServicerContext], Awaitable[bytes]]


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
        self._server: grpc.aio.Server | None = None
        self.port = 0
        """The port that is listened on, once started."""

    async def start(self) -> None:
        """Listen; raises ReceiverStartError."""
        settings = self._settings
        server = grpc.aio.server(
            options=[
                ("grpc.max_receive_message_length", settings.max_recv_msg_size_mib << 20),
                ("grpc.so_reuseport", 0),  # or a second sidecar would silently take half of the connections
                # Senders may ping as often as they like: being cut off would cost them their telemetry.
                ("grpc.keepalive_permit_without_calls", 1),
                ("grpc.http2.min_ping_interval_without_data_ms", 1_000),
                ("grpc.http2.max_ping_strikes", 0),
            ]
        )
        server.add_generic_rpc_handlers(
            [
                grpc.method_handlers_generic_handler(
                    service, {"Export": grpc.unary_unary_rpc_method_handler(self._export(signal))}
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

    def _listen(self, server: grpc.aio.Server) -> int:
        settings = self._settings
        key = f"receivers::{self._receiver}::protocols::grpc::endpoint"
        # gRPC says only that it failed; binding first tells why.
        sockets = open_sockets(settings.endpoint, key)
        for opened in sockets:
            opened.close()
        host, port = split_host_port(settings.endpoint)
        if not host:
            host = "::" if socket.has_dualstack_ipv6() else "0.0.0.0"  # noqa: S104 - all interfaces were asked for
        address = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
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
        async def export(request: bytes, context: grpc.aio.ServicerContext) -> bytes:
            headers = {name: value for name, value in context.invocation_metadata() if isinstance(value, str)}
            if not self._bearer.passes(headers):
                refusal = UNAUTHENTICATED
            else:
                try:
                    accepted = await self._intake.take(signal, request, receiver=self._receiver, headers=headers)
                    return success_protobuf(accepted)
                except Exception as error:  # the outermost loop: every request gets an answer
                    refusal = refusal_for(error)
            # The error that ends the call keeps this frame until the garbage collector comes. The request goes now.
            del request
            trailers = ((_DETAILS_TRAILER, status_protobuf(refusal)),)
            await context.abort(_CODES[refusal.code], refusal.message, trailers)
            raise AssertionError("abort has raised")

        return export


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
