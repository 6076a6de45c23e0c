"""What goes into the judging of one trace, and what comes out: plain, picklable data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from processors.transcript import Missing
from processors.verdicts.marks import Marks
from processors.verdicts.telling import PlacedVerdict, Raw, SpanScores

Route: TypeAlias = tuple[Any, ...]
"""Where what is said of a trace has to go; only the caller understands it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceInput:
    """A trace, or what has arrived of it.

    `complete`    whole runs may be judged; without it only steps that are settled.
    `partial`     part of the trace is known never to arrive.
    `marks`       `TraceScores.marks` of the call before for this trace; empty at the first.
    `rules_only`  no judge is asked.
    `arrived_s`   when it arrived, on any clock that only moves on; 0 where nothing is known of it.
    `route`       handed back with what is said when the trace itself is forgotten.
    """

    trace_id: bytes
    spans: Sequence[Raw]
    logs: Sequence[Raw] = ()
    complete: bool = True
    partial: bool = False
    marks: Marks = field(default_factory=dict)
    rules_only: bool = False
    arrived_s: float = 0.0
    route: Route = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceScores:
    """What came of judging a trace once.

    `spans`     scores by span id.
    `settled`   ids of spans about which nothing more is to be said, as far as one can see: they can leave.  Of a trace
                that was judged as complete all spans can, even after a failure.
    `verdicts`  every verdict of this call, scored or not, in order of the transcript.
    `marks`     to be handed back when the trace is judged again.
    `again`     ids of traces judged before on which there may now be more to say.
    `missing`   facts that were looked for and that the trace lacks.
    `dialects`  the conventions in which the trace was written.
    `failure`   why there is no result at all (a fault of ours, named by place and kind and without any content).
    """

    trace_id: bytes
    spans: Mapping[bytes, SpanScores] = field(default_factory=dict)
    settled: frozenset[bytes] = frozenset()
    verdicts: tuple[PlacedVerdict, ...] = ()
    marks: Marks = field(default_factory=dict)
    again: frozenset[bytes] = frozenset()
    missing: tuple[Missing, ...] = ()
    dialects: tuple[str, ...] = ()
    failure: str | None = None
