"""Scores as a histogram, by evaluator, label and level.

The judging process has counted them into buckets already; the SDK only takes single values.  So this histogram is kept
here, and joins what the SDK has collected on its way out.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import replace

from opentelemetry.sdk.metrics.export import (
    AggregationTemporality,
    Histogram,
    HistogramDataPoint,
    Metric,
    MetricsData,
    ResourceMetrics,
)

from collector.score_buckets import BOUNDS, Buckets
from collector.telemetry.instruments import PREFIX

SCORE = "processor_score"


class ScoreHistogram:
    """See the module's text. Counts since it was made."""

    def __init__(self) -> None:
        self._since_ns = time.time_ns()
        self._buckets: dict[tuple[str, str, str], Buckets] = {}

    def of(self, evaluator: str, label: str, level: str) -> Buckets:
        """Where scores of this kind are counted."""
        key = evaluator, label, level
        if key not in self._buckets:
            self._buckets[key] = Buckets()
        return self._buckets[key]

    def joined_to(self, collected: MetricsData) -> MetricsData:
        """What was collected, with this beside it."""
        if not self._buckets:
            return collected
        return replace(collected, resource_metrics=[self._beside(one) for one in collected.resource_metrics])

    def _beside(self, resource: ResourceMetrics) -> ResourceMetrics:
        first, *others = resource.scope_metrics
        return replace(resource, scope_metrics=[replace(first, metrics=[*first.metrics, self._metric()]), *others])

    def _metric(self) -> Metric:
        now_ns = time.time_ns()
        points = Histogram(list(self._points(now_ns)), AggregationTemporality.CUMULATIVE)
        return Metric(PREFIX + SCORE, "Scores by evaluator, label and level.", "", points)

    def _points(self, now_ns: int) -> Iterable[HistogramDataPoint]:
        for (evaluator, label, level), buckets in self._buckets.items():
            yield HistogramDataPoint(
                attributes={"evaluator": evaluator, "label": label, "level": level},
                start_time_unix_nano=self._since_ns,
                time_unix_nano=now_ns,
                count=sum(buckets.counts),
                sum=buckets.total,
                bucket_counts=tuple(buckets.counts),
                explicit_bounds=BOUNDS,
                min=buckets.least,
                max=buckets.greatest,
            )
