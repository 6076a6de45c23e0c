"""The judge's own traces: one for each request to a model, sent where `service::telemetry::traces` says.

In: reports of judges' clients.  Out: spans of the scope `spanjudge` with the attributes of a GenAI client span, in
traces of their own, and their trace ids, by which verdicts name the request that they rest on.  Nothing of what was
asked or answered is in them.  They are never judged: spans of this scope are forwarded at once wherever they come back.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from importlib.metadata import version
from urllib.parse import urlsplit

from opentelemetry.context import Context
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter
from opentelemetry.sdk.trace.sampling import ALWAYS_ON
from opentelemetry.trace import SpanKind, Status, StatusCode, format_trace_id
from opentelemetry.util.types import AttributeValue

from collector.config.telemetry_settings import OtlpTraceExporterSettings, TraceSettings
from collector.telemetry import without_otel_environment
from evaluators.judge.report import Outcome, RequestReport
from processors.verdicts.scores import SCOPE_NAME

_MOST_QUEUED = 2048
_MOST_TOGETHER = 512
_NS = 1_000_000_000


class JudgeTraces:
    """Records requests to judges.

    Args:
        settings: where the spans go; without any processor nothing is recorded.
        resource: attributes of the resource, besides the service's name and version.
        endpoints: the address of each judge's endpoint, scheme, host and port, by the judge's id.
    """

    def __init__(self, settings: TraceSettings, resource: dict[str, str], endpoints: dict[str, str]) -> None:
        self._endpoints = endpoints
        self._provider: TracerProvider | None = None
        if not settings.processors:
            return
        attributes = {"service.name": "spanjudge", "service.version": version("spanjudge"), **resource}
        with without_otel_environment():
            self._provider = TracerProvider(ALWAYS_ON, Resource(attributes), shutdown_on_exit=False)
            for processor in settings.processors:
                batch = processor.batch
                self._provider.add_span_processor(
                    BatchSpanProcessor(
                        _exporter(batch.exporter.otlp),
                        max_queue_size=_MOST_QUEUED,
                        schedule_delay_millis=batch.schedule_delay * 1000,
                        max_export_batch_size=_MOST_TOGETHER,
                        export_timeout_millis=batch.exporter.otlp.timeout * 1000,
                    )
                )
            self._tracer = self._provider.get_tracer(SCOPE_NAME, version("spanjudge"))

    def telling(self, on_request: Callable[[str, RequestReport], None]) -> Callable[[str, RequestReport], str | None]:
        """`on_request`, which also records what it is told and returns the id of the trace."""

        def told(judge_id: str, report: RequestReport) -> str | None:
            on_request(judge_id, report)
            return self.record(judge_id, report)

        return told

    def record(self, judge_id: str, report: RequestReport) -> str | None:
        """Records a request that has just ended. Returns its trace id, 32 hex digits; None when nothing is recorded."""
        if self._provider is None:
            return None
        ended_ns = time.time_ns()
        span = self._tracer.start_span(
            f"chat {report.model}",
            context=Context(),
            kind=SpanKind.CLIENT,
            attributes=self._attributes(judge_id, report),
            start_time=ended_ns - int(report.duration_s * _NS),
        )
        if report.outcome is not Outcome.OK:
            span.set_status(Status(StatusCode.ERROR, report.problem or None))
        span.end(ended_ns)
        return format_trace_id(span.get_span_context().trace_id)

    def close(self) -> None:
        """Sends what is left, as far as it can be sent."""
        if self._provider is not None:
            self._provider.shutdown()

    def _attributes(self, judge_id: str, report: RequestReport) -> dict[str, AttributeValue]:
        address = urlsplit(self._endpoints.get(judge_id, ""))
        finished = None if report.finish_reason is None else [report.finish_reason]
        told: dict[str, AttributeValue | None] = {
            "gen_ai.operation.name": "chat",
            "gen_ai.provider.name": "openai",
            "gen_ai.request.model": report.model,
            "gen_ai.response.model": report.response_model,
            "gen_ai.response.finish_reasons": finished,
            "gen_ai.usage.input_tokens": report.usage.prompt_tokens,
            "gen_ai.usage.output_tokens": report.usage.completion_tokens,
            "server.address": address.hostname,
            "server.port": address.port,
            "http.response.status_code": report.http_status,
            "error.type": None if report.outcome is Outcome.OK else report.outcome.value,
            "spanjudge.judge": judge_id,
            "spanjudge.questions": report.questions,
        }
        return {name: value for name, value in told.items() if value is not None}


def _exporter(settings: OtlpTraceExporterSettings) -> SpanExporter:
    headers = {name.lower(): value.get_secret_value() for name, value in settings.headers.items()}
    # Each brings a library of its own along: only the one that is used is loaded.
    if settings.protocol == "grpc":
        from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter as GrpcExporter

        return GrpcExporter(
            endpoint=settings.endpoint,
            insecure=settings.endpoint.startswith("http://"),
            headers=headers,
            timeout=settings.timeout,
        )
    from opentelemetry.exporter.otlp.proto.http import Compression
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter as HttpExporter

    return HttpExporter(
        endpoint=settings.endpoint, headers=headers, timeout=settings.timeout, compression=Compression.NoCompression
    )
