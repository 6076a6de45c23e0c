"""The ways out for the sidecar's own metrics that are open now, and how they become those of another configuration."""

from __future__ import annotations

import asyncio

from collector.config import Config
from collector.config.telemetry_settings import MetricSettings
from collector.fingerprints import fingerprint
from collector.metric_readers import WaysOut, make_ways_out
from collector.start_error import StartError
from collector.telemetry import ScoreHistogram, Telemetry

_SWITCH_GRACE_S = 5.0


class OwnMetrics:
    """See the module's text.

    Args:
        settings: of `service::telemetry::metrics`.
        resource: attributes of the resource; they stay.
    """

    def __init__(self, settings: MetricSettings, resource: dict[str, str]) -> None:
        self._fingerprint = fingerprint(settings)
        self._scores = ScoreHistogram()
        self._out = make_ways_out(settings, self._scores)
        self.telemetry = Telemetry(self._out.readers, resource, self._scores)

    async def start(self) -> None:
        """Open endpoints that are asked, and begin to send. Raises StartError."""
        for endpoint in self._out.endpoints:
            await endpoint.start()
        for pushing in self._out.pushing:
            pushing.start()

    async def switch(self, config: Config) -> list[str]:
        """Let metrics out as another configuration says, and say what has changed.

        Raises:
            StartError: an endpoint can't be opened; then nothing is changed.
        """
        settings = config.telemetry.metrics
        if fingerprint(settings) == self._fingerprint:
            return []
        old, new = self._out, make_ways_out(settings, self._scores)
        for endpoint in old.endpoints:
            await endpoint.stop()
        try:
            for endpoint in new.endpoints:
                await endpoint.start()
        except StartError:
            for endpoint in new.endpoints:
                await endpoint.stop()
            for endpoint in old.endpoints:
                await endpoint.start()
            raise
        await _end(old, _SWITCH_GRACE_S)
        self.telemetry.replace_readers(old.readers, new.readers)
        for pushing in new.pushing:
            pushing.start()
        self._out = new
        self._fingerprint = fingerprint(settings)
        return ["service::telemetry::metrics was changed"]

    async def stop(self, timeout_s: float) -> None:
        """Close everything; what is to be sent is sent once more, within about `timeout_s` seconds."""
        for endpoint in self._out.endpoints:
            await endpoint.stop()
        await _end(self._out, timeout_s)
        self.telemetry.stop()


async def _end(out: WaysOut, within_s: float) -> None:
    await asyncio.gather(*(pushing.stop(within_s) for pushing in out.pushing))
