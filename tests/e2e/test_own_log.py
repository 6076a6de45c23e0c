"""The log of a sidecar to which everything happens: every line is of the form asked for, and none has content."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import os
import signal
from pathlib import Path

import grpc
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)

from tests.collector.backends import GrpcBackend, GrpcFault, HttpAnswer, HttpBackend
from tests.e2e.receiving import ask
from tests.e2e.receiving import post as http_post
from tests.e2e.sidecar import LOGS, METRICS, TRACES, Sidecar, running_sidecar
from tests.e2e.test_life_cycle import workers_of
from tests.e2e.test_restart import kill
from tests.e2e.test_run import until
from tests.evaluators.judge_server import JudgeServer, raw, says, status

SECRET = "hunter2-in-a-prompt"
CONFIG = """
receivers:
  otlp: {protocols: {grpc: {endpoint: "127.0.0.1:GRPC_PORT"}, http: {endpoint: "127.0.0.1:HTTP_PORT"}}}
extensions:
  health_check: {endpoint: "127.0.0.1:HEALTH_PORT"}
  journal: {directory: journal}
  judge/j: {model: fake-1, base_url: "JUDGE", timeout: 2s, max_retries: 1, breaker: {failures: 1000}}
processors:
  assemble: {quiet_period: 200ms, idle_timeout: 1s, hold: 3s, max_hold: 5s}
  task_completion: {judge: judge/j}
  python/quoting: {class: "tests.e2e.quoting_evaluator:Quoting"}
exporters:
  otlp/quoting: {endpoint: "127.0.0.1:QUOTING", tls: {insecure: true}, retry_on_failure: RETRY}
  otlp/full: {endpoint: "127.0.0.1:FUSSY", tls: {insecure: true}, dead_letter_file: /dev/full}
  otlphttp/quoting: {endpoint: "http://127.0.0.1:HTTP_QUOTING", retry_on_failure: RETRY}
service:
  extensions: [health_check, journal, judge/j]
  pipelines:
    traces:
      receivers: [otlp]
      processors: [assemble, task_completion, python/quoting]
      exporters: [otlp/quoting, otlp/full, otlphttp/quoting]
    logs: {receivers: [otlp], exporters: [otlp/quoting, otlphttp/quoting]}
    metrics: {receivers: [otlp], exporters: [otlp/quoting, otlphttp/quoting]}
  telemetry: {logs: {level: debug, encoding: json}}
