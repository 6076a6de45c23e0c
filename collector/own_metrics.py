"""The ways out for the sidecar's own metrics that are open now, and how they become those of another configuration."""

from __future__ import annotations

import asyncio

from collector.config import Config
from collector.config.telemetry_settings import MetricSettings
from collector.fingerprints import fingerprint
from collector.metric_readers import make_readers
from collector.start_error import StartError
from collector.telemetry import Telemetry


class OwnMetrics:
    """See the module's text.

    Args:
        settings: of `service::telemetry::metrics`.
        resource: attributes of the resource; they stay.
    """

    def __init__(self, settings: MetricSettings, resource: dict[str, str]) -> None:
        self._fingerprint = fingerprint(settings)
        self._readers, self._endpoints = make_readers(settings)
        self.telemetry = Telemetry(self._readers, resource)

    async def start(self) -> None:
        """Open endpoints that are asked. Raises StartError."""
        for endpoint in self._endpoints:
            await endpoint.start()

    async def switch(self, config: Config) -> list[str]:
        """Let metrics out as another configuration says, and say what has changed.

        Raises:
            StartError: an endpoint can't be opened; then nothing is changed.
        """
        settings = config.telemetry.metrics
        if fingerprint(settings) == self._fingerprint:
            return []
        readers, endpoints = make_readers(settings)
        for endpoint in self._endpoints:
            await endpoint.stop()
        try:
            for endpoint in endpoints:
                await endpoint.start()
        except StartError:
            for endpoint in endpoints:
                await endpoint.stop()
            await self.start()
            raise
        await asyncio.to_thread(self.telemetry.replace_readers, self._readers, readers)
        self._readers, self._endpoints = readers, endpoints
        self._fingerprint = fingerprint(settings)
        return ["service::telemetry::metrics was changed"]

    async def stop(self, timeout_s: float) -> None:
        """Close everything; what periodic readers still have is sent, within about `timeout_s` seconds."""
        for endpoint in self._endpoints:
            await endpoint.stop()
        await asyncio.to_thread(self.telemetry.stop, timeout_s)
