"""Sends requests to one judge's endpoint within every limit: the gate, the breaker, the budgets, the deadline.

In: an order, how urgent it is and until when it is worth anything.  Out: a reply, after as many attempts as are
allowed, or why there is none.  Every attempt waits for a place of its own, and what it used is entered in the budgets
however it ended.
"""

from __future__ import annotations

import asyncio
import random
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evaluators.judge.asking.retries import wait_before_retry_s
from evaluators.judge.endpoint.errors import RequestError, too_slow
from evaluators.judge.endpoint.manner import Manner
from evaluators.judge.endpoint.request import Order, Reply, Tally
from evaluators.judge.limits.breaker import Breaker, BreakerState
from evaluators.judge.limits.clock import Clock
from evaluators.judge.limits.deadline import Deadline
from evaluators.judge.limits.flow import Permit
from evaluators.judge.limits.gate import Gate
from evaluators.judge.limits.line import Rank, Urgency
from evaluators.judge.limits.not_asked import NotAskedError
from evaluators.judge.limits.spending import Amount, Expected, amount, expected, used
from evaluators.judge.limits.spending_limits import Entry, SpendingLimits
from evaluators.judge.limits.spending_store import SpendingStore
from evaluators.judge.report import Asked, Levels, OnReport, Outcome, SpendingReport
from evaluators.judge.settings import JudgeSettings
from evaluators.usage import total
from evaluators.verdict import Status

if TYPE_CHECKING:
    # Loads the library behind it.
    from evaluators.judge.endpoint.endpoint import Endpoint

