"""The bounded record of what became of traces, for whoever asks afterwards.

In: events as they happen, a few per trace and request and none per span.  Out: the events of one trace, found by its
id or the beginning of it.  Bounded by bytes and by age, the oldest traces first.  It holds codes, counts and ids, is
never in anybody's way, and nothing that is sent on depends on it.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Set
from typing import Any

from collector.accounts.events import Answered, Arrived, Event, Forgotten, Left, Refused, Submitted

MAX_BYTES = 16 << 20
MAX_AGE_S = 24 * 3600.0
MAX_EVENTS = 200
# What the objects around an account and an event take, about.
ACCOUNT_BYTES = 400
EVENT_BYTES = 150
ID_BYTES = 60
# Of traces in which nothing is judged only the ids are kept: two generations of so many.
MAX_PASSED = 20_000


class Account:
    """One trace: its events in order, and how many more there were once it had its share."""

    __slots__ = ("first_s", "kept", "omitted", "size_bytes")

    def __init__(self, first_s: float) -> None:
        self.first_s = first_s
        # Class and fields of each event: whoever asks is rare, and making an object for every event costs.
        self.kept: list[tuple[Any, ...]] = []
        self.omitted = 0
        self.size_bytes = ACCOUNT_BYTES

    @property
    def events(self) -> list[Event]:
        """What happened, in order."""
        return [kind(*fields) for kind, *fields in self.kept]


class Accounts:
    """See the module's text. It is the assembler's `Witness`.

    Args:
        clock: seconds on a monotonic clock.
        max_bytes, max_age_s: how much is kept, and for how long.
    """

    def __init__(
        self,
        clock: Callable[[], float] = time.monotonic,
        max_bytes: int = MAX_BYTES,
        max_age_s: float = MAX_AGE_S,
    ) -> None:
        self._clock = clock
        self._max_bytes = max_bytes
        self._max_age_s = max_age_s
        self._accounts: OrderedDict[bytes, Account] = OrderedDict()
        self._passed: dict[bytes, float] = {}
        self._passed_before: dict[bytes, float] = {}
        self.size_bytes = 0
        self.since_s = clock()
        """From when on nothing has been forgotten."""

    def __len__(self) -> int:
        return len(self._accounts)

    # -- what happens ------------------------------------------------------------------------------------------------

    def arrived(self, trace_id: bytes, receiver: str, spans: int, late: int, repeated: int) -> None:
        """Spans of a trace came in one request."""
        self._note(trace_id, (Arrived, self._clock(), receiver, spans, late, repeated))

    def passed(self, trace_id: bytes, at_s: float) -> None:
        """A span came in which nothing is judged, of a trace of which nothing is held."""
        if trace_id not in self._passed:
            if len(self._passed) >= MAX_PASSED:
                self._passed_before, self._passed = self._passed, {}
            self._passed[trace_id] = at_s

    def submitted(self, trace_id: bytes, *, complete: bool, partial: bool, rules_only: bool) -> None:
        """A trace was handed in to be judged."""
        self._note(trace_id, (Submitted, self._clock(), complete, partial, rules_only))

    def answered(self, trace_id: bytes, told: bytes, too_late: Set[bytes], failure: str | None, *, final: bool) -> None:
        """A result came; `too_late` are the spans it speaks of that had left."""
        size_bytes = len(told) + ID_BYTES * len(too_late)
        self._note(trace_id, (Answered, self._clock(), told, frozenset(too_late), failure, final), size_bytes)

    def left(self, trace_id: bytes, spans: int, scored: int, *, early: bool) -> None:
        """See `collector.holding.contract.Witness`."""
        self._note(trace_id, (Left, self._clock(), spans, scored, early))

    def forgotten(self, trace_id: bytes) -> None:
        """See `collector.holding.contract.Witness`."""
        self._note(trace_id, (Forgotten, self._clock()))

    def refused(self, trace_id: bytes, destination: str, end: str) -> None:
        """A destination couldn't take a request with spans of a trace."""
        self._note(trace_id, (Refused, self._clock(), destination, end))

    def _note(self, trace_id: bytes, event: tuple[Any, ...], size_bytes: int = 0) -> None:
        account = self._accounts.get(trace_id)
        if account is None:
            account = self._accounts[trace_id] = Account(event[1])
            self.size_bytes += ACCOUNT_BYTES
            self._forget(event[1])
        if len(account.kept) >= MAX_EVENTS:
            account.omitted += 1
            return
        account.kept.append(event)
        size_bytes += EVENT_BYTES
        account.size_bytes += size_bytes
        self.size_bytes += size_bytes

    def _forget(self, now_s: float) -> None:
        """Make room; done with every new trace, so that those that grow exceed the limit by little."""
        oldest_s = now_s - self._max_age_s
        while len(self._accounts) > 1:
            trace_id, oldest = next(iter(self._accounts.items()))
            if self.size_bytes <= self._max_bytes and oldest.first_s >= oldest_s:
                return
            del self._accounts[trace_id]
            self.size_bytes -= oldest.size_bytes
            self.since_s = next(iter(self._accounts.values())).first_s

    # -- who asks ----------------------------------------------------------------------------------------------------

    def of(self, trace_id: bytes) -> Account | None:
        """What is on record about a trace."""
        return self._accounts.get(trace_id)

    def passed_s(self, trace_id: bytes) -> float | None:
        """When the first span came of a trace in which nothing is judged; None if it isn't known."""
        return self._passed.get(trace_id, self._passed_before.get(trace_id))

    def with_prefix(self, prefix: str) -> Iterator[bytes]:
        """The ids on record that begin with these hex digits; they may come twice."""
        for known in (self._accounts, self._passed, self._passed_before):
            yield from (trace_id for trace_id in list(known) if trace_id.hex().startswith(prefix))
