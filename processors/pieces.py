"""The pieces of runs that were seen of late, so that a trace can be judged together with those it continues.

In: traces, in order of arrival, with what was understood of each.  Out: for a trace the other pieces of its run.
Remembered is only what may still be continued, within a budget of bytes and for a limited time.  Where two pieces fit
equally well, none does.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice

from processors.reading.rejoining import Asked, Piece, Rejoin, continues, executes, may_follow, names
from processors.telling import Raw

MAX_BYTES = 32 << 20
MAX_AGE_S = 600.0
MOST_PIECES = 16
"""Pieces before and after a trace that it is judged with; what is older the history in the nearer ones tells."""
MAX_RUN_BYTES = 4 << 20
MOST_SPANS = 64
"""Spans of a trace that can be a piece: what is larger had a span around it, or is a run by itself."""
_MOST_CANDIDATES = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """A remembered trace: its spans and log records as they came, and what it shows of its run."""

    piece: Piece
    spans: Sequence[Raw]
    logs: Sequence[Raw]
    arrived_s: float = 0.0
    size_bytes: int = 0


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The other pieces of a trace's run, each in order; `tools` are executions of calls that any of them asked for."""

    before: Sequence[Kept] = ()
    after: Sequence[Kept] = ()
    tools: Sequence[Kept] = ()

    def __bool__(self) -> bool:
        return bool(self.before or self.after or self.tools)


@dataclass(slots=True)
class _Index:
    """Trace ids by what they may be found by, in order of arrival."""

    by_key: dict[Hashable, dict[str, None]] = field(default_factory=dict)

    def add(self, keys: Iterable[Hashable], trace_id: str) -> None:
        for key in keys:
            self.by_key.setdefault(key, {})[trace_id] = None

    def discard(self, keys: Iterable[Hashable], trace_id: str) -> None:
        for key in keys:
            found = self.by_key.get(key, {})
            found.pop(trace_id, None)
            if not found:
                self.by_key.pop(key, None)

    def find(self, keys: Iterable[Hashable]) -> list[str]:
        """Those found by any of the keys, each once, of each key the latest."""
        found = (islice(reversed(self.by_key.get(key, {})), _MOST_CANDIDATES) for key in keys)
        return list(dict.fromkeys(trace_id for ids in found for trace_id in ids))


