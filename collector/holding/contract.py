"""What the assembler says to those around it, and what it needs of them.

The pipeline hands spans in and learns from `Taken` what became of them; it is the `Outlet` through which they leave.
Whoever judges is the `Desk`.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum, auto
from typing import NamedTuple, Protocol

from collector.judging.jobs import EvaluationSpan, JobSource
from collector.records import Origin, Outbound, SpanRecord


class Outlet(Protocol):
    """Where spans go when they leave. None of its methods refuses or blocks."""

    @property
    def wants_evaluations(self) -> bool:
        """Whether evaluation spans are wanted also for spans that leave with their scores."""

    def leave(self, spans: Sequence[Outbound]) -> None:
        """Send spans on, with what is appended to them."""

    def unreadable(self, spans: int) -> None:
        """So many spans were to leave that had left memory and can't be read from the journal again."""

    def evaluations(self, spans: Sequence[EvaluationSpan], origin: Origin, *, late: bool) -> None:
        """Send evaluation spans on, to where the spans of `origin` go that they are about.

        `late` says that the judged span left without these verdicts.
        """


class Desk(Protocol):
    """Where jobs are handed in."""

    def submit(self, job: JobSource) -> None:
        """Take a job; there is at most one per trace at a time. Its content is asked for when it is its turn."""

    def withdraw(self, trace_id: bytes) -> bool:
        """Take a trace's job back if nobody has begun it; no result comes for it then."""


class Witness(Protocol):
    """Who keeps a record of what became of traces."""

    def left(self, trace_id: bytes, spans: int, scored: int, *, early: bool) -> None:
        """Spans of a trace were sent on, so many of them with scores; `early` if their run wasn't judged yet."""

    def forgotten(self, trace_id: bytes) -> None:
        """The content of a trace was dropped."""


class Unwitnessed:
    """The witness where nobody keeps a record."""

    def left(self, trace_id: bytes, spans: int, scored: int, *, early: bool) -> None:
        """See `Witness`."""

    def forgotten(self, trace_id: bytes) -> None:
        """See `Witness`."""


class Arrival(Enum):
    """What is to be done with spans that arrived: send them on, nothing, or send them on marked as late."""

    PASSED = auto()
    HELD = auto()
    LATE = auto()


class Taken(NamedTuple):
    """What became of spans of one trace that arrived together.

    `spans` are those that are new, and `arrival` is what became of them.  `others` have an id that was there before
    with other bytes: they are to be sent on, and nothing is made of them.  `duplicates` were there before with the
    same bytes, and go nowhere.
    `late` are new ones of a run that was judged, to be sent on marked.
    """

    arrival: Arrival
    spans: list[SpanRecord]
    others: list[SpanRecord]
    duplicates: list[SpanRecord]
    late: Sequence[SpanRecord] = ()


class Stats(NamedTuple):
    """What is there now; and what there has been in all.

    `unjudged_spans` were sent on at once, as their trace has all of its share of the memory.
    """

    traces: int
    held_spans: int
    unjudged_spans: int = 0
