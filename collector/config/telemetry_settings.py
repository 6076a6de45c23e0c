"""Settings of `service::telemetry`: the sidecar's own logs and metrics."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Literal

from pydantic import Field, SecretStr, model_validator

from collector.config.settings import ComponentSettings, PositiveDuration


class LogSettings(ComponentSettings):
    """The sidecar's own log, written to standard error."""

    refused_keys: ClassVar[Mapping[str, str]] = {
        "output_paths": "the log goes to standard error; redirect it there",
        "error_output_paths": "the log goes to standard error; redirect it there",
        "sampling": "messages that repeat are always limited here",
    }

    level: Literal["debug", "info", "warn", "error"] = Field(default="info", description="Lowest level that is logged.")
    encoding: Literal["console", "json"] = Field(default="console", description="Plain lines, or one JSON object each.")


class OtlpMetricExporterSettings(ComponentSettings):
    """Sends own metrics over OTLP."""

    protocol: Literal["grpc", "http/protobuf"] = Field(default="http/protobuf", description="Transport.")
    endpoint: str = Field(
        description="URL: `http://host:4318/v1/metrics` for http/protobuf, `http://host:4317` for grpc."
    )
    headers: dict[str, SecretStr] = Field(default={}, description="Headers of every request.")
    timeout: PositiveDuration = Field(default=10.0, description="Limit of one attempt.")

    @model_validator(mode="after")
    def _has_scheme(self) -> OtlpMetricExporterSettings:
        if not self.endpoint.startswith(("http://", "https://")):
            raise ValueError("endpoint has to begin with http:// or https://")
        return self


class PeriodicExporterSettings(ComponentSettings):
    """Where a periodic reader sends to."""

    refused_keys: ClassVar[Mapping[str, str]] = {"console": "own metrics go out over OTLP or to Prometheus"}

    otlp: OtlpMetricExporterSettings = Field(description="An OTLP endpoint.")


class PeriodicReaderSettings(ComponentSettings):
    """Collects and sends own metrics in regular intervals."""

    interval: PositiveDuration = Field(default=60.0, description="Time between two exports.")
    exporter: PeriodicExporterSettings = Field(description="Where the metrics go.")


class PrometheusSettings(ComponentSettings):
    """Serves own metrics as text for Prometheus to collect, at `/metrics`."""

    refused_keys: ClassVar[Mapping[str, str]] = {
        "without_type_suffix": "names always follow the Prometheus conventions",
        "without_units": "names always follow the Prometheus conventions",
        "with_resource_constant_labels": "the resource is in the metric target_info",
    }

    host: str = Field(default="127.0.0.1", description="Address to listen on.")
    port: int = Field(default=8888, ge=0, le=65535, description="Port to listen on.")


class PullExporterSettings(ComponentSettings):
    """What a pull reader serves."""

    prometheus: PrometheusSettings = Field(default=PrometheusSettings(), description="Prometheus text.")


class PullReaderSettings(ComponentSettings):
    """Serves own metrics when asked."""

    exporter: PullExporterSettings = Field(default=PullExporterSettings(), description="What is served.")


class MetricReaderSettings(ComponentSettings):
    """One way out for own metrics: exactly one of `periodic` and `pull`."""

    periodic: PeriodicReaderSettings | None = Field(default=None, description="Send them in regular intervals.")
    pull: PullReaderSettings | None = Field(default=None, description="Serve them for Prometheus.")

    @model_validator(mode="after")
    def _exactly_one(self) -> MetricReaderSettings:
        if (self.periodic is None) == (self.pull is None):
            raise ValueError("give exactly one of periodic and pull")
        return self


class MetricSettings(ComponentSettings):
    """The sidecar's own metrics."""

    refused_keys: ClassVar[Mapping[str, str]] = {
        "address": "the Collector has given this key up as well; use readers: [{pull: {exporter: {prometheus: {}}}}]",
        "views": "the metrics are few and fixed",
    }

    level: Literal["none", "basic", "normal", "detailed"] = Field(
        default="normal", description="`none` exports nothing; the other levels are the same here."
    )
    readers: tuple[MetricReaderSettings, ...] = Field(default=(), description="Ways out; none by default.")


class OtlpTraceExporterSettings(ComponentSettings):
    """Sends own traces over OTLP."""

    protocol: Literal["grpc", "http/protobuf"] = Field(default="http/protobuf", description="Transport.")
    endpoint: str = Field(
        description="URL: `http://host:4318/v1/traces` for http/protobuf, `http://host:4317` for grpc."
    )
    headers: dict[str, SecretStr] = Field(default={}, description="Headers of every request.")
    timeout: PositiveDuration = Field(default=10.0, description="Limit of one attempt.")

    @model_validator(mode="after")
    def _has_scheme(self) -> OtlpTraceExporterSettings:
        if not self.endpoint.startswith(("http://", "https://")):
            raise ValueError("endpoint has to begin with http:// or https://")
        return self


class BatchExporterSettings(ComponentSettings):
    """Where own traces are sent to."""

    refused_keys: ClassVar[Mapping[str, str]] = {"console": "own traces go out over OTLP"}

    otlp: OtlpTraceExporterSettings = Field(description="An OTLP endpoint.")


class BatchProcessorSettings(ComponentSettings):
    """Collects own spans and sends them together."""

    schedule_delay: PositiveDuration = Field(default=5.0, description="Longest time until a span is sent.")
    exporter: BatchExporterSettings = Field(description="Where the spans go.")


class SpanProcessorSettings(ComponentSettings):
    """One way out for own traces."""

    refused_keys: ClassVar[Mapping[str, str]] = {"simple": "use batch; nothing waits for own traces"}

    batch: BatchProcessorSettings = Field(description="Send them together.")


class TraceSettings(ComponentSettings):
    """The sidecar's own traces: one for each request to a judge, without anything of what was asked or answered."""

    refused_keys: ClassVar[Mapping[str, str]] = {
        "level": "without processors none are made",
        "propagators": "a judge's requests carry no trace context",
        "sampler": "all requests to judges are traced; sample at the backend",
    }

    processors: tuple[SpanProcessorSettings, ...] = Field(default=(), description="Ways out; none by default.")


class TelemetrySettings(ComponentSettings):
    """The sidecar's own telemetry. The `OTEL_*` environment variables have no influence on it."""

    logs: LogSettings = Field(default=LogSettings(), description="Own log.")
    metrics: MetricSettings = Field(default=MetricSettings(), description="Own metrics.")
    traces: TraceSettings = Field(default=TraceSettings(), description="Own traces.")
    resource: dict[str, str] = Field(default={}, description="Attributes of the resource of own metrics and traces.")