"""
RETRY = "{initial_interval: 20ms, max_interval: 50ms}"


NO_MORE = {"OK", "UNIMPLEMENTED", "UNAUTHENTICATED", "PERMISSION_DENIED", "NOT_FOUND", "FAILED_PRECONDITION"}


def partial(rejected: int) -> bytes:
    answer = ExportTraceServiceResponse()
    answer.partial_success.rejected_spans = rejected
    answer.partial_success.error_message = f"{SECRET} is too old"
    return answer.SerializeToString()


# Not those after which a destination is left alone for a minute: they come once, first of all.
CODES = [code for code in grpc.StatusCode if code.name not in NO_MORE]
STATUSES = [400, 413, 429, 500, 502, 503, 504]


def quoting(number: int, _: bytes) -> bytes | GrpcFault:
    """Every answer there is, each with words that quote, over and over."""
    answers: list[bytes | GrpcFault] = [
        *(GrpcFault(code, f"can't store {SECRET}") for code in CODES),
        GrpcFault(grpc.StatusCode.RESOURCE_EXHAUSTED, f"{SECRET}: larger than max", 0.01),
        *(b"", partial(0), partial(1), b"", b""),
    ]
    if number == 1:
        return GrpcFault(grpc.StatusCode.UNAUTHENTICATED, SECRET)
    return answers[number % len(answers)]


def http_quoting(number: int, _: bytes) -> HttpAnswer:
    location = ("location", f"http://127.0.0.1/?{SECRET}")
    answers = [HttpAnswer(code, f"can't store {SECRET}".encode(), (location,)) for code in STATUSES]
    protobuf = ("content-type", "application/x-protobuf")
    answers += [HttpAnswer(200), HttpAnswer(200, partial(0), (protobuf,)), HttpAnswer(200, partial(1), (protobuf,))]
    answers += [HttpAnswer(200, SECRET.encode(), (protobuf,)), HttpAnswer(0), HttpAnswer(200), HttpAnswer(200)]
    return answers[number % len(answers)] if number > 1 else HttpAnswer(302, SECRET.encode(), (location,))


def text(key: str, value: str = SECRET) -> dict[str, object]:
    return {"key": key, "value": {"string_value": value}}


def messages(role: str) -> str:
    return json.dumps([{"role": role, "parts": [{"type": "text", "content": SECRET}]}])


def traces(number: int, **fields: object) -> bytes:
    """A run of an agent; everything in it that is text is the secret."""
    made = ExportTraceServiceRequest()
    resource = made.resource_spans.add(schema_url=SECRET)
    resource.resource.attributes.add(**text(SECRET))
    scope = resource.scope_spans.add(schema_url=SECRET)
    scope.scope.name = scope.scope.version = SECRET
    told = [
        text("gen_ai.operation.name", "invoke_agent"),
        text("gen_ai.agent.name"),
        text("gen_ai.input.messages", messages("user")),
        text("gen_ai.output.messages", messages("assistant")),
        text(SECRET),
    ]
    span = {"trace_id": number.to_bytes(16), "span_id": number.to_bytes(8), "name": SECRET, "trace_state": SECRET}
    scope.spans.add(
        **{**span, "attributes": told, "status": {"message": SECRET}, "events": [{"name": SECRET}], **fields}  # type: ignore[arg-type]
    )
    return made.SerializeToString()


def logs() -> bytes:
    made = ExportLogsServiceRequest()
    records = made.resource_logs.add().scope_logs.add().log_records
    records.add(body={"string_value": SECRET}, severity_text=SECRET, attributes=[text(SECRET)])
    records.add(trace_id=SECRET.encode(), body={"string_value": SECRET})
    return made.SerializeToString()


def metrics() -> bytes:
    made = ExportMetricsServiceRequest()
    metric = made.resource_metrics.add().scope_metrics.add().metrics.add(name=SECRET, description=SECRET, unit=SECRET)
    metric.gauge.data_points.add(as_int=1, attributes=[text(SECRET)])
    return made.SerializeToString()


BAD: list[tuple[bytes, dict[str, str]]] = [
    (SECRET.encode(), {}),
    (traces(1)[:-3], {}),
    (traces(1, trace_id=SECRET.encode()), {}),
    (traces(1, parent_span_id=SECRET.encode()), {}),
    (json.dumps([SECRET]).encode(), {"content_type": "application/json"}),
    (json.dumps({"resourceSpans": SECRET}).encode(), {"content_type": "application/json"}),
    (json.dumps({SECRET: SECRET, "resourceSpans": []}).encode(), {"content_type": "application/json"}),
    (f'{{"resourceSpans": [{{"{SECRET}'.encode(), {"content_type": "application/json"}),
    (traces(1), {"content_type": SECRET}),
    (traces(1), {"content_encoding": SECRET}),
    (traces(1), {"content_encoding": "gzip"}),
]
LOGGED = [
    "; trying again",
    "can't be used as configured",
    "the destination took a request of",
    "with a warning",
    "can't write the dead-letter file",
    "judge/j: a request failed",
    "judge/j: questions without an answer",
    "the evaluator quoting: Quoting.screen failed: ValueError",
    "starting a new one",
]


def assert_no_content(sidecar: Sidecar) -> None:
    for line in sidecar.stderr.splitlines():
        entry = json.loads(line)
        assert {"ts", "level", "logger", "msg"} <= entry.keys()
        assert "Traceback" not in entry["msg"]
    assert SECRET not in sidecar.stderr
    assert SECRET not in sidecar.stdout


async def send_everything(sidecar: Sidecar, numbers: range) -> None:
    async with grpc.aio.insecure_channel(f"127.0.0.1:{sidecar.grpc_port}") as channel:
        for number in numbers:
            for method, body in ((TRACES, traces(number)), (LOGS, logs()), (METRICS, metrics())):
                await channel.unary_unary(method)(body, metadata=[("x-project-name", SECRET)], wait_for_ready=True)
            await asyncio.sleep(0.02)
        for body, _ in BAD:
            for method in (TRACES, LOGS, METRICS):
                with contextlib.suppress(grpc.aio.AioRpcError):
                    await channel.unary_unary(method)(body, metadata=[("x-secret", SECRET)])
    for body, headers in BAD:
        await ask(sidecar.http_port, http_post(body, **headers))


def unsaid(sidecar: Sidecar) -> list[str]:
    return [one for one in LOGGED if one not in sidecar.stderr]


async def test_nothing_of_what_is_sent_is_ever_logged(tmp_path: Path) -> None:
    worst = says(SECRET), status(400, SECRET), status(500, SECRET), raw(SECRET.encode()), status(429, SECRET)
    async with (
        GrpcBackend(quoting) as backend,
        HttpBackend(http_quoting) as http_backend,
        GrpcBackend(lambda *_: GrpcFault(grpc.StatusCode.INVALID_ARGUMENT, SECRET)) as fussy,
        JudgeServer(*worst * 20) as judge,
    ):
        config = CONFIG.replace("HTTP_QUOTING", str(http_backend.port)).replace("QUOTING", str(backend.port))
        config = config.replace("JUDGE", judge.base_url).replace("FUSSY", str(fussy.port)).replace("RETRY", RETRY)
        async with running_sidecar(tmp_path, config) as sidecar:
            await send_everything(sidecar, range(1, 30))
            (worker,) = workers_of(sidecar.process.pid)
            os.kill(worker, signal.SIGKILL)
            async with asyncio.timeout(90):
                # What is answered to whom depends on who comes first.
                for start in itertools.count(30, 10):
                    if not unsaid(sidecar):
                        break
                    await send_everything(sidecar, range(start, start + 10))
                    await asyncio.sleep(0.5)
            assert_no_content(sidecar)
            await kill(sidecar)
            for segment in (tmp_path / "journal").glob("segment-*.log"):
                damaged = segment.read_bytes().replace(SECRET.encode(), SECRET.swapcase().encode())
                segment.write_bytes(damaged)
            await sidecar.start()
            await until(lambda: "quarantine" in sidecar.stderr)
            assert_no_content(sidecar)
            assert SECRET.swapcase() not in sidecar.stderr
