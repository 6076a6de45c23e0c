"""How many requests may be under way at a time: halved when the endpoint says "too many", raised while it doesn't.

Additive increase, multiplicative decrease, as TCP's congestion avoidance has it (RFC 5681 §3.1).  In: that a request
was sent, and how it ended.  Out: the limit in force, never below one and never above the configured one.  Knows no
clock: a round trip is told by which requests were sent before the last halving.
"""

from __future__ import annotations


class Aimd:
    """The limit of one endpoint.

    Args:
        most: the configured limit.
    """

    def __init__(self, most: int) -> None:
        self.limit = most
        self._most = most
        self._round = 0
        self._clean = 0

    def sent(self) -> int:
        """The round in which a request is sent; hand it back with its end."""
        return self._round

    def refused(self, sent_in: int) -> None:
        """The endpoint said "too many". What was sent before the last halving says nothing about the limit since."""
        if sent_in < self._round:
            return
        self.limit = max(1, self.limit // 2)
        self._round += 1
        self._clean = 0

    def accepted(self, sent_in: int) -> None:
        """The endpoint took the request. As many of these in a row as the limit allows raise it by one."""
        if sent_in < self._round or self.limit >= self._most:
            return
        self._clean += 1
        if self._clean >= self.limit:
            self.limit += 1
            self._clean = 0
