"""The `health_check` extension: an HTTP endpoint that says whether the sidecar takes telemetry.

200 while it does, 503 while it starts and once it is stopping, with a small JSON body as the Collector's.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import ClassVar

from pydantic import Field, field_validator

from collector.config.settings import ComponentSettings, HostPort, split_host_port
from collector.http_endpoint import HttpEndpoint, Message, Receive, Send


class HealthCheckSettings(ComponentSettings):
    """Answers over HTTP whether the sidecar takes telemetry."""

    refused_keys: ClassVar[Mapping[str, str]] = {
        "tls": "the answer holds nothing secret; keep the endpoint on a local address",
        "check_collector_pipeline": "the Collector has given this key up; take it out",
        "response_body": "the body is fixed; take this key out",
    }

    endpoint: HostPort = Field(default="127.0.0.1:13133", description="Address to listen on.")
    path: str = Field(default="/", description="Path that is answered.")

    @field_validator("path")
    @classmethod
    def _begins_with_slash(cls, path: str) -> str:
        if not path.startswith("/"):
            raise ValueError("has to begin with /")
        return path


class HealthCheck:
    """The endpoint. Starts as not ready."""

    def __init__(self, settings: HealthCheckSettings) -> None:
        self._path = settings.path
        host, port = split_host_port(settings.endpoint)
        self._endpoint = HttpEndpoint("extensions::health_check", host, port, self._answer)
        self._ready = False
        self._since_s = time.monotonic()
        self._since = datetime.now(UTC)

    @property
    def port(self) -> int:
        """The port that is listened on."""
        return self._endpoint.port

    async def start(self) -> None:
        """Begin to answer. Raises AddressInUseError."""
        await self._endpoint.start()

    def set_ready(self, ready: bool) -> None:
        """Say from now on that telemetry is, or isn't, taken."""
        self._ready = ready

    async def stop(self) -> None:
        """Stop answering."""
        await self._endpoint.stop()

    async def _answer(self, scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        if scope["path"] != self._path:
            status, body = 404, {"status": "Not found"}
        elif self._ready:
            status = 200
            body = {
                "status": "Server available",
                "upSince": self._since.isoformat(),
                "uptime": f"{time.monotonic() - self._since_s:.3f}s",
            }
        else:
            status, body = 503, {"status": "Server not available"}
        headers = [(b"content-type", b"application/json")]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": json.dumps(body).encode()})
