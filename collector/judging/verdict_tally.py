"""Verdicts and their scores, counted until the service is told.

In: verdicts.  Out: counts as plain data, equal things added up.  Nothing of what they say is kept.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from collector.judging.jobs import ScoreCount, VerdictCount
from collector.score_buckets import Buckets
from evaluators.verdict import Verdict


class VerdictTally:
    """Counts since they were last taken."""

    def __init__(self, verdicts: Iterable[Verdict] = ()) -> None:
        self._kinds: Counter[tuple[str, str, str | None, str, bool]] = Counter()
        self._scores: dict[tuple[str, str, str], Buckets] = {}
        for verdict in verdicts:
            self._add(verdict)

    def _add(self, verdict: Verdict) -> None:
        kind = (verdict.evaluator, verdict.status.value, verdict.label, verdict.method.value, verdict.uncalibrated)
        self._kinds[kind] += 1
        if verdict.score is not None:
            self._buckets((verdict.evaluator, verdict.label or "", verdict.level.value)).add(verdict.score)

    def _buckets(self, kind: tuple[str, str, str]) -> Buckets:
        if kind not in self._scores:
            self._scores[kind] = Buckets()
        return self._scores[kind]

    def join(self, other: VerdictTally) -> None:
        """Count what another one has."""
        self._kinds.update(other._kinds)
        for kind, theirs in other._scores.items():
            self._buckets(kind).join(theirs.counts, theirs.total, theirs.least, theirs.greatest)

    def take(self) -> list[VerdictCount | ScoreCount]:
        """What was counted."""
        kinds = [VerdictCount(*kind, count) for kind, count in self._kinds.items()]
        scores = [
            ScoreCount(*kind, tuple(one.counts), one.total, one.least, one.greatest)
            for kind, one in self._scores.items()
        ]
        self._kinds.clear()
        self._scores.clear()
        return [*kinds, *scores]
