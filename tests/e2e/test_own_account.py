"""Whatever happens, each exporter's account is even at every scrape: what was taken is held, queued, or has ended."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from functools import partial
from pathlib import Path

import grpc
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from bench.traffic import requests
from tests.collector.backends import GrpcBackend, GrpcFault, HttpAnswer, HttpBackend, partial_success
from tests.collector.otlp_samples import request, span
from tests.e2e.own_account import Scraped, Watched, uneven, watched
from tests.e2e.sidecar import LOGS, METRICS, TRACES, Sidecar, free_port, running_sidecar
from tests.e2e.test_reload import change, reload
from tests.e2e.test_restart import kill
from tests.e2e.test_run import until

CONFIG = """
receivers: {otlp: {protocols: {grpc: {endpoint: "127.0.0.1:GRPC_PORT"}}}}
extensions:
  health_check: {endpoint: "127.0.0.1:HEALTH_PORT"}
  journal: {directory: journal, durability: process}
processors:
  assemble: {quiet_period: 200ms, idle_timeout: 500ms, hold: 2s, max_hold: 3s, late_window: 300ms}
  tool_invocation: {}
  step_efficiency: {}
exporters:
  otlp/good: {endpoint: "127.0.0.1:GOOD", tls: {insecure: true}, scores: both}
  otlp/bad: {endpoint: "127.0.0.1:BAD", tls: {insecure: true}, retry_on_failure: {initial_interval: 20ms}}
  otlphttp/apart:
    endpoint: "http://127.0.0.1:APART"
    scores: evaluation_spans
    retry_on_failure: {initial_interval: 20ms}
  otlp/down: {endpoint: "127.0.0.1:1", tls: {insecure: true}, scores: none}
service:
  extensions: [health_check, journal]
  pipelines:
    traces:
      receivers: [otlp]
      processors: [assemble, tool_invocation, step_efficiency]
      exporters: [otlp/good, otlp/bad, otlphttp/apart, otlp/down]
    logs: {receivers: [otlp], exporters: [otlp/bad, otlphttp/apart]}
    metrics: {receivers: [otlp], exporters: [otlp/good, otlphttp/apart]}
  telemetry: {metrics: {readers: [READERS]}}
