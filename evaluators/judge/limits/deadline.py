"""When an answer is of no use any more.

In: how long it may take, and from when that counts: from asking, or from the first place that a request gets, where
nobody waits for the answer.  Out: what is left, and a time-out that ends whatever is under way.
"""

from __future__ import annotations

import asyncio

from evaluators.judge.limits.clock import Clock


class Deadline:
    """The deadline of one answer.

    Args:
        seconds: how long it may take.
        clock: the time.
        asked_s: when it was asked for; None to count from the first place on.
    """

    def __init__(self, seconds: float, clock: Clock, asked_s: float | None) -> None:
        self._seconds = seconds
        self._clock = clock
        self._ends_s = None if asked_s is None else asked_s + seconds
        left_s = None if self._ends_s is None else max(0.0, self._ends_s - clock.now_s())
        self.timer = asyncio.timeout(left_s)

    @property
    def ends_s(self) -> float:
        """When it passes, at the earliest."""
        return self._clock.now_s() + self._seconds if self._ends_s is None else self._ends_s

    def begin(self) -> None:
        """A request has its place."""
        if self._ends_s is None:
            self._ends_s = self._clock.now_s() + self._seconds
            self._end_in(self._seconds)

    def end_now(self) -> None:
        """Let it pass at once."""
        self._end_in(0.0)

    def _end_in(self, seconds: float) -> None:
        if not self.timer.expired():
            self.timer.reschedule(asyncio.get_running_loop().time() + seconds)
