"""Spans of one trace brought together again for printing, in bounded memory and without a clock of its own.

In go spans in any order with the time of their arrival; out come traces, each when it is due: soon after its top span
came, or when nothing came for some seconds.  Traces without any score are counted and dropped.  This is about reading
comfort only; whether a trace is complete is decided elsewhere, before it is judged.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Iterable
from dataclasses import dataclass, field

from collector.exporters.span_view import SpanView

SETTLE_S = 0.5
"""How long after the last span a trace whose top span was seen is printed."""
IDLE_S = 10.0
"""The same for a trace whose top span was not seen."""
MAX_WEIGHT = 40_000
"""Of all spans together, in units of about a kilobyte."""
MAX_SPANS_OF_TRACE = 2_000
MAX_WAITING_TRACES = 200
REMEMBERED_TRACES = 2_000


@dataclass(slots=True)
class GatheredTrace:
    """The spans of a trace so far. `omitted` more came than are kept; `continued`: others were printed before."""

    trace_id: str
    continued: bool = False
    omitted: int = 0
    has_top: bool = False
    has_score: bool = False
    last_s: float = 0.0
    by_id: dict[str, SpanView] = field(default_factory=dict)

    @property
    def spans(self) -> list[SpanView]:
        """Its spans in the order of arrival."""
        return list(self.by_id.values())

    @property
    def start_ns(self) -> int:
        """When its first span began, by the spans' own times."""
        return min(span.start_ns for span in self.by_id.values())

    @property
    def due_s(self) -> float:
        """When it is to be printed if nothing more comes."""
        return self.last_s + (SETTLE_S if self.has_top else IDLE_S)


class Gathering:
    """Traces that aren't printed yet."""

    def __init__(self) -> None:
        self._open: OrderedDict[str, GatheredTrace] = OrderedDict()
        self._closed: deque[GatheredTrace] = deque()
        self._printed: OrderedDict[str, None] = OrderedDict()
        self._weight = 0
        self.unscored_traces = 0
        self._unshown = 0

    def add(self, spans: Iterable[SpanView], now_s: float) -> None:
        """Take spans that arrived at `now_s`; closes the traces that waited longest when there is too much."""
        for span in spans:
            trace = self._open.get(span.trace_id)
            if trace is None:
                trace = GatheredTrace(span.trace_id, continued=span.trace_id in self._printed)
                self._open[span.trace_id] = trace
            self._open.move_to_end(span.trace_id)
            trace.last_s = now_s
            trace.has_score = trace.has_score or bool(span.scores)
            if len(trace.by_id) >= MAX_SPANS_OF_TRACE and span.span_id not in trace.by_id:
                trace.omitted += 1
                continue
            trace.has_top = trace.has_top or not span.parent_id or span.remote_parent
            before = trace.by_id.get(span.span_id)
            self._weight += span.weight - (before.weight if before else 0)
            trace.by_id[span.span_id] = span
        while self._weight > MAX_WEIGHT:
            self._close(next(iter(self._open.values())))
        while len(self._closed) > MAX_WAITING_TRACES:
            self._closed.popleft()
            self._unshown += 1

    def take_due(self, now_s: float) -> list[GatheredTrace]:
        """The judged traces that are due, those that began first before the others."""
        for trace in [trace for trace in self._open.values() if trace.due_s <= now_s]:
            self._close(trace)
        due = sorted(self._closed, key=lambda trace: (trace.start_ns, trace.trace_id))
        self._closed.clear()
        return due

    def take_all(self) -> list[GatheredTrace]:
        """Every judged trace that is left."""
        return self.take_due(float("inf"))

    def take_counts(self) -> tuple[int, int]:
        """How many traces had no score, and how many judged ones were dropped, since the last call."""
        counts = self.unscored_traces, self._unshown
        self.unscored_traces = self._unshown = 0
        return counts

    @property
    def next_due_s(self) -> float | None:
        """When the next trace is due; None when there is none."""
        return min((trace.due_s for trace in self._open.values()), default=None)

    def _close(self, trace: GatheredTrace) -> None:
        del self._open[trace.trace_id]
        self._weight -= sum(span.weight for span in trace.by_id.values())
        if not trace.has_score:
            self.unscored_traces += not trace.continued
        else:
            self._closed.append(trace)
        self._printed[trace.trace_id] = None
        self._printed.move_to_end(trace.trace_id)
        while len(self._printed) > REMEMBERED_TRACES:
            self._printed.popitem(last=False)
