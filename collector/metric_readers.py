"""`service::telemetry::metrics::readers` → the ways out for own metrics."""

from __future__ import annotations

from opentelemetry.exporter.otlp.proto.grpc.metric_exporter import OTLPMetricExporter as GrpcExporter
from opentelemetry.exporter.otlp.proto.http import Compression
from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter as HttpExporter
from opentelemetry.exporter.prometheus import PrometheusMetricReader
from opentelemetry.sdk.metrics.export import MetricExporter, MetricReader, PeriodicExportingMetricReader
from prometheus_client import CollectorRegistry, make_asgi_app

from collector.config.telemetry_settings import MetricSettings, OtlpMetricExporterSettings, PrometheusSettings
from collector.http_endpoint import HttpEndpoint, on_address
from collector.telemetry import without_otel_environment

Endpoints = list[HttpEndpoint]
_NAME = "service::telemetry::metrics"


def make_readers(settings: MetricSettings) -> tuple[list[MetricReader], Endpoints]:
    """The readers for `Telemetry`, and the endpoints that have to be started for those that are asked."""
    readers: list[MetricReader] = []
    endpoints: Endpoints = []
    if settings.level == "none":
        return readers, endpoints
    with without_otel_environment():
        for configured in settings.readers:
            if configured.periodic is not None:
                periodic = configured.periodic
                exporter = _otlp(periodic.exporter.otlp)
                readers.append(
                    PeriodicExportingMetricReader(
                        exporter, periodic.interval * 1000, periodic.exporter.otlp.timeout * 1000
                    )
                )
            if configured.pull is not None:
                reader, endpoint = _prometheus(configured.pull.exporter.prometheus)
                readers.append(reader)
                endpoints.append(endpoint)
    return readers, endpoints


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


def _prometheus(settings: PrometheusSettings) -> tuple[MetricReader, HttpEndpoint]:
    registry = CollectorRegistry()
    reader = PrometheusMetricReader(scope_info_enabled=False, registry=registry)
    application = make_asgi_app(registry)
    return reader, HttpEndpoint(_NAME, on_address(_NAME, settings.host, settings.port), application)
