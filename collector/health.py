"""The `health_check` extension: an HTTP endpoint for whoever starts, restarts or feeds the sidecar.

    /live    200 as long as the process works at all: for a liveness probe, which kills what fails it. Depends on no
             backend, judge or disk, and is there before anything that may take long at a start.
    /ready   200 while telemetry is taken, 503 while the sidecar starts and once it is stopping; with
             `backlog_threshold` also while so much waits that requests will soon be refused: for a readiness probe
             or a load balancer in front of several gateways.
    `path`   the same without the backlog.

The body is a small JSON object as the Collector's.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import ClassVar

from pydantic import Field, field_validator

from collector.config import Config
from collector.config.settings import ComponentSettings, HostPort, split_host_port
from collector.http_endpoint import HttpEndpoint, Message, Receive, Send, on_address
from collector.start_error import StartError

_NAME = "extensions::health_check"
_LIVE = "/live"
_READY = "/ready"
_HYSTERESIS_POINTS = 10.0


class HealthCheckSettings(ComponentSettings):
    """Answers over HTTP whether the sidecar takes telemetry."""

    refused_keys: ClassVar[Mapping[str, str]] = {
        "tls": "the answer holds nothing secret; keep the endpoint on a local address",
        "check_collector_pipeline": "the Collector has given this key up; take it out",
        "response_body": "the body is fixed; take this key out",
    }

    endpoint: HostPort = Field(default="127.0.0.1:13133", description="Address to listen on.")
    path: str = Field(
        default="/", description="Path that says whether telemetry is taken. `/live` and `/ready` are always there."
    )
    backlog_threshold: float | None = Field(
        default=None,
        gt=0,
        lt=100,
        description="Percentage of `limit_mib`, of a queue or of the journal from which on `/ready` is 503, before "
        "requests are refused; 200 again ten points below. For gateways behind a load balancer: leave it out where an "
        "agent has no other sidecar to send to.",
    )

    @field_validator("path")
    @classmethod
    def _begins_with_slash(cls, path: str) -> str:
        if not path.startswith("/"):
            raise ValueError("has to begin with /")
        return path


class HealthCheck:
    """The endpoint. Starts as not ready.

    Args:
        settings: of the extension.
        is_crowded: whether something that makes receivers refuse is as full as this share of its limit.
    """

    def __init__(self, settings: HealthCheckSettings, is_crowded: Callable[[float], bool] = lambda _: False) -> None:
        self._path = settings.path
        self._threshold = settings.backlog_threshold
        self._is_crowded = is_crowded
        self._was_crowded = False
        host, port = split_host_port(settings.endpoint)
        self._endpoint = HttpEndpoint(_NAME, on_address(_NAME, host, port), self._answer)
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
        status, body = self._status(scope["path"])
        headers = [(b"content-type", b"application/json")]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": json.dumps(body).encode()})

    def _status(self, path: str) -> tuple[int, dict[str, str]]:
        if path not in (self._path, _LIVE, _READY):
            return 404, {"status": "Not found"}
        if path != _LIVE and not self._ready:
            return 503, {"status": "Server not available"}
        if path == _READY and self._has_backlog():
            return 503, {"status": "Server not available", "reason": "backlog_threshold is reached"}
        return 200, {
            "status": "Server available",
            "upSince": self._since.isoformat(),
            "uptime": f"{time.monotonic() - self._since_s:.3f}s",
        }

    def _has_backlog(self) -> bool:
        if self._threshold is None:
            return False
        # So that it doesn't change with every request when it is at the threshold.
        points = self._threshold - _HYSTERESIS_POINTS if self._was_crowded else self._threshold
        self._was_crowded = self._is_crowded(max(points, 1.0) / 100)
        return self._was_crowded


class Health:
    """The health check that there is now, if any, and how it becomes that of another configuration.

    Args:
        config: says whether and where there is one.
        is_crowded: see `HealthCheck`.
    """

    def __init__(self, config: Config, is_crowded: Callable[[float], bool]) -> None:
        self._is_crowded = is_crowded
        self._settings = _settings_of(config)
        self._check = self._make()
        self._ready = False

    def _make(self) -> HealthCheck | None:
        return None if self._settings is None else HealthCheck(self._settings, self._is_crowded)

    async def start(self) -> None:
        """Begin to answer. Raises StartError."""
        if self._check is not None:
            self._check.set_ready(self._ready)
            await self._check.start()

    def set_ready(self, ready: bool) -> None:
        """Say from now on that telemetry is, or isn't, taken."""
        self._ready = ready
        if self._check is not None:
            self._check.set_ready(ready)

    async def switch(self, config: Config) -> list[str]:
        """Become the health check of another configuration, and say what has changed.

        Raises:
            StartError: the address can't be listened on; then nothing is changed.
        """
        before, settings = self._settings, _settings_of(config)
        if settings == before:
            return []
        await self.stop()
        self._settings = settings
        self._check = self._make()
        try:
            await self.start()
        except StartError:
            self._settings = before
            self._check = self._make()
            await self.start()
            raise
        return ["extensions::health_check was changed"]

    async def stop(self) -> None:
        """Stop answering."""
        if self._check is not None:
            await self._check.stop()


def _settings_of(config: Config) -> HealthCheckSettings | None:
    component = config.extension("health_check")
    return None if component is None else component.settings_as(HealthCheckSettings)