class Pieces:
    """See the module's text.

    Args:
        by: what has to agree for two pieces to be joined.
        max_bytes: how much is remembered, None for no limit.
    """

    def __init__(self, by: Rejoin = Rejoin.HISTORY, max_bytes: int | None = MAX_BYTES) -> None:
        self._by = by
        self._max_bytes = max_bytes
        self._kept: OrderedDict[str, Kept] = OrderedDict()
        self._size_bytes = 0
        self._asking, self._showing, self._executing, self._sessions = _Index(), _Index(), _Index(), _Index()

    @property
    def off(self) -> bool:
        """Whether nothing is ever joined."""
        return self._by is Rejoin.OFF

    def remember(self, piece: Piece, spans: Sequence[Raw], logs: Sequence[Raw], arrived_s: float) -> None:
        """Remember a trace; one that is known already, with what has come since."""
        known = self._kept.get(piece.trace_id)
        if known is not None and (known.piece, len(known.spans), len(known.logs)) == (piece, len(spans), len(logs)):
            return
        self.forget(piece.trace_id)
        size_bytes = sum(len(item) for _, _, item in (*spans, *logs))
        if self._max_bytes is not None:
            for trace_id in list(self._outdated(size_bytes, arrived_s)):
                self.forget(trace_id)
            if size_bytes > self._max_bytes:
                return
        kept = Kept(piece=piece, spans=spans, logs=logs, arrived_s=arrived_s, size_bytes=size_bytes)
        self._kept[piece.trace_id] = kept
        self._size_bytes += size_bytes
        for index, keys in self._places(piece):
            index.add(keys, piece.trace_id)

    def forget(self, trace_id: str) -> None:
        """Drop a trace, if it is remembered."""
        kept = self._kept.pop(trace_id, None)
        if kept is not None:
            self._size_bytes -= kept.size_bytes
            for index, keys in self._places(kept.piece):
                index.discard(keys, trace_id)

    def around(self, piece: Piece) -> Surroundings:
        """The other pieces of the run that a remembered piece is of."""
        before = _walk(piece, self._before)[::-1]
        after = _walk(piece, self._after)
        tools: dict[str, Kept] = {}
        for one in (*(kept.piece for kept in before), piece, *(kept.piece for kept in after)):
            if one.executed:
                continue
            for kept in self._executions(one):
                tools.setdefault(kept.piece.trace_id, kept)
        return Surroundings(before, after, tuple(tools.values()))

    def _before(self, piece: Piece) -> Kept | None:
        keys = [*(("id", one) for one in piece.shown), *(_call_key(call) for call in piece.repeated)]
        found = [kept for kept in self._found(self._asking, keys) if continues(piece, kept.piece, self._by)]
        if not found and piece.blind and piece.session_id is not None:
            return self._last_of_session(piece)
        found = [kept for kept in found if names(piece, kept.piece)] or found
        # Histories that lost what the model said show the results of all its calls.
        return _only([kept for kept in found if not any(_shows(one.piece, kept.piece) for one in found)], piece)

    def _last_of_session(self, piece: Piece) -> Kept | None:
        """The piece of the same session that came last before this one, if this one may follow it."""
        order = list(self._sessions.by_key.get(piece.session_id, {}))
        at = order.index(piece.trace_id) if piece.trace_id in order else len(order)
        last = self._kept[order[at - 1]] if at else None
        return last if last is not None and may_follow(piece, last.piece) else None

    def _after(self, piece: Piece) -> Kept | None:
        keys = [_key(call) for call in piece.asked] + [_call_key(call) for call in piece.asked]
        found = self._found(self._showing, keys)
        if piece.session_id is not None and piece.asked:
            found += [kept for kept in self._found(self._sessions, [piece.session_id]) if kept.piece.blind]
        following = [kept for kept in found if self._follows(kept.piece, piece)]
        # An attempt that failed and was made again is no second way on.
        return _only([kept for kept in following if not kept.piece.failed] or following, piece)

    def _follows(self, later: Piece, earlier: Piece) -> bool:
        before = self._before(later)
        return before is not None and before.piece.trace_id == earlier.trace_id

    def _executions(self, piece: Piece) -> Iterator[Kept]:
        if not piece.asked:
            return
        keys = [_key(call) for call in piece.asked] + [_call_key(call) for call in piece.asked]
        for kept in self._found(self._executing, keys):
            if executes(kept.piece, piece, self._by):
                askers = self._found(self._asking, [_key(call) for call in kept.piece.executed])
                fitting = [one for one in askers if executes(kept.piece, one.piece, self._by)]
                if len(fitting) == 1:
                    yield kept

    def _found(self, index: _Index, keys: Iterable[Hashable]) -> list[Kept]:
        return [self._kept[trace_id] for trace_id in index.find(keys)]

    def _places(self, piece: Piece) -> Iterator[tuple[_Index, list[Hashable]]]:
        """Where a piece is found, and by what."""
        yield self._asking, [key for call in piece.asked for key in (_key(call), _call_key(call))]
        shown: list[Hashable] = [("id", one) for one in piece.shown]
        yield self._showing, shown + [_call_key(call) for call in piece.repeated]
        yield self._executing, [_key(call) for call in piece.executed]
        if piece.session_id is not None and not piece.executed:
            yield self._sessions, [piece.session_id]

    def _outdated(self, room_bytes: int, now_s: float) -> Iterator[str]:
        """The oldest, as far as they are too old or in the way."""
        left_bytes = self._size_bytes + room_bytes
        for trace_id, kept in self._kept.items():
            fits = self._max_bytes is None or left_bytes <= self._max_bytes
            if fits and now_s - kept.arrived_s <= MAX_AGE_S:
                return
            left_bytes -= kept.size_bytes
            yield trace_id


def _walk(piece: Piece, step: Callable[[Piece], Kept | None]) -> list[Kept]:
    """The pieces that are reached one after the other, as many as a trace is judged with."""
    found: dict[str, Kept] = {}
    size_bytes = 0
    kept = step(piece)
    while kept is not None and kept.piece.trace_id not in found and kept.piece.trace_id != piece.trace_id:
        size_bytes += kept.size_bytes
        if len(found) == MOST_PIECES or size_bytes > MAX_RUN_BYTES:
            break
        found[kept.piece.trace_id] = kept
        kept = step(kept.piece)
    return list(found.values())


def _only(found: Sequence[Kept], piece: Piece) -> Kept | None:
    """The one that fits; of several the one of the same service and instrumentation, as a gateway or a second
    instrumentation traces the same model calls once more.
    """
    if len(found) > 1:
        found = [kept for kept in found if kept.piece.source == piece.source]
    return found[0] if len(found) == 1 else None


def _shows(later: Piece, earlier: Piece) -> bool:
    """Whether a piece was given results of what another one asked for."""
    return any(call.id in later.shown for call in earlier.asked)


def _key(call: Asked) -> Hashable:
    return ("id", call.id) if call.id is not None else _call_key(call)


def _call_key(call: Asked) -> Hashable:
    return ("call", call.name, call.arguments)
