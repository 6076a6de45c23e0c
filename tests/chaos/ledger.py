"""Who sent what, what was acknowledged, and what came of it at every destination.

In: what senders offered and what they were told, every span that a backend took, and when there was trouble.  Out: what
is missing, what was changed, which copies don't have the same end, and for each repeat the reason, if it has one.
"""

from __future__ import annotations

import hashlib
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from tests.chaos.otlp_bytes import SpanBytes, spans_in

# What was taken by a backend is noted by the sidecar a moment later.  Long, as the machine may be busy.
NOTED_WITHIN_S = 2.0
SENT_AGAIN, TROUBLE = "sent again by the sender", "taken just before or during a trouble"

Key = tuple[bytes, bytes]


@dataclass(slots=True)
class Entry:
    """A span that was offered. Its `arrivals` are moments and ends of the copies, by destination."""

    size_bytes: int
    digest: bytes
    offered_s: float
    attempts: int = 0
    acknowledged_s: float | None = None
    arrivals: dict[str, list[tuple[float, bytes]]] = field(default_factory=dict)


@dataclass(slots=True)
class Trouble:
    """Something went wrong from `begin_s` to `end_s`."""

    what: str
    begin_s: float
    end_s: float

    def covers(self, moment_s: float) -> bool:
        """Whether a span that was taken at this moment may have to be sent again."""
        return self.begin_s - NOTED_WITHIN_S <= moment_s <= self.end_s


@dataclass(frozen=True, slots=True)
class Findings:
    """What came of all acknowledged spans at one destination.

    `unexplained`: repeats for which there is no reason. `uneven`: spans whose copies differ, here or elsewhere;
    `scored`: spans to which something was appended.
    """

    acknowledged: int
    missing: list[Key]
    changed: int
    repeats: Counter[str]
    unexplained: int
    uneven: int
    scored: int


class Ledger:
    """See the module's text."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.entries: dict[Key, Entry] = {}
        self.troubles: list[Trouble] = []
        self.created: dict[Key, set[bytes]] = {}
        self.changed: Counter[str] = Counter()
        self.given_up: set[Key] = set()
        self._clock = clock

    # -- senders -----------------------------------------------------------------------------------------------------

    def offer(self, spans: Sequence[SpanBytes]) -> None:
        """They are about to be sent for the first time."""
        now_s = self._clock()
        for trace_id, span_id, data in spans:
            self.entries[trace_id, span_id] = Entry(len(data), _digest(data), now_s)

    def attempt(self, spans: Sequence[SpanBytes]) -> None:
        """They are sent, perhaps again."""
        for trace_id, span_id, _ in spans:
            self.entries[trace_id, span_id].attempts += 1

    def acknowledge(self, spans: Sequence[SpanBytes]) -> None:
        """The sender was told that they are kept."""
        now_s = self._clock()
        for trace_id, span_id, _ in spans:
            self.entries[trace_id, span_id].acknowledged_s = now_s

    @property
    def acknowledged(self) -> int:
        """How many spans were."""
        return sum(1 for one in self.entries.values() if one.acknowledged_s is not None)

    # -- destinations ------------------------------------------------------------------------------------------------

    def arrived(self, destination: str, request: bytes) -> None:
        """A backend took this request."""
        now_s = self._clock()
        for trace_id, span_id, data in spans_in(request):
            entry = self.entries.get((trace_id, span_id))
            if entry is None:
                # Nobody sent it, so the sidecar has made it: an evaluation span.
                self.created.setdefault((trace_id, span_id), set()).add(_digest(data))
            elif _digest(data[: entry.size_bytes]) != entry.digest:
                self.changed[destination] += 1
            else:
                tail = data[entry.size_bytes :]
                end = _digest(tail) if tail else b""
                entry.arrivals.setdefault(destination, []).append((now_s, end))

    # -- troubles ----------------------------------------------------------------------------------------------------

    @contextmanager
    def trouble(self, what: str) -> Iterator[None]:
        """Something goes wrong meanwhile."""
        trouble = Trouble(what, self._clock(), float("inf"))
        self.troubles.append(trouble)
        try:
            yield
        finally:
            trouble.end_s = self._clock()

    # -- what came of it ---------------------------------------------------------------------------------------------

    def missing(self, destination: str) -> list[Key]:
        """Acknowledged spans that have not arrived there."""
        return [
            key
            for key, entry in self.entries.items()
            if entry.acknowledged_s is not None and destination not in entry.arrivals and key not in self.given_up
        ]

    def findings(self, destination: str) -> Findings:
        """All there is to say about a destination."""
        repeats: Counter[str] = Counter()
        unexplained = scored = 0
        uneven = sum(1 for forms in self.created.values() if len(forms) > 1)
        for entry in self.entries.values():
            arrivals = entry.arrivals.get(destination, [])
            everywhere = {end for copies in entry.arrivals.values() for _, end in copies}
            uneven += len(everywhere) > 1
            scored += bool(everywhere - {b""})
            for earlier_s, _ in arrivals[:-1]:
                if entry.attempts > 1:
                    repeats[SENT_AGAIN] += 1
                elif any(trouble.covers(earlier_s) for trouble in self.troubles):
                    repeats[TROUBLE] += 1
                else:
                    unexplained += 1
        return Findings(
            self.acknowledged,
            self.missing(destination),
            self.changed[destination],
            repeats,
            unexplained,
            uneven,
            scored,
        )

    def waits_s(self, destination: str, since_s: float = 0.0, until_s: float = float("inf")) -> list[float]:
        """How long spans took from their acknowledgement to the destination; those offered in this time, sorted."""
        return sorted(
            copies[0][0] - entry.acknowledged_s
            for entry in self.entries.values()
            if entry.acknowledged_s is not None
            and since_s <= entry.offered_s < until_s
            and (copies := entry.arrivals.get(destination))
        )


def _digest(data: bytes) -> bytes:
    return hashlib.blake2b(data, digest_size=8).digest()
