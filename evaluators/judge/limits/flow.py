"""When the next request to an endpoint may be sent: every limit that judges with one address and key share.

Places, requests and tokens per minute, the pause that the endpoint asked for, and the line of those who wait, as one
state machine.  In: who waits, how requests ended, and the time.  Out: who goes next, or how long nobody does.  Reads
no clock and sends nothing; `evaluators.judge.limits.gate` does.
"""

from __future__ import annotations

from dataclasses import dataclass

from evaluators.judge.limits.aimd import Aimd
from evaluators.judge.limits.line import Line, Rank
from evaluators.judge.limits.rate import PerMinute

LONGEST_PAUSE_S = 3600.0
"""An endpoint that asks for more is tried again after this."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What holds for one address and key."""

    places: int
    requests_per_minute: int | None = None
    tokens_per_minute: int | None = None
    max_queued: int | None = None


@dataclass(frozen=True, slots=True)
class Permit:
    """Leave to send one request now; hand it back when that has ended."""

    rank: Rank
    round: int
    pauses: int
    request: int
    tokens: int


@dataclass(frozen=True, slots=True)
class Wait:
    """Nobody goes. `seconds` until that may change by itself, None if only the end of a request changes it."""

    seconds: float | None
    why: str


class Flow:
    """The limits of one address and key."""

    def __init__(self, limits: Limits) -> None:
        self.line = Line(limits.max_queued)
        self.under_way = 0
        self.paused_until_s = 0.0
        self._aimd = Aimd(limits.places)
        self._requests = PerMinute(limits.requests_per_minute)
        self._tokens = PerMinute(limits.tokens_per_minute)
        self._pauses = 0
        # After a pause one request tries alone, so that those who waited don't all come at once.
        self._trying = 0
        self._tries_alone = False

    @property
    def limit(self) -> int:
        """How many requests may be under way now."""
        return 1 if self._tries_alone else self._aimd.limit

    def next(self, now_s: float) -> Permit | Wait:
        """Leave for the first in line, who is out of it then."""
        first = self.line.first
        if first is None:
            return Wait(None, "nobody waits")
        if now_s < self.paused_until_s:
            return Wait(self.paused_until_s - now_s, "the endpoint asked to wait (Retry-After)")
        if self._tries_alone and self._trying:
            return Wait(None, "the endpoint had asked to wait, one request tries it")
        if self.under_way >= self._aimd.limit:
            return Wait(None, f"all places were taken, {self._aimd.limit} at that time")
        if (wait_s := self._requests.wait_s(1, now_s)) > 0:
            return Wait(wait_s, "requests_per_minute was used up")
        if (wait_s := self._tokens.wait_s(first.tokens, now_s)) > 0:
            return Wait(wait_s, "tokens_per_minute was used up")
        self.line.leave(first)
        self.under_way += 1
        self._trying += self._tries_alone
        return Permit(
            rank=first,
            round=self._aimd.sent(),
            pauses=self._pauses,
            request=self._requests.take(1, now_s),
            tokens=self._tokens.take(first.tokens, now_s),
        )

    def unused(self, permit: Permit) -> None:
        """Nothing was sent after all."""
        self._requests.correct(permit.request, 0)
        self._tokens.correct(permit.tokens, 0)
        self._free(permit)

    def accepted(self, permit: Permit, tokens: int) -> None:
        """The endpoint took the request, whatever came of it; it used so many tokens."""
        self._tokens.correct(permit.tokens, tokens)
        self._free(permit)
        if permit.pauses == self._pauses:
            self._tries_alone = False
        self._aimd.accepted(permit.round)

    def refused(self, permit: Permit, retry_after_s: float | None, now_s: float) -> None:
        """The endpoint said "too many", and perhaps for how long nobody is to ask."""
        self._tokens.correct(permit.tokens, 0)
        self._free(permit)
        self._aimd.refused(permit.round)
        if retry_after_s:
            until_s = now_s + min(retry_after_s, LONGEST_PAUSE_S)
            if until_s > self.paused_until_s:
                self.paused_until_s = until_s
                self._pauses += 1
                self._trying = 0
                self._tries_alone = True

    def abandoned(self, permit: Permit, tokens: int) -> None:
        """Given up on our side, which tells nothing; it may have used so many tokens."""
        self._tokens.correct(permit.tokens, tokens)
        self._free(permit)

    def _free(self, permit: Permit) -> None:
        self.under_way -= 1
        if self._tries_alone and permit.pauses == self._pauses:
            self._trying -= 1
