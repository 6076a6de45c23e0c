"""The pieces of runs that were seen of late, so that a trace can be judged together with those it continues.

In: traces, in order of arrival, with what was understood of each.  Out: for a trace the other pieces of its run.
Remembered is only what may still be continued, within a budget of bytes and for a limited time.  Where two pieces fit
equally well, none does.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from processors.reading.rejoining import Asked, Piece, Rejoin, continues, executes, has_grown, may_follow, names
from processors.verdicts.telling import Raw

MAX_BYTES = 32 << 20
MAX_AGE_S = 600.0
MOST_PIECES = 16
"""Pieces before and after a trace that it is judged with; what is older the history in the nearer ones tells."""
MAX_RUN_BYTES = 4 << 20
"""As much of those before it, of those after it, and of tools."""
MOST_SPANS = 64
"""Spans of a trace that can be a piece: what is larger had a span around it, or is a run by itself."""
_PIECE_BYTES, _KEY_BYTES = 1500, 400
"""What a remembered trace costs besides its bytes, about: the objects around it, and each key it is found by."""
_MOST_CANDIDATES = 32
_NOTHING = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """A remembered trace: its spans and log records as they came, and what it shows of its run.

    `number` counts what was remembered; a trace that grew has another one.
    """

    piece: Piece
    spans: Sequence[Raw]
    logs: Sequence[Raw]
    arrived_s: float
    size_bytes: int
    number: int


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The other pieces of a trace's run, each in order; `tools` are executions of calls that any of them asked for.

    `outdated` is the piece just before it, if that was asked for when this one, as it is now, wasn't known.
    """

    before: Sequence[Kept] = ()
    after: Sequence[Kept] = ()
    tools: Sequence[Kept] = ()
    outdated: Kept | None = None

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
        """Those found by any of the keys, each once, of each key the latest first; no more than are worth a look."""
        found: dict[str, None] = {}
        for key in keys:
            for trace_id in reversed(self.by_key.get(key, {})):
                found[trace_id] = None
                if len(found) == _MOST_CANDIDATES:
                    return list(found)
        return list(found)