"""
AGAIN = {grpc.StatusCode.CANCELLED, grpc.StatusCode.DEADLINE_EXCEEDED, grpc.StatusCode.UNAVAILABLE}


UNWELCOME = "nobody takes this"


def moody(number: int, body: bytes) -> bytes | GrpcFault:
    """A destination that does everything that a destination can do."""
    if UNWELCOME.encode() in body:
        return GrpcFault(grpc.StatusCode.INVALID_ARGUMENT)
    match number % 7:
        case 0:
            return partial_success(1)
        case 1 | 4:
            return GrpcFault(grpc.StatusCode.UNAVAILABLE)
        case 2:
            return GrpcFault(grpc.StatusCode.INVALID_ARGUMENT)
        case 3:
            return GrpcFault(grpc.StatusCode.RESOURCE_EXHAUSTED)
        case _:
            return b""


def busy(number: int, body: bytes) -> HttpAnswer:
    """A destination that is busy now and then."""
    return HttpAnswer(503 if number % 5 == 0 else 200)


def traffic(seed: int) -> Iterator[tuple[str, bytes]]:
    """Runs, repeats of them, late spans of them, spans that are none, spans nobody judges, log records and metrics."""
    late: list[bytes] = []
    for number, (run, tiny) in enumerate(zip(requests("agent", 1000, seed), requests("tiny", 1000, seed), strict=True)):
        yield TRACES, run
        if number % 3 == 0:
            yield TRACES, run
        yield TRACES, tiny
        name = UNWELCOME if number % 5 == 0 else "welcome"
        yield TRACES, request(span("no id", trace_id=b"short"), span(name, span_id=(number + 1).to_bytes(8)))
        late.append(one_more(run, number))
        if number >= 10:
            yield TRACES, late[number - 10]
        yield LOGS, logs(number)
        yield METRICS, metrics(number)


def one_more(run: bytes, number: int) -> bytes:
    """A span that hangs below the last one of a request."""
    made = ExportTraceServiceRequest.FromString(run)
    spans = made.resource_spans[0].scope_spans[0].spans
    del spans[:-1]
    spans[0].parent_span_id, spans[0].span_id = spans[0].span_id, number.to_bytes(8)
    return made.SerializeToString()


def logs(number: int) -> bytes:
    made = ExportLogsServiceRequest()
    records = made.resource_logs.add().scope_logs.add().log_records
    for at in range(3):
        text = UNWELCOME if at == number % 4 else "x"
        records.add(time_unix_nano=number, trace_id=b"short" if at == number % 5 else b"", body={"string_value": text})
    return made.SerializeToString()


def metrics(number: int) -> bytes:
    made = ExportMetricsServiceRequest()
    points = made.resource_metrics.add().scope_metrics.add().metrics.add(name="m").gauge.data_points
    for at in range(4):
        points.add(time_unix_nano=number, as_int=at)
    return made.SerializeToString()


async def send(port: int, stop: asyncio.Event, seed: int) -> int:
    """Send until told to stop, each request until it is acknowledged; how many were."""
    async with grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel:
        exports = {method: channel.unary_unary(method) for method in (TRACES, LOGS, METRICS)}
        for sent, (method, body) in enumerate(traffic(seed)):
            while not stop.is_set():
                try:
                    await exports[method](body, timeout=10, wait_for_ready=True)
                except grpc.aio.AioRpcError as error:
                    assert error.code() in AGAIN, error
                    await asyncio.sleep(0.05)
                else:
                    break
            if stop.is_set():
                return sent
            await asyncio.sleep(0.02)
    raise AssertionError("not stopped")


class Backends:
    """A good destination, a moody one, and one that is busy now and then."""

    def __init__(self) -> None:
        self.good, self.moody, self.busy = GrpcBackend(), GrpcBackend(moody), HttpBackend(busy)

    async def __aenter__(self) -> Backends:
        for one in (self.good, self.moody, self.busy):
            await one.__aenter__()
        return self

    async def __aexit__(self, *_: object) -> None:
        for one in (self.good, self.moody, self.busy):
            await one.__aexit__()

    def config(self, *readers: str) -> str:
        text = CONFIG.replace("READERS", ", ".join(readers)).replace("GOOD", str(self.good.port))
        return text.replace("BAD", str(self.moody.port)).replace("APART", str(self.busy.port))


@asynccontextmanager
async def brief_sidecar(folder: Path, text: str) -> AsyncIterator[Sidecar]:
    """A sidecar that isn't given time to deliver at the end what nobody takes."""
    sidecar = Sidecar(folder, text)
    await sidecar.start()
    try:
        yield sidecar
    finally:
        await kill(sidecar)


def prometheus(port: int) -> str:
    return f"{{pull: {{exporter: {{prometheus: {{port: {port}}}}}}}}}"


async def test_the_account_is_even_at_every_scrape_while_everything_goes_wrong(tmp_path: Path) -> None:
    port = free_port()
    async with Backends() as backends, brief_sidecar(tmp_path, backends.config(prometheus(port))) as sidecar:
        stop = asyncio.Event()
        async with watched(port) as seen:
            sender = asyncio.create_task(send(sidecar.grpc_port, stop, 1))
            with suppress(TimeoutError):
                await until(lambda: not missing(seen))
            stop.set()
            assert await sender > 50
            await until(lambda: not seen.last["processor_held_spans", ""])
    assert missing(seen) == []
    assert seen.uneven == []


def of(exporter: str) -> str:
    return f'exporter="{exporter}"'


