"""Scores counted into buckets, so that many of them can be handed on as a few numbers."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, field

BOUNDS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
"""Upper ends of the buckets, which are part of them: the first one has the zeros alone."""


@dataclass(slots=True)
class Buckets:
    """How many scores there are in each bucket, the last one above all bounds; their sum, least and greatest."""

    counts: list[int] = field(default_factory=lambda: [0] * (len(BOUNDS) + 1))
    total: float = 0.0
    least: float = float("inf")
    greatest: float = float("-inf")

    def add(self, score: float) -> None:
        """Count one score."""
        self.counts[bisect_left(BOUNDS, score)] += 1
        self.total += score
        self.least = min(self.least, score)
        self.greatest = max(self.greatest, score)

    def join(self, counts: Sequence[int], total: float, least: float, greatest: float) -> None:
        """Count what was counted elsewhere, told in the order of the fields."""
        self.counts = [ours + theirs for ours, theirs in zip(self.counts, counts, strict=True)]
        self.total += total
        self.least = min(self.least, least)
        self.greatest = max(self.greatest, greatest)
