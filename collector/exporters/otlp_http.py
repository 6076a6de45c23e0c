"""Sends OTLP over HTTP/1.1 as protobuf, and turns status codes into what to do next.

Connections are kept and reused; proxies are used only when configured, whatever the environment says.  No retry and
no batching happens in here.
"""

from __future__ import annotations

import asyncio
import re
import zlib
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import ClassVar, Literal

import cramjam
import httpx2
from pydantic import Field, SecretStr, field_validator, model_validator

from collector.config.settings import PositiveDuration
from collector.exporters.answers import USER_AGENT, clean, rejected_items
from collector.exporters.headers import is_sendable, sendable
from collector.exporters.sender import (
    MisconfiguredError,
    RejectedDataError,
    RetryableError,
    SendError,
    TooLargeError,
    UnsupportedSignalError,
)
from collector.exporters.settings import QueuedExporterSettings, TlsSettings
from collector.records import Signal

_PATHS = {Signal.TRACES: "/v1/traces", Signal.LOGS: "/v1/logs", Signal.METRICS: "/v1/metrics"}
_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_OURS = ("content-type", "content-length", "content-encoding", "transfer-encoding", "host")
_MAX_ANSWER_BYTES = 4 << 20
_IDLE_CONNECTION_S = 30.0
_RETRYABLE = (408, 425, 429)
_NOT_THERE = (404, 405, 501)


class OtlpHttpSettings(QueuedExporterSettings):
    """Sends traces, logs and metrics to an OTLP/HTTP endpoint, encoded as protobuf."""

    refused_keys: ClassVar[Mapping[str, str]] = {
        "auth": "authenticator extensions don't exist here; give an authorization header under headers",
        "compression_params": "the level is fixed to the fastest; take this key out",
        "cookies": "cookies are never kept; take this key out",
        "middlewares": "middleware extensions don't exist here; take this key out",
        "read_buffer_size": "the HTTP library sizes its buffers; take this key out",
        "write_buffer_size": "the HTTP library sizes its buffers; take this key out",
        "max_idle_conns": "as many connections are kept as sending_queue::num_consumers; take this key out",
        "max_idle_conns_per_host": "as many connections are kept as sending_queue::num_consumers; take this key out",
        "max_conns_per_host": "sending_queue::num_consumers limits the connections",
        "idle_conn_timeout": "idle connections are closed after 30s; take this key out",
        "disable_keep_alives": "connections are always reused; take this key out",
    }

    endpoint: str | None = Field(default=None, description="Base URL; `/v1/traces` and so on are added to it.")
    traces_endpoint: str | None = Field(default=None, description="Whole URL for traces, instead of `endpoint`.")
    logs_endpoint: str | None = Field(default=None, description="Whole URL for logs.")
    metrics_endpoint: str | None = Field(default=None, description="Whole URL for metrics.")
    tls: TlsSettings = Field(default=TlsSettings(), description="TLS for `https://` URLs.")
    headers: dict[str, SecretStr] = Field(default={}, description="Headers of every request.")
    compression: Literal["gzip", "zstd", "none"] = Field(
        default="none",
        description="Compression of requests. Off by default, unlike in the Collector: the next hop of a sidecar is "
        "usually near, and gzip costs several times as much CPU as everything else.",
    )
    timeout: PositiveDuration = Field(default=30.0, description="Limit of one attempt.")
    encoding: Literal["proto"] = Field(default="proto", description="Encoding of requests.")
    proxy_url: SecretStr | None = Field(default=None, description="HTTP proxy to send through.")

    @field_validator("endpoint", "traces_endpoint", "logs_endpoint", "metrics_endpoint")
    @classmethod
    def _is_url(cls, url: str | None) -> str | None:
        if url is not None:
            try:
                parsed = httpx2.URL(url)
            except httpx2.InvalidURL:
                raise ValueError("not a URL; write http://host:4318 or https://host") from None
            if parsed.scheme not in ("http", "https") or not parsed.host:
                raise ValueError("not a URL; write http://host:4318 or https://host")
            if parsed.userinfo:
                raise ValueError("holds credentials; put them into an authorization header under headers")
        return url

    @field_validator("compression", mode="before")
    @classmethod
    def _possible_compression(cls, compression: object) -> object:
        if compression in ("snappy", "x-snappy-framed", "deflate", "zlib", "lz4"):
            raise ValueError("OTLP backends need not understand this; use gzip, zstd or none")
        return "none" if compression == "" else compression

    @field_validator("encoding", mode="before")
    @classmethod
    def _possible_encoding(cls, encoding: object) -> object:
        if encoding == "json":
            raise ValueError("spans are sent on byte for byte, which only protobuf can; use proto")
        return encoding

    @field_validator("headers")
    @classmethod
    def _possible_headers(cls, headers: dict[str, SecretStr]) -> dict[str, SecretStr]:
        for name, value in headers.items():
            if not _HEADER_NAME.fullmatch(name):
                raise ValueError(f"{name!r} can't be the name of a header; use letters, digits and -")
            if name.lower() in _OURS:
                raise ValueError(f"{name} is set by the exporter; take it out")
            if not is_sendable(value.get_secret_value()):
                raise ValueError(f"the value of {name} is not printable ASCII; remove line breaks and other characters")
        return headers

    @field_validator("proxy_url")
    @classmethod
    def _is_proxy(cls, url: SecretStr | None) -> SecretStr | None:
        if url is not None and not url.get_secret_value().startswith(("http://", "https://")):
            raise ValueError("not the URL of a proxy; write http://host:port")
        return url

    @model_validator(mode="after")
    def _has_endpoint(self) -> OtlpHttpSettings:
        if self.endpoint is None and self.traces_endpoint is None:
            raise ValueError("endpoint is missing; give the base URL, such as http://localhost:4318")
        return self

    def url(self, signal: Signal) -> str | None:
        """Where a signal goes; None when no URL is configured for it."""
        own: str | None = getattr(self, f"{signal.value}_endpoint")
        return own or (self.endpoint.rstrip("/") + _PATHS[signal] if self.endpoint else None)


