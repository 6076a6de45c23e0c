"""Remembers which traces were judged, from their verdict on and after their content is gone.

A span that comes for a remembered trace is known to be late, and known to be a repeat if its bytes were seen.  Bounded
by age and by the number of spans remembered; the oldest traces are forgotten first.  Beside a journal it outlives the
process (`collector.holding.ledger_file`).
"""

from __future__ import annotations

from collections import OrderedDict
from struct import Struct
from typing import NamedTuple, Protocol
from zlib import crc32

DEFAULT_MAX_SPANS = 1_000_000
CHECKSUM_BYTES = 4
# Of so many spans there are tables to look them up in, or else of the one trace that was asked for last.
_OPENED_SPANS = 50_000
_ID_BYTES = 8
_CHECKSUM = Struct(">I")


def checksum(span: bytes) -> bytes:
    """What tells a serialised span from others of the same id."""
    return _CHECKSUM.pack(crc32(span))


class Remembered(NamedTuple):
    """A trace: since when, on a monotonic clock, and its spans' ids and checksums, one after the other."""

    since_s: float
    span_ids: bytes
    checksums: bytes

    @property
    def spans(self) -> int:
        """How many spans of it are remembered."""
        return len(self.span_ids) // _ID_BYTES


class Keeper(Protocol):
    """Where a ledger is kept beyond the process. None of its methods waits or raises."""

    def remember(self, trace_id: bytes, span_ids: bytes, checksums: bytes) -> None:
        """Keep a trace that was judged just now."""

    def forget(self, trace_id: bytes) -> None:
        """Keep it no longer."""


class Ledger:
    """Trace ids with the ids and checksums of their spans.

    Args:
        max_age_s: how long a trace is remembered.
        max_spans: how many spans are kept over all traces; a trace counts as one at least.
        keeper: where all of it is kept as well.
    """

    def __init__(self, max_age_s: float, max_spans: int = DEFAULT_MAX_SPANS, keeper: Keeper | None = None) -> None:
        self.max_age_s = max_age_s
        self._max_spans = max_spans
        self._keeper = keeper
        self._spans = 0
        self._traces: OrderedDict[bytes, Remembered] = OrderedDict()
        self._opened: OrderedDict[bytes, dict[bytes, bytes]] = OrderedDict()
        self._opened_spans = 0

    def __contains__(self, trace_id: bytes) -> bool:
        return trace_id in self._traces

    def __len__(self) -> int:
        return len(self._traces)

    def remember(self, trace_id: bytes, span_ids: bytes, checksums: bytes, now_s: float) -> None:
        """Remember a trace from now on, with the spans seen: their ids, and their checksums, one after the other.

        What is known of it already stays as it is, with its age.
        """
        known = self._traces.get(trace_id)
        if known is not None and known.span_ids == span_ids and known.checksums == checksums:
            return
        self.restore(trace_id, Remembered(now_s, span_ids, checksums))
        if self._keeper is not None:
            self._keeper.remember(trace_id, span_ids, checksums)

    def restore(self, trace_id: bytes, entry: Remembered) -> None:
        """Know a trace that was kept; the oldest first."""
        self._drop(trace_id)
        self._traces[trace_id] = entry
        self._spans += max(entry.spans, 1)
        while self._spans > self._max_spans and len(self._traces) > 1:
            self._forget(next(iter(self._traces)))

    def recall(self, trace_id: bytes) -> Remembered | None:
        """What is known of a trace."""
        return self._traces.get(trace_id)

    def has_seen(self, trace_id: bytes, span_id: bytes, span: bytes) -> bool:
        """Whether the very same span of this trace was seen before."""
        return trace_id in self._traces and self._open(trace_id).get(span_id) == checksum(span)

    def has_span(self, trace_id: bytes, span_id: bytes) -> bool:
        """Whether a span of this id was seen in the trace."""
        return trace_id in self._traces and span_id in self._open(trace_id)

    def expire(self, now_s: float) -> None:
        """Forget what is older than the maximum age."""
        while self._traces:
            trace_id, entry = next(iter(self._traces.items()))
            if now_s - entry.since_s < self.max_age_s:
                return
            self._forget(trace_id)

    def _open(self, trace_id: bytes) -> dict[bytes, bytes]:
        """The checksums of a trace's spans by their ids; made when it is asked for, which is rare."""
        table = self._opened.get(trace_id)
        if table is None:
            entry = self._traces[trace_id]
            ids, checksums = _cut(entry.span_ids, _ID_BYTES), _cut(entry.checksums, CHECKSUM_BYTES)
            table = self._opened[trace_id] = dict(zip(ids, checksums, strict=True))
            self._opened_spans += len(table)
            while self._opened_spans > _OPENED_SPANS and len(self._opened) > 1:
                self._close(next(iter(self._opened)))
        return table

    def _close(self, trace_id: bytes) -> None:
        self._opened_spans -= len(self._opened.pop(trace_id, ()))

    def _forget(self, trace_id: bytes) -> None:
        self._drop(trace_id)
        if self._keeper is not None:
            self._keeper.forget(trace_id)

    def _drop(self, trace_id: bytes) -> None:
        entry = self._traces.pop(trace_id, None)
        if entry is not None:
            self._spans -= max(entry.spans, 1)
            self._close(trace_id)


def _cut(packed: bytes, size: int) -> list[bytes]:
    return [packed[at : at + size] for at in range(0, len(packed), size)]
