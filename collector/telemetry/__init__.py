"""The sidecar's own metrics, named like the Collector's under the prefix `spanjudge_`.

Components get small objects (`ReceiverMetrics`, `ExporterMetrics`, …) with one method per thing that can happen.
Counts and names only: no metric or attribute ever holds anything from a span.  Everything that is counted belongs to
the event loop, and is read there in one go (`collector.own_metrics`), so that what is read belongs to one moment.
"""

from collector.telemetry.exporters import ExporterMetrics
from collector.telemetry.instruments import ITEMS, Gauge, Instruments
from collector.telemetry.judges import JudgeMetrics
from collector.telemetry.provider import Telemetry, without_otel_environment
from collector.telemetry.receivers import ReceiverMetrics
from collector.telemetry.scores import ScoreHistogram
from collector.telemetry.traces import TraceMetrics

__all__ = [
    "ITEMS",
    "ExporterMetrics",
    "Gauge",
    "Instruments",
    "JudgeMetrics",
    "ReceiverMetrics",
    "ScoreHistogram",
    "Telemetry",
    "TraceMetrics",
    "without_otel_environment",
]