class OtlpHttpSender:
    """One backend that speaks OTLP/HTTP.

    Args:
        name: id of the exporter, for messages.
        settings: its settings.
    """

    def __init__(self, name: str, settings: OtlpHttpSettings) -> None:
        self._name = name
        self._settings = settings
        self._client: httpx2.AsyncClient | None = None
        self._extensions = (
            {"sni_hostname": settings.tls.server_name_override} if settings.tls.server_name_override else {}
        )

    async def start(self) -> None:
        """Prepare the client; it connects with the first request."""
        settings = self._settings
        connections = settings.sending_queue.num_consumers
        headers = {
            "user-agent": USER_AGENT,
            **{name: value.get_secret_value() for name, value in settings.headers.items()},
            "content-type": "application/x-protobuf",
            # Answers are short, and one that can't be unpacked would hide what its status says.
            "accept-encoding": "identity",
        }
        if settings.compression != "none":
            headers["content-encoding"] = settings.compression
        self._client = httpx2.AsyncClient(
            headers=headers,
            # Reading certificates blocks, and happens once.
            verify=await asyncio.to_thread(settings.tls.context),
            proxy=settings.proxy_url.get_secret_value() if settings.proxy_url else None,
            trust_env=False,
            timeout=None,
            limits=httpx2.Limits(
                max_connections=connections,
                max_keepalive_connections=connections,
                keepalive_expiry=_IDLE_CONNECTION_S,
            ),
        )

    async def send(self, signal: Signal, request: bytes, headers: Mapping[str, str]) -> int:
        """One attempt; see `collector.exporters.sender.Sender`."""
        url = self._settings.url(signal)
        if url is None or self._client is None:
            raise UnsupportedSignalError(f"no endpoint is configured for {signal} ({signal}_endpoint)")
        body = await self._compress(request)
        try:
            async with (
                asyncio.timeout(self._settings.timeout),
                self._client.stream(
                    "POST", url, content=body, headers=sendable(headers), extensions=dict(self._extensions)
                ) as response,
            ):
                answer = await _read_limited(response)
        except TimeoutError:
            raise RetryableError(f"{url} didn't answer within the timeout") from None
        except httpx2.TransportError as error:
            words = clean(str(error)) or type(error).__name__
            if "CERTIFICATE_VERIFY_FAILED" in words:
                raise MisconfiguredError(f"{url}: {words}") from None
            raise RetryableError(f"{url} can't be reached: {words}") from None
        if response.is_success:
            return rejected_items(answer) if "protobuf" in response.headers.get("content-type", "") else 0
        raise _failure(signal, url, response)

    async def stop(self) -> None:
        """Close all connections."""
        if self._client is not None:
            await self._client.aclose()

    async def _compress(self, request: bytes) -> bytes:
        if self._settings.compression == "gzip":
            return await asyncio.to_thread(zlib.compress, request, 1, 31)
        if self._settings.compression == "zstd":
            return bytes(await asyncio.to_thread(cramjam.zstd.compress, request, level=1))
        return request


async def _read_limited(response: httpx2.Response) -> bytes:
    answer = b""
    async for part in response.aiter_raw():
        answer += part
        if len(answer) > _MAX_ANSWER_BYTES:
            return b""
    return answer


def _failure(signal: Signal, url: str, response: httpx2.Response) -> SendError:
    status = response.status_code
    said = f"{url} answered {status}"
    if status == 413:
        return TooLargeError(f"{said}: the request is too large")
    if status in (400, 422):
        return RejectedDataError(said)
    if status in _NOT_THERE and signal is not Signal.TRACES:
        return UnsupportedSignalError(f"{said} for {signal}")
    if status in _RETRYABLE or (status >= 500 and status not in _NOT_THERE):
        return RetryableError(said, _retry_after_s(response.headers.get("retry-after"), datetime.now(UTC)))
    return MisconfiguredError(said)


def _retry_after_s(header: str | None, now: datetime) -> float | None:
    """Seconds of a Retry-After header, which holds seconds or a date; None when it holds neither."""
    if header is None:
        return None
    if header.strip().isascii() and header.strip().isdigit():
        return float(header)
    try:
        when = parsedate_to_datetime(header)
    except (ValueError, OverflowError):
        return None
    if when.tzinfo is None:
        when = when.replace(tzinfo=UTC)
    return max((when - now).total_seconds(), 0.0)
