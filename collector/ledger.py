"""Remembers which traces were judged, after their content is gone.

A span that comes for a remembered trace is known to be late, and known to be a repeat if its bytes were seen.  Bounded
by age and by the number of spans remembered; the oldest traces are forgotten first.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Collection

DEFAULT_MAX_SPANS = 1_000_000


class Ledger:
    """Trace ids with the fingerprints of their spans.

    Args:
        max_age_s: how long a trace is remembered.
        max_spans: how many spans' fingerprints are kept over all traces.
    """

    def __init__(self, max_age_s: float, max_spans: int = DEFAULT_MAX_SPANS) -> None:
        self._max_age_s = max_age_s
        self._max_spans = max_spans
        self._spans = 0
        self._traces: OrderedDict[bytes, tuple[float, frozenset[int]]] = OrderedDict()

    def __contains__(self, trace_id: bytes) -> bool:
        return trace_id in self._traces

    def __len__(self) -> int:
        return len(self._traces)

    def remember(self, trace_id: bytes, fingerprints: Collection[int], now_s: float) -> None:
        """Remember a trace from now on, with the fingerprints of the spans seen."""
        self._forget(trace_id)
        self._traces[trace_id] = (now_s, frozenset(fingerprints))
        self._spans += len(fingerprints)
        while self._spans > self._max_spans and len(self._traces) > 1:
            self._forget(next(iter(self._traces)))

    def has_seen(self, trace_id: bytes, fingerprint: int) -> bool:
        """Whether the very same span of this trace was seen before."""
        entry = self._traces.get(trace_id)
        return entry is not None and fingerprint in entry[1]

    def expire(self, now_s: float) -> None:
        """Forget what is older than the maximum age."""
        while self._traces:
            trace_id, (since_s, _) = next(iter(self._traces.items()))
            if now_s - since_s < self._max_age_s:
                return
            self._forget(trace_id)

    def _forget(self, trace_id: bytes) -> None:
        entry = self._traces.pop(trace_id, None)
        if entry is not None:
            self._spans -= len(entry[1])
