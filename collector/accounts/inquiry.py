"""Answers what became of a trace: finds it by its id or the beginning of it, and gathers what everybody knows of it.

In: the text that somebody asked with.  Out: an HTTP status and an object to answer with.  Looks at what waits for
destinations request by request and gives way in between, so that nothing else waits for whoever asks.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from typing import NamedTuple, Protocol

from collector.accounts.accounts import Accounts
from collector.accounts.story import Known, Outgoing, Story, story_of
from collector.holding.ledger import Remembered
from collector.holding.situation import Situation
from collector.journal.errors import DamagedRecordError
from collector.records import Parcel, Ref

TRACE_ID_DIGITS = 32
FEWEST_DIGITS = 8
_HEX = re.compile(r"[0-9a-f]+")


class Holding(Protocol):
    """The assembler, as far as it is asked."""

    def situation(self, trace_id: bytes, now_s: float) -> Situation | None:
        """How it stands with a trace; None if nothing of it is kept."""

    def recall(self, trace_id: bytes) -> Remembered | None:
        """What is known of a trace that was judged, also when nothing of it is kept."""

    def with_prefix(self, prefix: str) -> list[bytes]:
        """The ids of traces that are kept and whose id begins with these hex digits."""


class Way(NamedTuple):
    """A destination: `waits` if it gets spans when they are judged; `refs` gives what waits for it or is under way."""

    exporter: str
    waits: bool
    refs: Callable[[], Sequence[Ref]]


class Inquiry:
    """See the module's text.

    Args:
        accounts: what is on record.
        holding: the assembler; None where nothing is held.
        job_at: where a trace's job is: `queue`, `rules`, `judge`, or None.
        ways: the destinations of traces there are now.
        read: the parcel behind a reference; raises KeyError once it has gone, DamagedRecordError if it can't be read.
        clock, wall_clock: seconds of a monotonic clock, and since 1970.
    """

    def __init__(
        self,
        accounts: Accounts,
        holding: Holding | None,
        job_at: Callable[[bytes], str | None],
        ways: Callable[[], Iterable[Way]],
        read: Callable[[Ref], Parcel],
        clock: Callable[[], float] = time.monotonic,
        wall_clock: Callable[[], float] = time.time,
    ) -> None:
        self._accounts = accounts
        self._holding = holding
        self._job_at = job_at
        self._ways = ways
        self._read = read
        self._clock = clock
        self._wall_clock = wall_clock

    async def explain(self, text: str) -> tuple[int, Story]:
        """The story of a trace, or why there is none, with the HTTP status that says the same.

        Args:
            text: a trace id as it is written anywhere: upper or lower case, with dashes or without, or its first
                digits, at least eight.
        """
        digits = text.strip().replace("-", "").lower()
        if not _HEX.fullmatch(digits) or not FEWEST_DIGITS <= len(digits) <= TRACE_ID_DIGITS:
            return 400, {
                "error": "this is no trace id; give its 32 hexadecimal digits, or at least the first eight of them"
            }
        if len(digits) == TRACE_ID_DIGITS:
            trace_id = bytes.fromhex(digits)
        else:
            found = self._with_prefix(digits)
            if len(found) > 1:
                named = ", ".join(sorted(one.hex() for one in found)[:5])
                return 409, {"error": f"{len(found)} traces begin with these digits; give more of them: {named}"}
            if not found:
                return 404, self._unknown(digits)
            trace_id = found.pop()
        story = await self._story(trace_id)
        return (404, self._unknown(digits)) if story is None else (200, story)

    def _with_prefix(self, digits: str) -> set[bytes]:
        found = set(self._accounts.with_prefix(digits))
        if self._holding is not None:
            found.update(self._holding.with_prefix(digits))
        return found

    async def _story(self, trace_id: bytes) -> Story | None:
        outgoing = [await self._outgoing(way, trace_id) for way in self._ways()]
        now_s = self._clock()
        known = Known(
            account=self._accounts.of(trace_id),
            situation=None if self._holding is None else self._holding.situation(trace_id, now_s),
            job_at=self._job_at(trace_id),
            passed_s=self._accounts.passed_s(trace_id),
            remembered=None if self._holding is None else self._holding.recall(trace_id),
            outgoing=outgoing,
        )
        return story_of(trace_id, known, now_s, self._wall_clock())

    async def _outgoing(self, way: Way, trace_id: bytes) -> Outgoing:
        queued = unseen = 0
        for ref in way.refs():
            try:
                # The id's bytes stand in every span of the trace as they are.
                queued += trace_id in self._read(ref).request
            except KeyError:
                pass  # delivered while others were looked at
            except DamagedRecordError:
                unseen += 1
            await asyncio.sleep(0)
        return Outgoing(way.exporter, way.waits, queued, unseen)

    def _unknown(self, digits: str) -> Story:
        since_s = self._wall_clock() - (self._clock() - self._accounts.since_s)
        since = datetime.fromtimestamp(since_s, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
        return {
            "error": f"nothing is known of trace {digits}",
            "record_since": since,
            "reasons": [
                "it never arrived here: look at the sender's log, and at spanjudge_receiver_refused_spans and "
                "spanjudge_receiver_rejected_spans",
                f"it came before {since}, where the record begins, and its content has left",
                "another sidecar took it",
            ],
        }
