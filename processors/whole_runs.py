"""A trace read together with the other pieces of its run, where each model call is a trace of its own.

In: traces as they are judged, and before that those that will be.  Out: the transcript to judge a trace by, and which
other traces it took.  It remembers no more than `Pieces` does, and what it was told to expect.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from processors.otlp import Log, Span, decode_log, decode_span
from processors.pieces import MAX_RUN_BYTES, MOST_SPANS, Pieces, Surroundings
from processors.reading.rejoining import Piece, completed, piece_of, rejoined, without_foreign_tools
from processors.trace_jobs import TraceInput
from processors.transcript import Transcript

Reader: TypeAlias = Callable[[Sequence[Span], Sequence[Log]], Transcript]
_MOST_MET = 64
"""Transcripts of expected traces that are kept until it is their turn; those of all others are made once more."""


@dataclass(frozen=True, slots=True)
class _Met:
    """What was understood of a trace by itself."""

    trace: TraceInput
    transcript: Transcript
    piece: Piece | None


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
        self._met: dict[bytes, _Met] = {}

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
        met = self._met.pop(trace.trace_id, None)
        if met is None or met.trace is not trace:
            met = self._meet(trace, spans, logs)
        transcript, piece = met.transcript, met.piece
        if self._pieces.off or not _may_be_piece(trace):
            return transcript, Surroundings()
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
            met = self._meet(trace, spans, [decode_log(*raw) for raw in trace.logs])
            if met.piece is not None:
                self._pieces.remember(met.piece, trace.spans, trace.logs, trace.arrived_s)
            if len(self._met) < _MOST_MET:
                self._met[trace.trace_id] = met

    def _meet(self, trace: TraceInput, spans: Sequence[Span], logs: Sequence[Log]) -> _Met:
        transcript = self._read(spans, logs)
        return _Met(trace, transcript, piece_of(replace(transcript, trace_id=trace.trace_id.hex()), spans))

    def _rejoined(self, spans: list[Span], logs: list[Log], pieces: Surroundings) -> Transcript:
        others = [*pieces.before, *pieces.tools, *pieces.after]
        joined = rejoined(spans, [decode_span(*raw) for kept in others for raw in kept.spans])
        joined_logs = [*logs, *(decode_log(*raw) for kept in others for raw in kept.logs)]
        return without_foreign_tools(self._read(joined, joined_logs), {span.span_id for span in spans})


def _may_be_piece(trace: TraceInput) -> bool:
    """Whether the trace is small enough, and as complete as it will be."""
    few = trace.complete and 0 < len(trace.spans) <= MOST_SPANS
    return few and sum(len(item) for _, _, item in (*trace.spans, *trace.logs)) <= MAX_RUN_BYTES
