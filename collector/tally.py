"""Counts of everything that happens, by name and labels, for whoever reports them.

Counting is a dictionary update, cheap enough for every request; what is made of the counts is decided elsewhere.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

Labels = tuple[tuple[str, str], ...]


class Tally:
    """Monotonic counters. Belongs to one event loop."""

    def __init__(self) -> None:
        self._counts: Counter[tuple[str, Labels]] = Counter()

    def add(self, name: str, amount: int = 1, **labels: str) -> None:
        """Count `amount` more."""
        self._counts[name, tuple(labels.items())] += amount

    def get(self, name: str, **labels: str) -> int:
        """The count of exactly these labels."""
        return self._counts[name, tuple(labels.items())]

    def total(self, name: str) -> int:
        """The count over all labels."""
        return sum(count for (of, _), count in self._counts.items() if of == name)

    def __iter__(self) -> Iterator[tuple[str, Labels, int]]:
        return iter([(name, labels, count) for (name, labels), count in self._counts.items()])
