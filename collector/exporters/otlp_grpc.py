"""Sends OTLP over gRPC: raw bytes through a generic stub, and the answer's status as what to do next.

The connection is opened when it is needed and again after it was lost; starting never fails because a backend is
down.  A connection on which several requests in a row had no answer is given up: its other end may be gone without
a word, and the kernel would need a quarter of an hour to notice.  No retry and no batching happens in here.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal

import grpc
import grpc.aio
from pydantic import Field, SecretStr, field_validator, model_validator

from collector.config.settings import ComponentSettings, PositiveDuration, split_host_port
from collector.exporters.answers import MAX_ANSWER_BYTES, USER_AGENT, taken
from collector.exporters.connections import Connections
from collector.exporters.grpc_status import CERTIFICATE_WORDS, failure, retry_info_s
from collector.exporters.headers import is_sendable, sendable
from collector.exporters.sender import SendError, Taken
from collector.exporters.settings import QueuedExporterSettings, TlsSettings
from collector.records import Signal

METHODS = {
    Signal.TRACES: "/opentelemetry.proto.collector.trace.v1.TraceService/Export",
    Signal.LOGS: "/opentelemetry.proto.collector.logs.v1.LogsService/Export",
    Signal.METRICS: "/opentelemetry.proto.collector.metrics.v1.MetricsService/Export",
}
_HEADER_NAME = re.compile(r"[0-9a-z_.-]+")
# So many requests without an answer, one after the other, and the connection is opened anew.
DEAF_AFTER = 2
# A request was taken when its answer is what was too large, and only the words tell that from a refusal.
_OWN_LIMIT = re.compile(rf"\bCLIENT: Received message larger than max \(\d+ vs\. {MAX_ANSWER_BYTES}\)")


class KeepaliveSettings(ComponentSettings):
    """Pings on a connection that is quiet."""

    time: PositiveDuration = Field(default=30.0, description="Silence before a ping.")
    timeout: PositiveDuration = Field(default=10.0, description="Wait for its answer before the connection is closed.")
    permit_without_stream: bool = Field(default=False, description="Ping even when no request is under way.")


class OtlpGrpcSettings(QueuedExporterSettings):
    """Sends traces, logs and metrics to an OTLP/gRPC endpoint."""

    refused_keys: ClassVar[Mapping[str, str]] = {
        "auth": "authenticator extensions don't exist here; give an authorization header under headers",
        "balancer_name": "one connection is used; put a load balancer in front of several backends",
        "wait_for_ready": "attempts that fail are repeated by retry_on_failure; take this key out",
        "write_buffer_size": "the gRPC library sizes its buffers; take this key out",
        "read_buffer_size": "the gRPC library sizes its buffers; take this key out",
        "middlewares": "middleware extensions don't exist here; take this key out",
    }

    endpoint: str = Field(description="`host:port`; with `http://` in front plain text, with `https://` TLS.")
    tls: TlsSettings = Field(default=TlsSettings(), description="TLS towards the backend; on unless `insecure`.")
    headers: dict[str, SecretStr] = Field(default={}, description="Metadata of every request.")
    compression: Literal["gzip", "none"] = Field(
        default="none",
        description="Compression of requests. Off by default, unlike in the Collector: the next hop of a sidecar is "
        "usually near, and gzip costs several times as much CPU as everything else.",
    )
    timeout: PositiveDuration = Field(default=5.0, description="Limit of one attempt.")
    keepalive: KeepaliveSettings | None = Field(default=None, description="Pings; none by default.")

    @field_validator("endpoint")
    @classmethod
    def _has_port(cls, endpoint: str) -> str:
        if not endpoint.startswith(("unix:", "dns:")):
            address = re.sub(r"^https?://", "", endpoint).rstrip("/")
            if "/" in address or "@" in address:
                raise ValueError("has to be host:port; take out everything else, and put credentials under headers")
            if not split_host_port(address)[0]:
                raise ValueError("names no host; write host:port")
        return endpoint

    @field_validator("compression", mode="before")
    @classmethod
    def _possible_compression(cls, compression: object) -> object:
        if compression in ("snappy", "zstd", "deflate", "zlib", "lz4"):
            raise ValueError("the gRPC library can't compress like this; use gzip or none, or the otlp_http exporter")
        return "none" if compression == "" else compression

    @field_validator("headers")
    @classmethod
    def _possible_headers(cls, headers: dict[str, SecretStr]) -> dict[str, SecretStr]:
        for name, value in headers.items():
            if not _HEADER_NAME.fullmatch(name.lower()) or name.lower().startswith("grpc-"):
                raise ValueError(f"{name!r} can't be the name of gRPC metadata; use letters, digits, - _ and .")
            if not is_sendable(value.get_secret_value()):
                raise ValueError(f"the value of {name} is not printable ASCII; remove line breaks and other characters")
        return {name.lower(): value for name, value in headers.items()}

    @model_validator(mode="after")
    def _possible_tls(self) -> OtlpGrpcSettings:
        if self.tls.insecure_skip_verify:
            raise ValueError(
                "tls::insecure_skip_verify is beyond the gRPC library; give the certificate under tls::ca_file, "
                "or use the otlp_http exporter"
            )
        return self

    @property
    def target(self) -> str:
        """The address as the gRPC library wants it."""
        return re.sub(r"^https?://", "", self.endpoint).rstrip("/")

    @property
    def plain_text(self) -> bool:
        """Whether there is no TLS. The scheme of the endpoint wins."""
        if self.endpoint.startswith("https://"):
            return False
        return self.tls.insecure or self.endpoint.startswith("http://")


class OtlpGrpcSender:
    """One backend that speaks OTLP/gRPC.

    Args:
        name: id of the exporter, for messages.
        settings: its settings.
    """

    def __init__(self, name: str, settings: OtlpGrpcSettings) -> None:
        self._settings = settings
        self._connections = Connections(name, self._connect, _close)
        self._metadata = [(key, value.get_secret_value()) for key, value in settings.headers.items()]
        self._compression = grpc.Compression.Gzip if settings.compression == "gzip" else None

    async def start(self) -> None:
        """Prepare the channel; it connects with the first request."""
        await self._connections.start()

    async def send(self, signal: Signal, request: bytes, headers: Mapping[str, str]) -> Taken:
        """One attempt; see `collector.exporters.sender.Sender`."""
        metadata = [*self._metadata, *sendable(headers).items()]
        async with self._connections.use() as connection:
            try:
                answer: bytes = await connection.calls[signal](
                    request, timeout=self._settings.timeout, metadata=metadata, compression=self._compression
                )
            except grpc.aio.AioRpcError as error:
                self._watch(connection, error)
                if error.code() is grpc.StatusCode.RESOURCE_EXHAUSTED and _OWN_LIMIT.search(error.details() or ""):
                    return Taken()
                raise self._failure(signal, error) from None
            connection.unanswered = 0
        return taken(answer)

    async def stop(self) -> None:
        """Close the connection."""
        await self._connections.stop()

    async def _connect(self) -> _Connection:
        settings = self._settings
        if settings.plain_text:
            channel = grpc.aio.insecure_channel(settings.target, options=_options(settings))
        else:
            # Reading certificates blocks.
            credentials = await asyncio.to_thread(_credentials, settings.tls)
            channel = grpc.aio.secure_channel(settings.target, credentials, options=_options(settings))
        return _Connection(channel, {signal: channel.unary_unary(method) for signal, method in METHODS.items()})

    def _watch(self, connection: _Connection, error: grpc.aio.AioRpcError) -> None:
        unanswered = error.code() is grpc.StatusCode.DEADLINE_EXCEEDED
        connection.unanswered = connection.unanswered + 1 if unanswered else 0
        if connection.unanswered >= DEAF_AFTER or CERTIFICATE_WORDS in (error.details() or ""):
            self._connections.renew(connection)

    def _failure(self, signal: Signal, error: grpc.aio.AioRpcError) -> SendError:
        retry_after_s = retry_info_s((str(key), value) for key, value in error.trailing_metadata() or ())
        return failure(self._settings.target, signal, error.code(), error.details() or "", retry_after_s)


@dataclass(slots=True)
class _Connection:
    """A channel, and how many of its requests had no answer since one had."""

    channel: grpc.aio.Channel
    calls: Mapping[Signal, grpc.aio.UnaryUnaryMultiCallable]
    unanswered: int = 0


async def _close(connection: _Connection) -> None:
    await connection.channel.close()


def _options(settings: OtlpGrpcSettings) -> list[tuple[str, int | str]]:
    options: list[tuple[str, int | str]] = [
        ("grpc.primary_user_agent", USER_AGENT),
        ("grpc.max_send_message_length", -1),
        ("grpc.max_receive_message_length", MAX_ANSWER_BYTES),
        ("grpc.enable_retries", 0),
        ("grpc.enable_http_proxy", 0),
        # Destinations share nothing, not even a connection to the same host.
        ("grpc.use_local_subchannel_pool", 1),
        ("grpc.initial_reconnect_backoff_ms", 500),
        ("grpc.min_reconnect_backoff_ms", 500),
        ("grpc.max_reconnect_backoff_ms", 5000),
        # A name is looked up again when its address can't be reached; by default at most twice a minute.
        ("grpc.dns_min_time_between_resolutions_ms", 1000),
    ]
    if settings.tls.server_name_override:
        options.append(("grpc.ssl_target_name_override", settings.tls.server_name_override))
    if settings.keepalive is not None:
        options += [
            ("grpc.keepalive_time_ms", int(settings.keepalive.time * 1000)),
            ("grpc.keepalive_timeout_ms", int(settings.keepalive.timeout * 1000)),
            ("grpc.keepalive_permit_without_calls", int(settings.keepalive.permit_without_stream)),
        ]
    return options


def _credentials(tls: TlsSettings) -> grpc.ChannelCredentials:
    read = {name: path.read_bytes() if path else None for name, path in vars(tls).items() if name.endswith("_file")}
    return grpc.ssl_channel_credentials(
        root_certificates=read["ca_file"], private_key=read["key_file"], certificate_chain=read["cert_file"]
    )
