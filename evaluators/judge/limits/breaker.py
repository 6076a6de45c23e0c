"""The circuit breaker of one judge: an endpoint that is down or misconfigured isn't asked again and again.

Closed, every request passes.  After so many failures in a row it opens: nothing passes for a while.  Then it is half
open: one request passes as a probe.  If that is answered, the breaker closes; if it fails, it opens for twice as long.
In: how requests ended, with the time.  Out: whether the next may pass.  Reads no clock.
"""

from __future__ import annotations

from enum import StrEnum

from evaluators.judge.report import Outcome

LONGEST_PAUSE_S = 300.0
_DOWN = frozenset(
    (
        Outcome.UNREACHABLE,
        Outcome.SERVER_ERROR,
        Outcome.UNAUTHORIZED,
        Outcome.NOT_FOUND,
        Outcome.TIMED_OUT,
        Outcome.UNREADABLE,
    )
)
"""What says that the next request will fail as well.  A limit of rate isn't among these, nor an answer that is junk."""


class BreakerState(StrEnum):
    """Whether requests pass."""

    CLOSED = "closed"
    OPEN = "open"
    HALF_OPEN = "half_open"


class Breaker:
    """Counts failures in a row.

    Args:
        failures: how many open it.
        pause_s: for how long, the first time.
    """

    def __init__(self, failures: int, pause_s: float) -> None:
        self.state = BreakerState.CLOSED
        self.reason = ""
        """What the last failure was, in words for an operator."""
        self.failed = 0
        """How many failures there were in a row."""
        self._failures = failures
        self._first_pause_s = pause_s
        self._pause_s = pause_s
        self._opened_s = 0.0
        self._probing = False
        self._openings = 0

    def wait_s(self, now_s: float) -> float:
        """Seconds until the next request may pass; 0 if it may now, or once the probe under way is answered."""
        return 0.0 if self.state is BreakerState.CLOSED else max(0.0, self._opened_s + self._pause_s - now_s)

    def may_pass(self, now_s: float) -> bool:
        """Whether a request would be admitted."""
        return self.state is BreakerState.CLOSED or (not self._probing and self.wait_s(now_s) == 0)

    def admit(self, now_s: float) -> int | None:
        """A ticket for a request that may be sent, to be handed back when it `ended`; None when none may."""
        if not self.may_pass(now_s):
            return None
        if self.state is not BreakerState.CLOSED:
            self.state = BreakerState.HALF_OPEN
            self._probing = True
        return self._openings

    def ended(self, ticket: int, outcome: Outcome, problem: str, now_s: float) -> None:
        """How a request ended that had been admitted. What was sent before the breaker opened is history."""
        if ticket < self._openings:
            return
        half_open = self.state is BreakerState.HALF_OPEN
        self._probing = False
        if outcome is Outcome.ABANDONED:
            # Given up on our side, which says nothing about the endpoint; the next may be the probe.
            return
        if outcome not in _DOWN:
            self.state, self.failed, self.reason = BreakerState.CLOSED, 0, ""
            return
        self.failed += 1
        self.reason = problem
        if half_open:
            self._open(min(2 * self._pause_s, max(LONGEST_PAUSE_S, self._first_pause_s)), now_s)
        elif self.failed >= self._failures:
            self._open(self._first_pause_s, now_s)

    def _open(self, pause_s: float, now_s: float) -> None:
        self.state, self._pause_s, self._opened_s = BreakerState.OPEN, pause_s, now_s
        self._openings += 1
