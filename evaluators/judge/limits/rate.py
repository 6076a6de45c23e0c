"""So much per minute and never more: a log of what was used in the last minute.

In: amounts with the time at which they were taken; an amount may be corrected once it is known better.  Out: how long
to wait until an amount fits.  Exact for every span of sixty seconds, not only for those that begin with a full minute.
Reads no clock.
"""

from __future__ import annotations

from collections import OrderedDict

MINUTE_S = 60.0


class PerMinute:
    """What was used in the last minute, and the most that may be.

    Args:
        most: the limit; None for none.
    """

    def __init__(self, most: int | None) -> None:
        self._most = most
        self._used: OrderedDict[int, tuple[float, int]] = OrderedDict()
        self._sum = 0
        self._taken = 0

    def wait_s(self, amount: int, now_s: float) -> float:
        """Seconds until `amount` fits. An amount above the limit fits when nothing else was used for a minute."""
        self._forget(now_s)
        if self._most is None or self._sum + amount <= self._most or self._sum == 0:
            return 0.0
        over = min(self._sum, self._sum + amount - self._most)
        for taken_s, used in self._used.values():
            over -= used
            if over <= 0:
                return max(0.0, taken_s + MINUTE_S - now_s)
        return 0.0

    def take(self, amount: int, now_s: float) -> int:
        """Note an amount as used now; a ticket to correct it with."""
        self._taken += 1
        if self._most is not None:
            self._used[self._taken] = (now_s, amount)
            self._sum += amount
        return self._taken

    def correct(self, ticket: int, amount: int) -> None:
        """What was taken turned out to be another amount."""
        if ticket in self._used:
            taken_s, before = self._used[ticket]
            self._used[ticket] = (taken_s, amount)
            self._sum += amount - before

    def _forget(self, now_s: float) -> None:
        while self._used:
            ticket, (taken_s, amount) = next(iter(self._used.items()))
            if taken_s + MINUTE_S > now_s:
                return
            del self._used[ticket]
            self._sum -= amount
