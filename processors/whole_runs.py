"""A trace read together with the other pieces of its run, where each model call is a trace of its own.

In: traces as they are judged, and before that those that will be.  Out: the transcript to judge a trace by, and which
other traces it took.  It remembers no more than `Pieces` does, and what it was told to expect.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TypeAlias

from processors.otlp import Log, Span, decode_log, decode_span
from processors.pieces import MAX_RUN_BYTES, MOST_SPANS, Pieces, Surroundings
from processors.reading.rejoining import Piece, completed, piece_of, rejoined, without_foreign_tools
from processors.trace_jobs import TraceInput
from processors.transcript import Transcript

Reader: TypeAlias = Callable[[Sequence[Span], Sequence[Log]], Transcript]


class WholeRuns:
    """See the module's text.

    Args:
        read: turns decoded spans and log records into a transcript.
        pieces: remembers what may be continued.
    """

    def __init__(self, read: Reader, pieces: Pieces) -> None:
        self._read = read
        self._pieces = pieces
        self._expected: dict[bytes, TraceInput] = {}

    def expect(self, traces: Iterable[TraceInput]) -> None:
        """Take note of traces that will be read next, in order of arrival."""
        if not self._pieces.off:
            self._expected.update({trace.trace_id: trace for trace in traces if _may_be_piece(trace)})

    def read(self, trace: TraceInput, spans: list[Span], logs: list[Log]) -> tuple[Transcript, Surroundings]:
        """What was understood of a trace, with the pieces that it goes on from and that go on from it.

        Args:
            trace: as it came.
            spans, logs: the same decoded.
        """
        self._expected.pop(trace.trace_id, None)
        transcript = self._read(spans, logs)
        if self._pieces.off or not _may_be_piece(trace):
            return transcript, Surroundings()
        piece = self._piece(trace, transcript, spans)
        if piece is None:
            # The span round its run may have come late.
            self._pieces.forget(trace.trace_id.hex())
            return transcript, Surroundings()
        self._meet_expected()
        self._pieces.remember(piece, trace.spans, trace.logs, trace.arrived_s)
        pieces = self._pieces.around(piece)
        return (self._rejoined(spans, logs, pieces) if pieces else transcript), pieces

    def describe(self, trace: TraceInput, spans: list[Span], logs: list[Log]) -> Transcript:
        """What a trace tells by itself, with the results of its calls that other pieces of its run tell, and the trace
        that it goes on from.
        """
        whole, pieces = self.read(trace, spans, logs)
        if not pieces:
            return whole
        before = pieces.before[-1].piece.trace_id if pieces.before else None
        return replace(completed(self._read(spans, logs), whole), continues=before)

    def _meet_expected(self) -> None:
        expected, self._expected = self._expected, {}
        for trace in expected.values():
            spans = [decode_span(*raw) for raw in trace.spans]
            transcript = self._read(spans, [decode_log(*raw) for raw in trace.logs])
            piece = self._piece(trace, transcript, spans)
            if piece is not None:
                self._pieces.remember(piece, trace.spans, trace.logs, trace.arrived_s)

    def _piece(self, trace: TraceInput, transcript: Transcript, spans: Sequence[Span]) -> Piece | None:
        return piece_of(replace(transcript, trace_id=trace.trace_id.hex()), spans)

    def _rejoined(self, spans: list[Span], logs: list[Log], pieces: Surroundings) -> Transcript:
        others = [*pieces.before, *pieces.tools, *pieces.after]
        joined = rejoined(spans, [decode_span(*raw) for kept in others for raw in kept.spans])
        joined_logs = [*logs, *(decode_log(*raw) for kept in others for raw in kept.logs)]
        return without_foreign_tools(self._read(joined, joined_logs), {span.span_id for span in spans})


def _may_be_piece(trace: TraceInput) -> bool:
    """Whether the trace is small enough, and as complete as it will be."""
    few = trace.complete and 0 < len(trace.spans) <= MOST_SPANS
    return few and sum(len(span) for _, _, span in trace.spans) <= MAX_RUN_BYTES
