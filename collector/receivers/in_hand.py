"""How many bytes of request bodies are in hand: being received, unpacked or converted, over all connections.

A body that arrives slowly, or that waits for its turn, keeps its memory meanwhile. Past the limit those that are large
are asked to come again; small ones always pass.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from collector.intake import OverloadedError

_RETRY_AFTER_S = 1.0
_SMALL_SHARE = 256  # what is smaller than this part of the limit is small


class Share:
    """What one request has in hand."""

    def __init__(self, whole: InHand) -> None:
        self._whole = whole
        self.size_bytes = 0

    def add(self, size_bytes: int) -> None:
        """Count more bytes of this request."""
        self.size_bytes += size_bytes
        self._whole.used_bytes += size_bytes

    def require_room(self) -> None:
        """Raises OverloadedError if too much is in hand and this request is one of the large ones."""
        whole = self._whole
        if whole.used_bytes > whole.limit_bytes and self.size_bytes > whole.limit_bytes // _SMALL_SHARE:
            raise OverloadedError("too many large requests at once; try again later", _RETRY_AFTER_S)


class InHand:
    """The sum over all requests of one receiver, and its limit."""

    def __init__(self, limit_bytes: int) -> None:
        self.limit_bytes = limit_bytes
        self.used_bytes = 0

    @contextmanager
    def request(self) -> Iterator[Share]:
        """The share of a request, given back when it ends."""
        share = Share(self)
        try:
            yield share
        finally:
            self.used_bytes -= share.size_bytes
