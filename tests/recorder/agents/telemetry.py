"""OpenTelemetry as an application sets it up: batches over OTLP/HTTP, to where the environment says."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import desk
from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace import SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter


@contextlib.contextmanager
def recorded(
    *processors: SpanProcessor, logs: bool = False, exporter: SpanExporter | None = None
) -> Iterator[TracerProvider]:
    """Run a block with a tracer provider, with `logs` also a logger provider, and see that everything is sent.

    Processors come before the exporting one, as those do that translate spans.
    """
    provider = TracerProvider()
    for processor in processors:
        provider.add_span_processor(processor)
    provider.add_span_processor(BatchSpanProcessor(exporter or OTLPSpanExporter()))
    trace.set_tracer_provider(provider)
    with contextlib.ExitStack() as stack:
        stack.callback(provider.shutdown)
        if logs:
            stack.callback(_log_provider())
        with desk.ending():
            yield provider


def _log_provider():
    from opentelemetry._logs import set_logger_provider
    from opentelemetry.exporter.otlp.proto.http._log_exporter import OTLPLogExporter
    from opentelemetry.sdk._logs import LoggerProvider
    from opentelemetry.sdk._logs.export import BatchLogRecordProcessor

    provider = LoggerProvider()
    provider.add_log_record_processor(BatchLogRecordProcessor(OTLPLogExporter()))
    set_logger_provider(provider)
    with contextlib.suppress(ImportError):
        from opentelemetry._events import set_event_logger_provider
        from opentelemetry.sdk._events import EventLoggerProvider

        set_event_logger_provider(EventLoggerProvider(provider))
    return provider.shutdown


def instrument_mcp(provider: TracerProvider) -> None:
    """Instrument the Model Context Protocol's SDK with what is installed, if anything is."""
    with contextlib.suppress(ImportError):
        from openinference.instrumentation.mcp import MCPInstrumentor

        MCPInstrumentor().instrument(tracer_provider=provider)
    with contextlib.suppress(ImportError):
        from opentelemetry.instrumentation.mcp import McpInstrumentor

        McpInstrumentor().instrument(tracer_provider=provider)
