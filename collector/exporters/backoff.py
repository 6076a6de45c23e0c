"""How long to wait before the next attempt: exponential, with jitter, as in the Collector."""

from __future__ import annotations

from collections.abc import Callable

from collector.exporters.settings import RetrySettings


class Backoff:
    """The waits after the failures of one request.

    Args:
        settings: intervals and growth.
        random: a number from 0 to 1 at every call.
    """

    def __init__(self, settings: RetrySettings, random: Callable[[], float]) -> None:
        self._settings = settings
        self._random = random
        self._interval_s = settings.initial_interval

    def next_s(self) -> float:
        """The wait after one more failure, in seconds."""
        spread = self._settings.randomization_factor
        wait_s = self._interval_s * (1 - spread + 2 * spread * self._random())
        self._interval_s = min(self._interval_s * self._settings.multiplier, self._settings.max_interval)
        return min(wait_s, self._settings.max_interval * (1 + spread))

    def reset(self) -> None:
        """Begin again with the first interval."""
        self._interval_s = self._settings.initial_interval
