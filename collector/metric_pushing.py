"""Sends own metrics in regular intervals: collected on the event loop, sent by a thread.

The SDK's own periodic reader collects in a thread, while the event loop counts; what it reads then belongs to no one
moment, and sums that have to be equal are not.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import threading
from collections.abc import Callable

from opentelemetry.sdk.metrics import MetricsTimeoutError
from opentelemetry.sdk.metrics.export import InMemoryMetricReader, MetricExporter, MetricsData

from collector.logs import RateLimited
from collector.telemetry.scores import ScoreHistogram

_log = RateLimited(logging.getLogger(__name__))


class Pushing:
    """See the module's text.

    Args:
        exporter: sends; blocks meanwhile, and says in the log what fails.
        interval_s: between two times.
        timeout_s: of one time.
        scores: what is told beside what the SDK collects.

    Attributes:
        reader: has to be given to `Telemetry`.
    """

    def __init__(self, exporter: MetricExporter, interval_s: float, timeout_s: float, scores: ScoreHistogram) -> None:
        self.reader = InMemoryMetricReader()
        self._exporter = exporter
        self._interval_s = interval_s
        self._timeout_s = timeout_s
        self._scores = scores
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin."""
        self._task = asyncio.create_task(self._keep_sending(), name="own metrics")

    async def stop(self, within_s: float) -> None:
        """Send once more, and stop; whatever is still under way after that time is left to itself."""
        if self._task is not None:
            self._task.cancel()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(within_s):
                await self._send()
        # Ends its waits between attempts; it may block for as long as one of them takes.
        threading.Thread(target=self._exporter.shutdown, daemon=True).start()

    async def _keep_sending(self) -> None:
        while True:
            await asyncio.sleep(self._interval_s)
            await self._send()

    async def _send(self) -> None:
        try:
            collected = self.reader.get_metrics_data()
        except MetricsTimeoutError:
            return  # The SDK takes the time from the wall clock, and that has just jumped.
        if collected is None:
            return
        data = self._scores.joined_to(collected)
        loop, sent = asyncio.get_running_loop(), asyncio.Event()

        def tell() -> None:
            # Nobody waits any more if the loop has ended.
            with contextlib.suppress(RuntimeError):
                loop.call_soon_threadsafe(sent.set)

        threading.Thread(target=self._export, args=(data, tell), name="own metrics", daemon=True).start()
        await sent.wait()

    def _export(self, data: MetricsData, tell: Callable[[], None]) -> None:
        try:
            self._exporter.export(data, self._timeout_s * 1000)
        except Exception as error:
            _log.warning("own metrics were not sent: %s", type(error).__name__)
        finally:
            tell()