HAPPENED = [
    ("processor_held_spans", ""),
    ("processor_held_age_seconds", ""),
    ("receiver_rejected_spans_total", ""),
    ("receiver_rejected_log_records_total", ""),
    ("processor_late_spans_total", ""),
    ("processor_score_count", ""),
    ("exporter_pending_spans", of("otlp/good")),
    ("exporter_created_spans_total", of("otlphttp/apart")),
    ("exporter_deduplicated_spans_total", of("otlp/down")),
    ("exporter_sent_spans_total", of("otlp/good")),
    ("exporter_sent_metric_points_total", of("otlphttp/apart")),
    ("exporter_queue_spans", of("otlp/down")),
    ("exporter_rejected_spans_total", of("otlp/bad")),
    ("exporter_dead_lettered_spans_total", of("otlp/bad")),
    ("exporter_dead_lettered_log_records_total", of("otlp/bad")),
    ("exporter_retried_requests_total", of("otlphttp/apart")),
    ("journal_owed_items", of("otlp/down")),
    ("journal_owed_age_seconds", of("otlp/down")),
    ("journal_write_duration_seconds_count", ""),
    ("process_cpu_seconds_total", 'process="judging"'),
    ("process_memory_rss_bytes", 'process="sidecar"'),
]


def missing(seen: Watched) -> list[tuple[str, str]]:
    """What was to happen and hasn't yet."""
    return [one for one in HAPPENED if not seen.highest_of(*one)]


async def test_the_account_is_even_at_every_scrape_after_it_was_killed_again_and_again(tmp_path: Path) -> None:
    port = free_port()
    restored: list[float] = []
    async with Backends() as backends:
        stop = asyncio.Event()
        async with brief_sidecar(tmp_path, backends.config(prometheus(port))) as sidecar:
            sender = asyncio.create_task(send(sidecar.grpc_port, stop, 2))
            for _ in range(3):
                async with watched(port) as seen:
                    await until(partial(has_taken, seen, 400))
                assert seen.uneven == []
                restored.append(seen.highest_of("exporter_restored_spans_total", of("otlp/down")))
                await kill(sidecar)
                await sidecar.start()
            stop.set()
            await sender
    assert restored[0] == 0 < restored[1] < restored[2]


def has_taken(seen: Watched, spans: int) -> bool:
    return seen.highest_of("receiver_accepted_spans_total") > spans


async def test_the_account_is_even_at_every_scrape_while_exporters_are_exchanged(tmp_path: Path) -> None:
    port = free_port()
    async with Backends() as backends, brief_sidecar(tmp_path, backends.config(prometheus(port))) as sidecar:
        stop = asyncio.Event()
        async with watched(port) as seen:
            sender = asyncio.create_task(send(sidecar.grpc_port, stop, 3))
            for after in (21, 22):
                await asyncio.sleep(0.3)
                change(sidecar, (f"initial_interval: {after - 1}ms", f"initial_interval: {after}ms"))
                await reload(sidecar)
            stop.set()
            await sender
            await until(lambda: not seen.last["processor_held_spans", ""])
    assert seen.uneven == []
    assert seen.highest_of("exporter_queue_spans", of("otlp/bad")) > 0


def as_scraped(body: bytes) -> Scraped:
    """An OTLP request of own metrics as it would look to Prometheus."""
    found: Scraped = {}
    for resource in ExportMetricsServiceRequest.FromString(body).resource_metrics:
        for metric in (metric for scope in resource.scope_metrics for metric in scope.metrics):
            points = metric.sum.data_points or metric.gauge.data_points
            name = metric.name.removeprefix("spanjudge_") + ("_total" if metric.HasField("sum") else "")
            for point in points:
                labels = ",".join(f'{pair.key}="{pair.value.string_value}"' for pair in point.attributes)
                found[name, labels] = point.as_double or point.as_int
    return found


async def test_the_account_is_even_in_every_export_and_the_last_one_tells_what_was_left(tmp_path: Path) -> None:
    async with Backends() as backends, HttpBackend() as own:
        to = f'{{otlp: {{endpoint: "{own.url}/v1/metrics"}}}}'
        text = backends.config(f"{{periodic: {{interval: 20ms, exporter: {to}}}}}")
        async with running_sidecar(tmp_path, text) as sidecar:
            stop = asyncio.Event()
            sender = asyncio.create_task(send(sidecar.grpc_port, stop, 4))
            await until(lambda: len(own.accepted) > 100)
            stop.set()
            assert await sender > 10
        exports = [as_scraped(body) for body in own.accepted]
    assert [difference for one in exports if (difference := uneven(one))] == []
    last = exports[-1]
    assert last["exporter_queue_spans", of("otlp/down")] > 0 == last["exporter_pending_spans", of("otlp/down")]
