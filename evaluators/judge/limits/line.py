"""Requests that wait for a place, in the order in which they get one: a bounded queue.

What goes first: questions about failures, then what rules suspect, then the rest; of equals what was asked first.  When
the line is full, the last in that order is dropped, be it the newcomer or another.  Knows no clock.
"""

from __future__ import annotations

from bisect import insort
from dataclasses import dataclass, field
from enum import IntEnum


class Urgency(IntEnum):
    """What goes first; lower goes before higher."""

    FAILURE = 0
    """The run, a turn or a call that is asked about failed."""
    SUSPICION = 1
    """Rules suspect something."""
    SAMPLE = 2
    """Nothing is known to be wrong."""


@dataclass(frozen=True, slots=True, order=True)
class Rank:
    """A place in the order: how urgent, and the how-manieth that was asked."""

    urgency: Urgency
    number: int
    tokens: int = field(compare=False, default=0)
    """How many tokens the request is expected to use."""


class Line:
    """Ranks that wait.

    Args:
        most: how many may wait; None for any number.
    """

    def __init__(self, most: int | None) -> None:
        self._most = most
        self._waiting: list[Rank] = []

    def __len__(self) -> int:
        return len(self._waiting)

    @property
    def first(self) -> Rank | None:
        """Whoever is next."""
        return self._waiting[0] if self._waiting else None

    def join(self, rank: Rank) -> Rank | None:
        """Take a place in the line; whoever is dropped for it."""
        insort(self._waiting, rank)
        if self._most is not None and len(self._waiting) > self._most:
            return self._waiting.pop()
        return None

    def leave(self, rank: Rank) -> None:
        """Go, whether served or not."""
        if rank in self._waiting:
            self._waiting.remove(rank)
