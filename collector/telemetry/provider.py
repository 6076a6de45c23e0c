"""All own metrics together: made with the OpenTelemetry SDK on a meter provider of its own.

`OTEL_*` environment variables have no influence: they are meant for the agent beside the sidecar.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from importlib.metadata import version

from opentelemetry.sdk.metrics import AlwaysOffExemplarFilter, MeterProvider
from opentelemetry.sdk.metrics.export import MetricReader
from opentelemetry.sdk.metrics.view import ExplicitBucketHistogramAggregation, View
from opentelemetry.sdk.resources import Resource

from collector.records import Signal
from collector.telemetry.exporters import ExporterMetrics
from collector.telemetry.instruments import PREFIX, Instruments
from collector.telemetry.judges import REQUEST_DURATION, REQUEST_SECONDS, JudgeMetrics
from collector.telemetry.receivers import ReceiverMetrics
from collector.telemetry.scores import ScoreHistogram
from collector.telemetry.traces import TraceMetrics

_WRITE_DURATION = "journal_write_duration"
_WRITE_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)
_BUCKETS = {REQUEST_DURATION: REQUEST_SECONDS, _WRITE_DURATION: _WRITE_SECONDS}


class Telemetry:
    """All own metrics.

    Args:
        readers: ways out for the metrics (see `collector.metric_readers`); without one nothing leaves the process.
        resource: attributes of the resource, over `service.name` and `service.version`.
        scores: the histogram of scores, which the readers know as well.
    """

    def __init__(
        self,
        readers: Sequence[MetricReader] = (),
        resource: dict[str, str] | None = None,
        scores: ScoreHistogram | None = None,
    ) -> None:
        self.version = version("spanjudge")
        attributes = {"service.name": "spanjudge", "service.version": self.version, **(resource or {})}
        views = [
            View(instrument_name=PREFIX + name, aggregation=ExplicitBucketHistogramAggregation(bounds))
            for name, bounds in _BUCKETS.items()
        ]
        with without_otel_environment():
            self._provider = MeterProvider(
                readers,
                Resource(attributes),
                exemplar_filter=AlwaysOffExemplarFilter(),
                shutdown_on_exit=False,
                views=views,
            )
        self.instruments = Instruments(self._provider.get_meter("spanjudge", self.version))
        self.traces = TraceMetrics(self.instruments)
        self.scores = ScoreHistogram() if scores is None else scores
        self._writes = self.instruments.histogram(
            _WRITE_DURATION, "Time that writing to the journal took, syncing included.", "s"
        )

    def receiver(self, receiver: str, signals: Iterable[Signal] = ()) -> ReceiverMetrics:
        """The counters of a receiver, by its id."""
        return ReceiverMetrics(self.instruments, receiver, signals)

    def exporter(self, exporter: str) -> ExporterMetrics:
        """The counters of an exporter, by its id, and the gauges of one queue of it."""
        return ExporterMetrics(self.instruments, exporter)

    def judge(self, judge: str) -> JudgeMetrics:
        """The counters of a judge, by its id."""
        return JudgeMetrics(self.instruments, judge)

    def journal_wrote(self, duration_s: float) -> None:
        """A group of records was written to the journal. May be called in any thread."""
        self._writes.record(duration_s)

    def replace_readers(self, old: Iterable[MetricReader], new: Iterable[MetricReader]) -> None:
        """Let metrics out in other ways. Histograms of a new way out begin at zero, everything else goes on."""
        for reader in old:
            self._provider.remove_metric_reader(reader)
        with without_otel_environment():
            for reader in new:
                self._provider.add_metric_reader(reader)

    def stop(self) -> None:
        """Let nothing out any more."""
        self._provider.shutdown()


@contextmanager
def without_otel_environment() -> Iterator[None]:
    """Hide `OTEL_*` from what is made inside: those variables are meant for the agent beside the sidecar."""
    hidden = {name: os.environ.pop(name) for name in list(os.environ) if name.startswith("OTEL_")}
    try:
        yield
    finally:
        os.environ.update(hidden)
