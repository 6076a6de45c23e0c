"""What waits for one destination, in lanes: parcels that may share a request, by signal and headers.

In: parcels as they come.  Out: batches of them that are due, because they are large enough or have waited long enough.
A state machine without I/O and without a clock: whoever asks says what time it is.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from collector.exporters.settings import BatchSettings
from collector.records import Ref, Signal, Waybill


class Waiting(NamedTuple):
    """A parcel that waits: where it is, what is known of it, and its number in the order in which they came."""

    ref: Ref
    parcel: Waybill
    sequence: int


class LaneKey(NamedTuple):
    """What parcels of one request have in common."""

    signal: Signal
    headers: tuple[tuple[str, str], ...]


@dataclass(slots=True)
class _Lane:
    """`ready_at_s` is when it is sent even if it isn't full."""

    waiting: deque[Waiting] = field(default_factory=deque)
    size_bytes: int = 0
    ready_at_s: float = 0.0


class Lanes:
    """See the module's text.

    Args:
        limits: how large batches are, and how long parcels wait for others.
    """

    def __init__(self, limits: BatchSettings) -> None:
        self._limits = limits
        self._lanes: dict[LaneKey, _Lane] = {}
        self._sequence = 0

    def __bool__(self) -> bool:
        return bool(self._lanes)

    def __iter__(self) -> Iterator[Waiting]:
        for lane in self._lanes.values():
            yield from lane.waiting

    def put(self, ref: Ref, parcel: Waybill, now_s: float) -> bool:
        """Add a parcel, and say whether something may be due earlier than before."""
        self._sequence += 1
        lane = self._lanes.setdefault(LaneKey(parcel.signal, parcel.headers), _Lane())
        news = not lane.waiting
        if news:
            lane.ready_at_s = now_s + self._limits.flush_timeout
        lane.waiting.append(Waiting(ref, parcel, self._sequence))
        was_bytes = lane.size_bytes
        lane.size_bytes += parcel.size_bytes
        return news or was_bytes < self._limits.min_size <= lane.size_bytes

    def put_back(self, waiting: Waiting) -> None:
        """Add a parcel again that was taken and not sent, before all others of its lane."""
        lane = self._lanes.setdefault(LaneKey(waiting.parcel.signal, waiting.parcel.headers), _Lane())
        lane.waiting.appendleft(waiting)
        lane.size_bytes += waiting.parcel.size_bytes

    def take_due(self, now_s: float, *, hurry: bool) -> tuple[LaneKey, list[Waiting]] | float | None:
        """The next batch; or when there may be one, if nothing else comes; or None if nothing waits.

        Args:
            now_s: the time.
            hurry: whether batches are due at once, full or not.
        """
        next_s = None
        for key, lane in self._lanes.items():
            if hurry or lane.ready_at_s <= now_s or lane.size_bytes >= self._limits.min_size:
                return key, self._take(key, lane)
            next_s = lane.ready_at_s if next_s is None else min(next_s, lane.ready_at_s)
        return next_s

    def take_oldest(self) -> tuple[LaneKey, list[Waiting]]:
        """A batch that begins with what has waited longest of all; raises ValueError if nothing waits."""
        key, lane = min(self._lanes.items(), key=lambda one: one[1].waiting[0].sequence)
        return key, self._take(key, lane)

    def _take(self, key: LaneKey, lane: _Lane) -> list[Waiting]:
        taken = [lane.waiting.popleft()]
        size_bytes = taken[0].parcel.size_bytes
        limits = self._limits
        while lane.waiting and size_bytes < limits.min_size:
            more_bytes = lane.waiting[0].parcel.size_bytes
            if size_bytes + more_bytes > limits.max_size:
                break
            taken.append(lane.waiting.popleft())
            size_bytes += more_bytes
        lane.size_bytes -= size_bytes
        # To the end of the line, so that lanes take turns.
        del self._lanes[key]
        if lane.waiting:
            self._lanes[key] = lane
        return taken
