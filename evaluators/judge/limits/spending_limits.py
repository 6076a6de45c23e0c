"""Budgets: so many calls, tokens and so much money in any hour and in any day.

A ledger by the minute.  In: amounts before they are used, and what they turned out to be.  Out: whether an amount may
be used, and if not, which budget is in the way and when it frees up.  Reads no clock and no file; what was used before
a restart is handed in.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

from evaluators.judge.limit_settings import BudgetSettings, PeriodBudget
from evaluators.judge.limits.spending import Amount

DAY_MINUTES = 1440
_HOUR_MINUTES = 60
_MILLION = 1_000_000


@dataclass(frozen=True, slots=True)
class Entry:
    """An amount that stands in the ledger under a minute (of Unix time)."""

    minute: int
    amount: Amount


@dataclass(frozen=True, slots=True)
class _Limit:
    name: str
    minutes: int
    field: str
    most: int


class SpendingLimits:
    """The budgets of one judge.

    Args:
        settings: what may be used.
    """

    def __init__(self, settings: BudgetSettings) -> None:
        self._limits = [
            *_limits("per_hour", _HOUR_MINUTES, settings.per_hour),
            *_limits("per_day", DAY_MINUTES, settings.per_day),
        ]
        self._used: dict[int, Amount] = {}

    def load(self, used: dict[int, Amount]) -> None:
        """Take over what was used, by minute, in place of what is known."""
        self._used = dict(used)

    def refusal(self, amount: Amount, wall_s: float) -> str | None:
        """Why `amount` may not be used now, in words for an operator; None if it may."""
        minute = self._forget(wall_s)
        return next(filter(None, (self._in_the_way(limit, amount, minute) for limit in self._limits)), None)

    def take(self, amount: Amount, wall_s: float) -> Entry:
        """Enter an amount."""
        entry = Entry(self._forget(wall_s), amount)
        self._add(entry)
        return entry

    def settle(self, entry: Entry, amount: Amount) -> Entry:
        """The amount of an entry turned out to be another one; the difference, as an entry."""
        difference = Entry(entry.minute, amount - entry.amount)
        self._add(difference)
        return difference

    def _add(self, entry: Entry) -> None:
        self._used[entry.minute] = self._used.get(entry.minute, Amount()) + entry.amount

    def _forget(self, wall_s: float) -> int:
        """The minute that it is; what is older than a day is forgotten."""
        minute = int(wall_s // 60)
        for old in [one for one in self._used if one < minute - DAY_MINUTES]:
            del self._used[old]
        # A clock that was put back has entries ahead of it: they count as of now, not for ever.
        for ahead in [one for one in self._used if one > minute]:
            self._used[minute] = self._used.get(minute, Amount()) + self._used.pop(ahead)
        return minute

    def _in_the_way(self, limit: _Limit, amount: Amount, minute: int) -> str | None:
        wanted = getattr(amount, limit.field)
        # The oldest minute counts as a whole, so that no span of an hour has more, wherever it begins.
        window = sorted(one for one in self._used if one >= minute - limit.minutes)
        used = sum(getattr(self._used[one], limit.field) for one in window)
        if used + wanted <= limit.most:
            return None
        if wanted > limit.most:
            needs = _told(limit, wanted)
            return f"budget::{limit.name} ({_said(limit)}) is less than one request needs, {needs}; raise it"
        over = used + wanted - limit.most
        frees = minute
        for one in window:
            over -= getattr(self._used[one], limit.field)
            if over <= 0:
                frees = one + limit.minutes + 1
                break
        when = datetime.fromtimestamp(frees * 60, UTC).strftime("%Y-%m-%d %H:%M UTC")
        return f"budget::{limit.name} ({_said(limit)}) is used up; it frees up at {when}, or raise it"


def _limits(name: str, minutes: int, period: PeriodBudget) -> Iterator[_Limit]:
    if period.calls is not None:
        yield _Limit(f"{name}::calls", minutes, "calls", period.calls)
    if period.tokens is not None:
        yield _Limit(f"{name}::tokens", minutes, "tokens", period.tokens)
    if period.money is not None:
        yield _Limit(f"{name}::money", minutes, "micros", int(period.money * _MILLION))


def _said(limit: _Limit) -> str:
    return f"{limit.most / _MILLION:g}" if limit.field == "micros" else str(limit.most)


def _told(limit: _Limit, value: int) -> str:
    return f"{value / _MILLION:g}" if limit.field == "micros" else f"{value} {limit.field}"
