"""`service::telemetry::metrics::readers` → the ways out for own metrics.

All of them collect on the event loop, where everything is counted: what is told at a time is what was true at one
moment.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from opentelemetry.exporter.otlp.proto.grpc.metric_exporter import OTLPMetricExporter as GrpcExporter
from opentelemetry.exporter.otlp.proto.http import Compression
from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter as HttpExporter
from opentelemetry.exporter.prometheus import PrometheusMetricReader
from opentelemetry.sdk.metrics import MetricsTimeoutError
from opentelemetry.sdk.metrics.export import MetricExporter, MetricReader, MetricsData
from prometheus_client import CollectorRegistry, make_asgi_app

from collector.config.telemetry_settings import MetricSettings, OtlpMetricExporterSettings, PrometheusSettings
from collector.http_endpoint import HttpEndpoint, on_address
from collector.metric_pushing import Pushing
from collector.telemetry import ScoreHistogram, without_otel_environment

_NAME = "service::telemetry::metrics"


@dataclass(frozen=True, slots=True)
class WaysOut:
    """What `Telemetry` has to know, what has to be started for those who ask, and what sends by itself."""

    readers: list[MetricReader] = field(default_factory=list)
    endpoints: list[HttpEndpoint] = field(default_factory=list)
    pushing: list[Pushing] = field(default_factory=list)


def make_ways_out(settings: MetricSettings, scores: ScoreHistogram) -> WaysOut:
    """The ways out of a configuration; nothing is started."""
    out = WaysOut()
    if settings.level == "none":
        return out
    with without_otel_environment():
        for configured in settings.readers:
            if (periodic := configured.periodic) is not None:
                pushing = Pushing(
                    _otlp(periodic.exporter.otlp), periodic.interval, periodic.exporter.otlp.timeout, scores
                )
                out.readers.append(pushing.reader)
                out.pushing.append(pushing)
            if configured.pull is not None:
                reader, endpoint = _prometheus(configured.pull.exporter.prometheus, scores)
                out.readers.append(reader)
                out.endpoints.append(endpoint)
    return out


def _otlp(settings: OtlpMetricExporterSettings) -> MetricExporter:
    headers = {name.lower(): value.get_secret_value() for name, value in settings.headers.items()}
    if settings.protocol == "grpc":
        return GrpcExporter(
            endpoint=settings.endpoint,
            insecure=settings.endpoint.startswith("http://"),
            headers=headers,
            timeout=settings.timeout,
        )
    return HttpExporter(
        endpoint=settings.endpoint, headers=headers, timeout=settings.timeout, compression=Compression.NoCompression
    )


class _PrometheusReader(PrometheusMetricReader):
    """Tells the histogram of scores as well."""

    def __init__(self, registry: CollectorRegistry, scores: ScoreHistogram) -> None:
        super().__init__(scope_info_enabled=False, registry=registry)
        self._scores = scores

    def _receive_metrics(self, metrics_data: MetricsData, timeout_millis: float = 10_000, **kwargs: Any) -> None:
        super()._receive_metrics(self._scores.joined_to(metrics_data), timeout_millis, **kwargs)


def _prometheus(settings: PrometheusSettings, scores: ScoreHistogram) -> tuple[MetricReader, HttpEndpoint]:
    registry = CollectorRegistry()
    reader = _PrometheusReader(registry, scores)
    answer = make_asgi_app(registry)

    async def application(scope: Any, receive: Any, send: Any) -> None:
        try:
            await answer(scope, receive, send)
        except MetricsTimeoutError:
            # The SDK takes the time from the wall clock, and that has just jumped.
            await answer(scope, receive, send)

    return reader, HttpEndpoint(_NAME, on_address(_NAME, settings.host, settings.port), application)
