"""The gate before an endpoint: whoever wants to send a request waits here for a place.

Judges with the same address and key share one gate, and of each limit the strictest that one of them sets.  In: a
rank and how late its answer may come.  Out: a permit, or `NotAskedError` with the reason.
`evaluators.judge.limits.flow` decides, the gate only waits.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Iterable
from dataclasses import dataclass

from evaluators.judge.limits.clock import Clock, SystemClock
from evaluators.judge.limits.flow import Flow, Limits, Permit
from evaluators.judge.limits.line import Rank
from evaluators.judge.limits.not_asked import IS_STOPPED, NotAskedError
from evaluators.judge.report import Asked
from evaluators.judge.settings import JudgeSettings
from evaluators.verdict import Status


@dataclass(slots=True)
class _Waiting:
    place: asyncio.Future[Permit]
    latest_s: float


class Gate:
    """Lets requests through, in order.

    Args:
        limits: what holds for all who come here.
        clock: the time.
    """

    def __init__(self, limits: Limits, clock: Clock | None = None) -> None:
        self.flow = Flow(limits)
        self.why = ""
        """What those who wait were waiting for, when it was last looked."""
        self._max_queued = limits.max_queued
        self._clock = clock or SystemClock()
        self._waiting: dict[Rank, _Waiting] = {}
        self._waking: asyncio.Task[None] | None = None
        self._numbers = 0
        self._closed = False

    def number(self) -> int:
        """The number of the next to ask: of equally urgent ones the lower goes first."""
        self._numbers += 1
        return self._numbers

    async def enter(self, rank: Rank, latest_s: float) -> Permit:
        """Wait for a place.

        Args:
            rank: who asks, unlike that of anybody else who waits.
            latest_s: when the answer is of no use any more, by the clock.

        Raises:
            NotAskedError: the line is full of what goes first, the endpoint wants nobody to ask before `latest_s`, or
                the gate is closed.
        """
        self.require_open()
        if self.flow.paused_until_s > max(latest_s, self._clock.now_s()):
            raise self._paused()
        place: asyncio.Future[Permit] = asyncio.get_running_loop().create_future()
        self._waiting[rank] = _Waiting(place, latest_s)
        dropped = self.flow.line.join(rank)
        if dropped is not None:
            self._fail(dropped, self._full())
        self._go_on()
        try:
            return await place
        except asyncio.CancelledError:
            if place.done() and not place.cancelled() and place.exception() is None:
                self.flow.unused(place.result())
            else:
                self._waiting.pop(rank, None)
                self.flow.line.leave(rank)
            self._go_on()
            raise

    def require_open(self) -> None:
        """Raises NotAskedError if the gate is closed, perhaps since one went through."""
        if self._closed:
            raise _stopped()

    def close(self) -> None:
        """Let nobody through any more."""
        self._closed = True
        for rank in list(self._waiting):
            self.flow.line.leave(rank)
            self._fail(rank, _stopped())

    def unused(self, permit: Permit) -> None:
        """Nothing was sent."""
        self.flow.unused(permit)
        self._go_on()

    def accepted(self, permit: Permit, tokens: int) -> None:
        """The endpoint took the request, and `tokens` were used."""
        self.flow.accepted(permit, tokens)
        self._go_on()

    def refused(self, permit: Permit, retry_after_s: float | None) -> None:
        """The endpoint answered 429."""
        self.flow.refused(permit, retry_after_s, self._clock.now_s())
        for rank, waiting in list(self._waiting.items()):
            if self.flow.paused_until_s > waiting.latest_s:
                self.flow.line.leave(rank)
                self._fail(rank, self._paused())
        self._go_on()

    def abandoned(self, permit: Permit, tokens: int) -> None:
        """The request was given up; `tokens` may have been used."""
        self.flow.abandoned(permit, tokens)
        self._go_on()

    def _go_on(self) -> None:
        """Let through whoever may go, and see to it that the next is looked at in time."""
        if self._waking is not None:
            self._waking.cancel()
            self._waking = None
        while self._waiting:
            found = self.flow.next(self._clock.now_s())
            if not isinstance(found, Permit):
                self.why = found.why
                if found.seconds is not None:
                    self._waking = asyncio.create_task(self._wake(found.seconds), name="judge gate")
                return
            place = self._waiting.pop(found.rank).place
            if place.done():
                self.flow.unused(found)
            else:
                place.set_result(found)

    async def _wake(self, wait_s: float) -> None:
        await self._clock.sleep(wait_s)
        self._waking = None
        self._go_on()

    def _fail(self, rank: Rank, why: NotAskedError) -> None:
        place = self._waiting.pop(rank).place
        if not place.done():
            place.set_exception(why)

    def _paused(self) -> NotAskedError:
        wait_s = self.flow.paused_until_s - self._clock.now_s()
        return NotAskedError(
            f"the endpoint limits the rate of requests and asked to wait {wait_s:.0f} s more, longer than "
            f"limits.deadline leaves; lower max_concurrent_requests or limits.requests_per_minute",
            Status.JUDGE_ERROR,
            Asked.PAUSED,
        )

    def _full(self) -> NotAskedError:
        return NotAskedError(
            f"{self._max_queued} requests that go first wait for the judge; "
            f"raise limits.max_queued or max_concurrent_requests, or judge less",
            Status.OVER_BUDGET,
            Asked.QUEUE_FULL,
        )


def _stopped() -> NotAskedError:
    return NotAskedError(IS_STOPPED, Status.JUDGE_ERROR, Asked.STOPPED)


class Gates:
    """The gates of all judges of one process.

    Args:
        judges: the settings of all of them.
        clock: the time.
        unbounded: any number may wait, for commands that judge a file.
    """

    def __init__(self, judges: Iterable[JudgeSettings], clock: Clock | None = None, *, unbounded: bool = False) -> None:
        behind: dict[str, list[JudgeSettings]] = {}
        for settings in judges:
            behind.setdefault(_identity(settings), []).append(settings)
        self._gates = {
            identity: Gate(_strictest(together, unbounded=unbounded), clock) for identity, together in behind.items()
        }

    def gate_of(self, settings: JudgeSettings) -> Gate:
        """The gate of one of the judges.

        Raises:
            KeyError: it isn't one of them.
        """
        return self._gates[_identity(settings)]


def _strictest(judges: list[JudgeSettings], *, unbounded: bool) -> Limits:
    """The lowest of each limit; a default gives way to what is said."""
    said = [one.max_concurrent_requests for one in judges if "max_concurrent_requests" in one.model_fields_set]
    requests = [one.limits.requests_per_minute for one in judges if one.limits.requests_per_minute is not None]
    tokens = [one.limits.tokens_per_minute for one in judges if one.limits.tokens_per_minute is not None]
    return Limits(
        places=min(said or [judges[0].max_concurrent_requests]),
        requests_per_minute=min(requests, default=None),
        tokens_per_minute=min(tokens, default=None),
        max_queued=None if unbounded else min(one.limits.max_queued for one in judges),
    )


def _identity(settings: JudgeSettings) -> str:
    """What tells address and key apart, without saying the key."""
    headers = sorted((name.lower(), value.get_secret_value()) for name, value in settings.headers.items())
    parts = (settings.base_url, settings.api_key.get_secret_value(), repr(headers))
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()