class Pieces:
    """See the module's text.

    Args:
        by: what has to agree for two pieces to be joined.
        max_bytes: how much is remembered, with what the objects around it take, None for no limit.
    """

    def __init__(self, by: Rejoin = Rejoin.HISTORY, max_bytes: int | None = MAX_BYTES) -> None:
        self._by = by
        self._max_bytes = max_bytes
        self._kept: OrderedDict[str, Kept] = OrderedDict()
        self._size_bytes = 0
        self._count = 0
        # By trace: the number of the piece that went on from it when it was last asked for.
        self._followed_by: dict[str, int] = {}
        self._asking, self._showing, self._executing, self._sessions = _Index(), _Index(), _Index(), _Index()

    @property
    def off(self) -> bool:
        """Whether nothing is ever joined."""
        return self._by is Rejoin.OFF

    @property
    def size_bytes(self) -> int:
        """How much is remembered."""
        return self._size_bytes

    def remember(self, piece: Piece, spans: Sequence[Raw], logs: Sequence[Raw], arrived_s: float) -> None:
        """Remember a trace; one that is known already, with what has come since."""
        known = self._kept.get(piece.trace_id)
        if known is not None and (known.piece, len(known.spans), len(known.logs)) == (piece, len(spans), len(logs)):
            return
        self.forget(piece.trace_id)
        places = list(self._places(piece))
        size_bytes = _size_bytes(spans, logs) + _PIECE_BYTES + _KEY_BYTES * sum(len(keys) for _, keys in places)
        if self._max_bytes is not None:
            for trace_id in list(self._outdated(size_bytes, arrived_s)):
                self.forget(trace_id)
            if size_bytes > self._max_bytes:
                return
        self._count += 1
        kept = Kept(piece=piece, spans=spans, logs=logs, arrived_s=arrived_s, size_bytes=size_bytes, number=self._count)
        self._kept[piece.trace_id] = kept
        self._size_bytes += size_bytes
        for index, keys in places:
            index.add(keys, piece.trace_id)

    def forget(self, trace_id: str) -> None:
        """Drop a trace, if it is remembered."""
        kept = self._kept.pop(trace_id, None)
        if kept is not None:
            self._size_bytes -= kept.size_bytes
            self._followed_by.pop(trace_id, None)
            for index, keys in self._places(kept.piece):
                index.discard(keys, trace_id)

    def around(self, piece: Piece) -> Surroundings:
        """The other pieces of the run that a remembered piece is of."""
        before = _walk(piece, self._before)[::-1]
        after = _walk(piece, self._after)
        if piece.trace_id in self._kept:
            self._followed_by[piece.trace_id] = after[0].number if after else _NOTHING
        run = [*(kept.piece for kept in before), piece, *(kept.piece for kept in after)]
        return Surroundings(before, after, self._tools(run), self._outdated_by(piece, before))

    def _outdated_by(self, piece: Piece, before: Sequence[Kept]) -> Kept | None:
        if not before or piece.trace_id not in self._kept:
            return None
        last, number = before[-1], self._kept[piece.trace_id].number
        if self._followed_by.get(last.piece.trace_id, number) == number:
            return None
        follower = self._after(last.piece)
        return last if follower is not None and follower.number == number else None

    def _tools(self, run: Iterable[Piece]) -> list[Kept]:
        found = {kept.piece.trace_id: kept for piece in run if not piece.executed for kept in self._executions(piece)}
        return _within_limit(found.values())

    def _before(self, piece: Piece) -> Kept | None:
        kinds = [("id", one) for one in piece.shown], [_call_key(call) for call in piece.repeated]
        found = self._fitting(self._asking, kinds, lambda kept: continues(piece, kept.piece, self._by))
        if not found and piece.blind and piece.session_id is not None:
            return self._last_of_session(piece)
        found = [kept for kept in found if names(piece, kept.piece)] or found
        # The same ids, or the same calls, may come again and again.
        found = [kept for kept in found if has_grown(piece, kept.piece)] or found
        # Histories that lost what the model said show the results of all its calls.
        latest = [kept for kept in found if not any(_shows(one.piece, kept.piece) for one in found if one is not kept)]
        fitting = _preferred(latest, piece)
        return fitting[0] if len(fitting) == 1 else None

    def _last_of_session(self, piece: Piece) -> Kept | None:
        """The piece of the same session that came last before this one, if this one may follow it."""
        latest = self._sessions.find([piece.session_id])
        earlier = latest[latest.index(piece.trace_id) + 1 :] if piece.trace_id in latest else []
        last = self._kept[earlier[0]] if earlier else None
        return last if last is not None and may_follow(piece, last.piece) else None

    def _after(self, piece: Piece) -> Kept | None:
        if not piece.asked:
            return None
        kinds = [_key(call) for call in piece.asked], [_call_key(call) for call in piece.asked]
        following = self._fitting(self._showing, kinds, lambda kept: self._follows(kept.piece, piece))
        if not following and piece.session_id is not None:
            in_session = self._found(self._sessions, [piece.session_id])
            following = [kept for kept in in_session if kept.piece.blind and self._follows(kept.piece, piece)]
        # An attempt that failed and was made again is no second way on.
        following = [kept for kept in following if not kept.piece.failed] or following
        # Where a conversation was gone on with in several ways, all were given the results. What is said of this piece
        # rests on the first of them, and stands when others come.
        return min(_preferred(following, piece), key=lambda kept: kept.number, default=None)

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

    def _fitting(self, index: _Index, kinds: Iterable[Iterable[Hashable]], fits: Callable[[Kept], bool]) -> list[Kept]:
        """Those that fit by the first kind of keys by which some do; what agents call they call in many runs."""
        for keys in kinds:
            if fitting := [kept for kept in self._found(index, keys) if fits(kept)]:
                return fitting
        return []

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
    kept = step(piece)
    while kept is not None and kept.piece.trace_id not in found and kept.piece.trace_id != piece.trace_id:
        if len(found) == MOST_PIECES:
            break
        found[kept.piece.trace_id] = kept
        kept = step(kept.piece)
    return _within_limit(found.values())


def _within_limit(found: Iterable[Kept]) -> list[Kept]:
    """As many of them as a trace is judged with."""
    left_bytes = MAX_RUN_BYTES
    fitting = []
    for kept in found:
        left_bytes -= kept.size_bytes
        if left_bytes < 0:
            break
        fitting.append(kept)
    return fitting


def _size_bytes(spans: Sequence[Raw], logs: Sequence[Raw]) -> int:
    shared = {id(part): part for resource, scope, _ in (*spans, *logs) for part in (resource, scope)}
    return sum(len(item) for _, _, item in (*spans, *logs)) + sum(map(len, shared.values()))


def _preferred(found: Sequence[Kept], piece: Piece) -> Sequence[Kept]:
    """Of several those of the same service and instrumentation, as a gateway or a second instrumentation traces the
    same model calls once more.
    """
    return [kept for kept in found if kept.piece.source == piece.source] if len(found) > 1 else found


def _shows(later: Piece, earlier: Piece) -> bool:
    """Whether a piece was given results of what another one asked for."""
    return any(call.id in later.shown for call in earlier.asked)


def _key(call: Asked) -> Hashable:
    return ("id", call.id) if call.id is not None else _call_key(call)


def _call_key(call: Asked) -> Hashable:
    return ("call", call.name, call.arguments)
