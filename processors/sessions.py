"""The runs of each session, kept until the session is over.

In: runs as they are judged, with their session's id and the time of their arrival.  Out: sessions of which nothing has
come for a while, and once more, a while later, those about which a judge gave no answer.  What is kept is packed and
within a budget of bytes: past it, sessions that were judged are dropped, then the one that has been silent longest
counts as over.  Reads no clock.
"""

from __future__ import annotations

import pickle
import zlib
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from evaluators.cases import Run
from processors.otlp import Span
from processors.trace_jobs import Route

MAX_BYTES = 64 << 20
_LEVEL = 1
_RUN_BYTES, _SESSION_BYTES = 600, 1_000
"""What a kept run and a session cost besides the packed content, about."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionRun:
    """A run of a session, with the span that it stands on.

    `span` has no content; `resource` is that span's, serialised; `route` is `TraceInput.route`.
    """

    run: Run
    trace_id: bytes
    span: Span
    resource: bytes
    route: Route


class _Packed(NamedTuple):
    trace_id: bytes
    start_ns: int
    content: bytes


class Told(NamedTuple):
    """The last verdict of an evaluator on a session that was told: on which span, which it was, and what it said."""

    span_id: str
    revision: str
    sequence: int
    outcome: str


@dataclass(slots=True)
class Session:
    """A session as it is kept.

    `last_s` is when something of it came, or when it was put off.  `under_way`: it is being judged.  `unanswered` are
    the evaluators whose judge gave no answer the first time, for which it was put off.  `told` is by evaluator,
    `size_bytes` what it costs to keep it.
    """

    session_id: str
    last_s: float = 0.0
    judged: bool = False
    under_way: bool = False
    unanswered: frozenset[str] = frozenset()
    told: dict[str, Told] = field(default_factory=dict)
    size_bytes: int = _SESSION_BYTES
    _packed: dict[str, _Packed] = field(default_factory=dict)

    def runs(self) -> list[SessionRun]:
        """Its runs in order of their beginning, by the clock of whoever sent them."""
        ordered = sorted(self._packed.values(), key=lambda one: one.start_ns)
        # What is unpacked was packed by this process.
        return [pickle.loads(zlib.decompress(one.content)) for one in ordered]

    def add(self, run: SessionRun) -> None:
        """Keep a run in place of what is kept of its span."""
        content = zlib.compress(pickle.dumps(run, protocol=pickle.HIGHEST_PROTOCOL), _LEVEL)
        self._drop(run.span.span_id)
        self._packed[run.span.span_id] = _Packed(run.trace_id, run.span.start_ns, content)
        self.size_bytes += len(content) + _RUN_BYTES

    def forget(self, trace_ids: Iterable[bytes]) -> None:
        """Drop the runs of these traces."""
        gone = frozenset(trace_ids)
        for span_id in [span_id for span_id, one in self._packed.items() if one.trace_id in gone]:
            self._drop(span_id)

    def _drop(self, span_id: str) -> None:
        before = self._packed.pop(span_id, None)
        if before is not None:
            self.size_bytes -= len(before.content) + _RUN_BYTES


class Sessions:
    """See the module's text.

    Args:
        idle_s: how long nothing must have come of a session for it to be over, in seconds.
        max_bytes: how much is kept, None for no limit.
    """

    def __init__(self, idle_s: float, max_bytes: int | None = MAX_BYTES) -> None:
        self._idle_s = idle_s
        self._max_bytes = max_bytes
        # Those of which something came last stand at the end.
        self._sessions: OrderedDict[str, Session] = OrderedDict()
        self._size_bytes = 0
        self._cut_short: list[Session] = []

    @property
    def size_bytes(self) -> int:
        """How much is kept."""
        return self._size_bytes

    def remember(
        self, session_id: str, runs: Iterable[SessionRun], now_s: float, *, instead_of: Iterable[bytes] = ()
    ) -> None:
        """Add runs to a session; one that is known by its span is replaced.

        Args:
            session_id: of the session.
            runs: of one trace.
            now_s: when they came, on a clock that only moves on.
            instead_of: ids of other traces whose runs these go on from, and tell in full.
        """
        session = self._sessions.pop(session_id, None)
        if session is None:
            session = Session(session_id)
        else:
            self._size_bytes -= session.size_bytes
        session.forget(instead_of)
        for run in runs:
            session.add(run)
        session.last_s, session.judged, session.unanswered = now_s, False, frozenset()
        self._sessions[session_id] = session
        self._size_bytes += session.size_bytes
        self._shed()

    def over(self, now_s: float) -> list[Session]:
        """Sessions that are over and not judged yet; they count as judged from now on, and as under way until `done`.

        Those under way are left for later.
        """
        return self._taken(lambda session: now_s - session.last_s >= self._idle_s)

    def all(self) -> list[Session]:
        """All sessions that are not judged yet, when nothing can come any more."""
        return self._taken(lambda _: True)

    def done(self, session: Session, unanswered: Collection[str] = (), now_s: float | None = None) -> None:
        """Note that a session has been judged.

        Args:
            session: one that was taken.
            unanswered: evaluators whose judge gave no answer. For these the session is over once more when it has been
                silent for as long again, unless it was put off before or has gone on since.
            now_s: the time; None if there is no later.
        """
        session.under_way = False
        if not unanswered or session.unanswered or now_s is None or not session.judged:
            return
        if self._sessions.get(session.session_id) is session:
            session.unanswered, session.judged, session.last_s = frozenset(unanswered), False, now_s
            self._sessions.move_to_end(session.session_id)

    def _taken(self, is_over: Callable[[Session], bool]) -> list[Session]:
        taken = [session for session in self._cut_short if not session.under_way]
        self._cut_short = [session for session in self._cut_short if session.under_way]
        for session in self._sessions.values():
            if not is_over(session):
                break
            if not session.judged and not session.under_way:
                session.judged = True
                taken.append(session)
        for session in taken:
            session.under_way = True
        return taken

    def _shed(self) -> None:
        """Keep to the budget: drop what was judged, the oldest first, then end what has been silent longest."""
        if self._max_bytes is None or self._size_bytes <= self._max_bytes:
            return
        for session_id in [key for key, session in self._sessions.items() if session.judged]:
            self._drop(session_id)
            if self._size_bytes <= self._max_bytes:
                return
        while self._size_bytes > self._max_bytes:
            session = self._drop(next(iter(self._sessions)))
            session.judged = True
            self._cut_short.append(session)

    def _drop(self, session_id: str) -> Session:
        session = self._sessions.pop(session_id)
        self._size_bytes -= session.size_bytes
        return session
