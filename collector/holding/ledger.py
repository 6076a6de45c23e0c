"""Remembers which traces were judged, after their content is gone.

A span that comes for a remembered trace is known to be late, and known to be a repeat if its bytes were seen.  Bounded
by age and by the number of spans remembered; the oldest traces are forgotten first.
"""

from __future__ import annotations

from collections import OrderedDict
from struct import Struct
from zlib import crc32

DEFAULT_MAX_SPANS = 1_000_000
CHECKSUM_BYTES = 4
_ID_BYTES = 8
_CHECKSUM = Struct(">I")


def checksum(span: bytes) -> bytes:
    """What tells a serialised span from others of the same id."""
    return _CHECKSUM.pack(crc32(span))


class _Remembered:
    """A trace: since when, and its spans packed; unpacked when one of them is asked for, which is rare."""

    __slots__ = ("_checksums", "_seen", "_span_ids", "since_s", "spans")

    def __init__(self, since_s: float, span_ids: bytes, checksums: bytes) -> None:
        self.since_s = since_s
        self.spans = len(span_ids) // _ID_BYTES
        self._span_ids = span_ids
        self._checksums = checksums
        self._seen: frozenset[tuple[bytes, bytes]] | None = None

    def has(self, span_id: bytes, checksum: bytes) -> bool:
        if self._seen is None:
            self._seen = frozenset(
                zip(_cut(self._span_ids, _ID_BYTES), _cut(self._checksums, CHECKSUM_BYTES), strict=True)
            )
        return (span_id, checksum) in self._seen


def _cut(packed: bytes, size: int) -> list[bytes]:
    return [packed[at : at + size] for at in range(0, len(packed), size)]


class Ledger:
    """Trace ids with the ids and checksums of their spans.

    Args:
        max_age_s: how long a trace is remembered.
        max_spans: how many spans are kept over all traces.
    """

    def __init__(self, max_age_s: float, max_spans: int = DEFAULT_MAX_SPANS) -> None:
        self._max_age_s = max_age_s
        self._max_spans = max_spans
        self._spans = 0
        self._traces: OrderedDict[bytes, _Remembered] = OrderedDict()

    def __contains__(self, trace_id: bytes) -> bool:
        return trace_id in self._traces

    def __len__(self) -> int:
        return len(self._traces)

    def remember(self, trace_id: bytes, span_ids: bytes, checksums: bytes, now_s: float) -> None:
        """Remember a trace from now on, with the spans seen: their ids, and their checksums, one after the other."""
        self._forget(trace_id)
        entry = self._traces[trace_id] = _Remembered(now_s, span_ids, checksums)
        self._spans += entry.spans
        while self._spans > self._max_spans and len(self._traces) > 1:
            self._forget(next(iter(self._traces)))

    def has_seen(self, trace_id: bytes, span_id: bytes, span: bytes) -> bool:
        """Whether the very same span of this trace was seen before."""
        entry = self._traces.get(trace_id)
        return entry is not None and entry.has(span_id, checksum(span))

    def expire(self, now_s: float) -> None:
        """Forget what is older than the maximum age."""
        while self._traces:
            trace_id, entry = next(iter(self._traces.items()))
            if now_s - entry.since_s < self._max_age_s:
                return
            self._forget(trace_id)

    def _forget(self, trace_id: bytes) -> None:
        entry = self._traces.pop(trace_id, None)
        if entry is not None:
            self._spans -= entry.spans
