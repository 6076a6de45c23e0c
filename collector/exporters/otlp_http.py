"""Sends OTLP over HTTP/1.1 as protobuf, and turns status codes into what to do next.

Connections are kept and reused; proxies are used only when configured, whatever the environment says.  Once there is a
status, it counts: an answer whose body never ends, or can't be read, was an answer.  No retry and no batching happens
in here, but for a request that met a kept connection in the moment in which the server closed it.
"""

from __future__ import annotations

import asyncio
import re
import zlib
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import ClassVar, Literal

import cramjam
import httpx2
from pydantic import Field, SecretStr, field_validator, model_validator

from collector.config.settings import PositiveDuration
from collector.exporters.answers import MAX_ANSWER_BYTES, USER_AGENT, clean, taken, taken_by_json
from collector.exporters.connections import Connections
from collector.exporters.headers import is_sendable, sendable
from collector.exporters.http_status import failure, retry_after_s
from collector.exporters.sender import MisconfiguredError, RetryableError, Taken, UnsupportedSignalError
from collector.exporters.settings import QueuedExporterSettings, TlsSettings
from collector.records import Signal

_PATHS = {Signal.TRACES: "/v1/traces", Signal.LOGS: "/v1/logs", Signal.METRICS: "/v1/metrics"}
_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_OURS = ("content-type", "content-length", "content-encoding", "transfer-encoding", "host")
_IDLE_CONNECTION_S = 30.0
# How the HTTP library begins to tell of an answer that doesn't look like one.
_NOT_HTTP = ("illegal status line", "illegal request line")
# For the rest of an answer after its status.
BODY_WAIT_S = 5.0


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
        "disable_keep_alives": "connections are reused, for five minutes at most; take this key out",
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
        self._settings = settings
        self._connections = Connections(name, self._open, httpx2.AsyncClient.aclose)
        self._extensions = (
            {"sni_hostname": settings.tls.server_name_override} if settings.tls.server_name_override else {}
        )

    async def start(self) -> None:
        """Prepare the client; it connects with the first request."""
        await self._connections.start()

    async def send(self, signal: Signal, request: bytes, headers: Mapping[str, str]) -> Taken:
        """One attempt; see `collector.exporters.sender.Sender`."""
        url = self._settings.url(signal)
        if url is None:
            raise UnsupportedSignalError(f"no endpoint is configured for {signal} ({signal}_endpoint)")
        body = await self._compress(request)
        async with self._connections.use() as client:
            try:
                answer = await self._ask(client, url, body, sendable(headers))
            except TimeoutError:
                raise RetryableError(f"{url} didn't answer within the timeout") from None
            except httpx2.TransportError as error:
                words = clean(str(error)) or type(error).__name__
                if "CERTIFICATE_VERIFY_FAILED" in words:
                    # The file with the certificates to trust may have been replaced.
                    self._connections.renew(client)
                    raise MisconfiguredError(f"{url}: {words}") from None
                if words.startswith(_NOT_HTTP):
                    raise MisconfiguredError(
                        f"{url} answered something that isn't HTTP/1.1; if it is the port for gRPC, give the other one"
                    ) from None
                raise RetryableError(f"{url} can't be reached: {words}") from None
        return _judge(signal, url, answer)

    async def stop(self) -> None:
        """Close all connections."""
        await self._connections.stop()

    async def _open(self) -> httpx2.AsyncClient:
        settings = self._settings
        connections = settings.sending_queue.num_consumers
        headers = {
            "user-agent": USER_AGENT,
            **{name: value.get_secret_value() for name, value in settings.headers.items()},
            "content-type": "application/x-protobuf",
            # Answers are short.
            "accept-encoding": "identity",
        }
        if settings.compression != "none":
            headers["content-encoding"] = settings.compression
        return httpx2.AsyncClient(
            headers=headers,
            # Reading certificates blocks.
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

    async def _ask(self, client: httpx2.AsyncClient, url: str, body: bytes, headers: Mapping[str, str]) -> _Answer:
        """The answer to a request, as far as it comes. Raises TimeoutError and httpx2.TransportError."""
        answer: _Answer | None = None
        connects = 0

        async def note(event: str, _: object) -> None:
            nonlocal connects
            connects += event.startswith("connection.connect_") and event.endswith(".started")

        async def ask() -> None:
            nonlocal answer
            extensions = {**self._extensions, "trace": note}
            async with client.stream("POST", url, content=body, headers=headers, extensions=extensions) as response:
                answer = _Answer(response)
                limit.reschedule(asyncio.get_running_loop().time() + BODY_WAIT_S)
                await answer.read()

        try:
            async with asyncio.timeout(self._settings.timeout) as limit:
                try:
                    await ask()
                except (httpx2.ReadError, httpx2.WriteError, httpx2.RemoteProtocolError):
                    if answer is not None or connects:
                        raise
                    await ask()
        except (TimeoutError, httpx2.TransportError):
            if answer is None:
                raise
        assert answer is not None
        return answer

    async def _compress(self, request: bytes) -> bytes:
        if self._settings.compression == "gzip":
            return await asyncio.to_thread(zlib.compress, request, 1, 31)
        if self._settings.compression == "zstd":
            return bytes(await asyncio.to_thread(cramjam.zstd.compress, request, level=1))
        return request


class _Answer:
    """What came of an answer: the head, and the body if it came whole and isn't too large."""

    def __init__(self, response: httpx2.Response) -> None:
        self._response = response
        self.status = response.status_code
        self.headers = response.headers
        self.body = b""

    async def read(self) -> None:
        parts, size_bytes = list[bytes](), 0
        async for part in self._response.aiter_raw():
            parts.append(part)
            size_bytes += len(part)
            if size_bytes > MAX_ANSWER_BYTES:
                return
        self.body = self._unpacked(b"".join(parts))

    def _unpacked(self, body: bytes) -> bytes:
        """Some servers compress whatever they are asked for."""
        if self.headers.get("content-encoding", "identity").strip().lower() in ("", "identity"):
            return body
        try:
            return zlib.decompressobj(32 + zlib.MAX_WBITS).decompress(body, MAX_ANSWER_BYTES)
        except zlib.error:
            return b""


def _judge(signal: Signal, url: str, answer: _Answer) -> Taken:
    headers, kind = answer.headers, answer.headers.get("content-type", "").lower()
    if 200 <= answer.status < 300:
        if "html" in kind:
            # The page of a login, a portal or a user interface: nothing took the telemetry.
            raise MisconfiguredError(f"{url} answered with a web page; give the URL of an OTLP endpoint")
        if "json" in kind:
            return taken_by_json(answer.body)
        return taken(answer.body) if "protobuf" in kind else Taken()
    delay_s = retry_after_s(headers.get("retry-after"), headers.get("date"), datetime.now(UTC))
    words = answer.body.decode(errors="replace")
    raise failure(url, signal, answer.status, delay_s, headers.get("location", ""), words)