_TAKEN = frozenset((Outcome.OK, Outcome.ADAPTED, Outcome.REJECTED, Outcome.TOO_LARGE, Outcome.UNREADABLE))
"""How requests end that weren't too many for the endpoint, whatever else was wrong with them."""
_MOST_LESSONS = 8
"""An endpoint that has something to learn about it with every request is given up."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """Whose turn it is: how urgent, the how-manieth that asked, and until when."""

    urgency: Urgency
    number: int
    deadline: Deadline


@dataclass(frozen=True, slots=True)
class _Attempt:
    """One request that may be sent: in which manner, by leave of gate and breaker, and what it will use."""

    order: Order
    manner: Manner
    permit: Permit
    ticket: int
    before: Expected


class Sender:
    """The way to one judge's endpoint.

    Args:
        settings: the judge's.
        endpoint: sends one request.
        gate: where a place is waited for.
        name: under which it is kept what this judge used.
        clock: the time.
        on_report: told what was spent.
    """

    def __init__(
        self, settings: JudgeSettings, endpoint: Endpoint, gate: Gate, name: str, clock: Clock, on_report: OnReport
    ) -> None:
        self._settings = settings
        self._endpoint = endpoint
        self._gate = gate
        self._clock = clock
        self._on_report = on_report
        self._breaker = Breaker(settings.breaker.failures, settings.breaker.pause)
        self._spending = SpendingLimits(settings.budget)
        self._store = SpendingStore(settings.budget.file, name) if settings.budget.has_limits else None

    async def close(self) -> None:
        """Close connections and files."""
        await self._endpoint.close()
        if self._store is not None:
            self._store.close()

    def levels(self) -> Levels:
        """How it stands with the limits."""
        flow = self._gate.flow
        return Levels(
            queued=len(flow.line),
            under_way=flow.under_way,
            limit=flow.limit,
            breaker_open=self._breaker.state is not BreakerState.CLOSED,
        )

    @property
    def waits_for(self) -> str:
        """What whoever waits for a place waits for."""
        return self._gate.why

    async def send(self, order: Order, tally: Tally, turn: Turn) -> Reply:
        """One reply.

        Raises:
            NotAskedError: a limit on our side held.
            RequestError: the attempts that were allowed brought no reply.
        """
        retries_made = lessons = 0
        while True:
            try:
                return await self._attempt(order, tally, turn)
            except RequestError as failure:
                if failure.again and lessons < _MOST_LESSONS:
                    lessons += 1
                    continue
                wait_s = wait_before_retry_s(
                    failure,
                    retries_made=retries_made,
                    max_retries=self._settings.max_retries,
                    left_s=turn.deadline.ends_s - self._clock.now_s(),
                    jitter=random.random(),
                )
                if wait_s is None or self._breaker.state is BreakerState.OPEN:
                    raise
            await self._clock.sleep(wait_s)
            retries_made += 1

    async def _attempt(self, order: Order, tally: Tally, turn: Turn) -> Reply:
        before = expected(order.tokens, max(1, order.questions))
        self._require_allowed(before)
        rank = Rank(turn.urgency, turn.number, before.tokens)
        permit = await self._gate.enter(rank, turn.deadline.ends_s)
        turn.deadline.begin()
        sent = False
        try:
            async with self._endpoint.turn() as manner:
                # Much may have happened since.
                self._gate.require_open()
                self._require_allowed(before)
                ticket = self._breaker.admit(self._clock.now_s())
                if ticket is None:
                    raise self._breaker_open()
                sent = True
                return await self._request(_Attempt(order, manner, permit, ticket, before), tally)
        finally:
            if not sent:
                self._gate.unused(permit)

    async def _request(self, attempt: _Attempt, tally: Tally) -> Reply:
        """Sends it, and enters what came of it wherever that counts."""
        entry = self._reserve(attempt.before)
        spent_before = len(tally.usages)
        outcome, problem, answer = Outcome.ABANDONED, "", None
        http_status = retry_after_s = None
        limit = asyncio.timeout(self._settings.timeout)
        try:
            async with limit:
                reply = await self._endpoint.request(attempt.order, attempt.manner, tally)
            outcome, answer, http_status = Outcome.OK, reply.text or "", 200
            return reply
        except RequestError as failure:
            outcome, problem = failure.outcome, failure.reason
            http_status, retry_after_s = failure.http_status, failure.retry_after_s
            raise
        except TimeoutError:
            late = too_slow(self._settings)
            outcome, problem = late.outcome, late.reason
            raise late from None
        finally:
            usage = total(tally.usages[spent_before:])
            after, is_estimate = used(attempt.before, usage, outcome, answer, http_status)
            self._settle(entry, after, is_estimate=is_estimate)
            self._breaker.ended(attempt.ticket, outcome, problem, self._clock.now_s())
            self._leave(attempt.permit, outcome, after, retry_after_s)

    def _leave(self, permit: Permit, outcome: Outcome, after: Expected, retry_after_s: float | None) -> None:
        if outcome is Outcome.RATE_LIMITED:
            self._gate.refused(permit, retry_after_s)
        elif outcome in _TAKEN:
            self._gate.accepted(permit, after.tokens)
        else:
            self._gate.abandoned(permit, after.tokens)

    def _require_allowed(self, before: Expected) -> None:
        if not self._breaker.may_pass(self._clock.now_s()):
            raise self._breaker_open()
        if self._store is not None and (used_elsewhere := self._store.changed(self._clock.wall_s())) is not None:
            self._spending.load(used_elsewhere)
        refusal = self._spending.refusal(self._amount(before), self._clock.wall_s())
        if refusal is not None:
            raise NotAskedError(refusal, Status.OVER_BUDGET, Asked.OVER_BUDGET)

    def _reserve(self, before: Expected) -> Entry:
        entry = self._spending.take(self._amount(before), self._clock.wall_s())
        if self._store is not None:
            self._store.add(entry)
        return entry

    def _settle(self, entry: Entry, after: Expected, *, is_estimate: bool) -> None:
        difference = self._spending.settle(entry, self._amount(after))
        if self._store is not None and difference.amount != Amount():
            self._store.add(difference)
        money = self._amount(after).micros / 1_000_000 if self._settings.prices is not None else None
        self._on_report(SpendingReport(tokens=after.tokens, money=money, estimated=is_estimate))

    def _amount(self, tokens: Expected) -> Amount:
        return amount(tokens.read, tokens.written, self._settings.prices)

    def _breaker_open(self) -> NotAskedError:
        wait_s = self._breaker.wait_s(self._clock.now_s())
        again = f"it is tried again in {wait_s:.0f} s" if wait_s > 0 else "one request is trying it now"
        return NotAskedError(
            f"not asked, as {self._breaker.failed} requests in a row failed, and {again}; the last failure: "
            f"{self._breaker.reason}",
            Status.JUDGE_ERROR,
            Asked.BREAKER_OPEN,
        )
