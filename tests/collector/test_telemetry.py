"""Own metrics: what they are called, that the environment has no say in them, and how they leave."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path

import httpx2
import pytest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.sdk.metrics.export import InMemoryMetricReader

from collector.config.telemetry_settings import MetricSettings
from collector.metric_readers import make_readers
from collector.records import Signal
from collector.telemetry import ITEMS, Telemetry
from evaluators.judge.report import Asked, Outcome
from tests.collector.backends import GrpcBackend, HttpBackend


def points(reader: InMemoryMetricReader) -> dict[tuple[str, tuple[tuple[str, object], ...]], float]:
    data = reader.get_metrics_data()
    assert data is not None
    return {
        (metric.name, tuple(sorted((point.attributes or {}).items()))): point.value  # type: ignore[union-attr]
        for resource in data.resource_metrics
        for scope in resource.scope_metrics
        for metric in scope.metrics
        for point in metric.data.data_points
        if hasattr(point, "value")
    }


def test_names_follow_the_collectors_under_our_prefix() -> None:
    reader = InMemoryMetricReader()
    telemetry = Telemetry([reader])
    receiver, exporter = telemetry.receiver("otlp"), telemetry.exporter("otlp/x")
    receiver.accepted(Signal.TRACES, 3)
    receiver.accepted(Signal.TRACES, 4)
    receiver.refused(Signal.LOGS, 2)
    exporter.sent(Signal.METRICS, 5)
    exporter.observe_queue("bytes", lambda: 10, 100, {Signal.TRACES: lambda: 1})
    telemetry.traces.judged("tool_selection", "ok", "incorrect", "rule", False)
    telemetry.traces.observe_held(lambda: 7, lambda: 700, lambda: 2)
    telemetry.judge("judge/a").tokens(11, 12)
    to_otlp, to_x = ("receiver", "otlp"), ("exporter", "otlp/x")
    assert points(reader) == {
        ("spanjudge_receiver_accepted_spans", (to_otlp,)): 7,
        ("spanjudge_receiver_refused_log_records", (to_otlp,)): 2,
        ("spanjudge_exporter_sent_metric_points", (to_x,)): 5,
        ("spanjudge_exporter_queue_size", (to_x, ("unit", "bytes"))): 10,
        ("spanjudge_exporter_queue_capacity", (to_x, ("unit", "bytes"))): 100,
        ("spanjudge_exporter_queue_spans", (to_x,)): 1,
        (
            "spanjudge_processor_verdicts",
            (
                ("evaluator", "tool_selection"),
                ("label", "incorrect"),
                ("method", "rule"),
                ("status", "ok"),
                ("uncalibrated", False),
            ),
        ): 1,
        ("spanjudge_processor_held_spans", ()): 7,
        ("spanjudge_processor_held_bytes", ()): 700,
        ("spanjudge_processor_held_traces", ()): 2,
        ("spanjudge_judge_tokens", (("direction", "input"), ("judge", "judge/a"))): 11,
        ("spanjudge_judge_tokens", (("direction", "output"), ("judge", "judge/a"))): 12,
    }


def test_the_agents_environment_has_no_say(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_SDK_DISABLED", "true")
    monkeypatch.setenv("OTEL_SERVICE_NAME", "the-agent")
    monkeypatch.setenv("OTEL_RESOURCE_ATTRIBUTES", "a=b")
    reader = InMemoryMetricReader()
    Telemetry([reader], {"host.name": "h"}).traces.late(1)
    data = reader.get_metrics_data()
    assert data is not None
    attributes = dict(data.resource_metrics[0].resource.attributes)
    assert attributes.pop("service.version")
    assert attributes == {"service.name": "spanjudge", "host.name": "h"}


async def export_to(endpoint: str, protocol: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_HEADERS", "stolen=1")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_COMPRESSION", "deflate")
    exporter = {"otlp": {"endpoint": endpoint, "protocol": protocol, "headers": {"Token": "t"}}}
    settings = MetricSettings.model_validate({"readers": [{"periodic": {"interval": "1h", "exporter": exporter}}]})
    readers, endpoints = make_readers(settings)
    assert not endpoints
    telemetry = Telemetry(readers)
    telemetry.traces.late(3)
    await asyncio.to_thread(telemetry.stop, 5.0)


def metric_names(request: bytes) -> list[str]:
    parsed = ExportMetricsServiceRequest.FromString(request)
    return [metric.name for metric in parsed.resource_metrics[0].scope_metrics[0].metrics]


async def test_what_is_left_is_sent_over_http_at_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    async with HttpBackend() as backend:
        await export_to(f"{backend.url}/v1/metrics", "http/protobuf", monkeypatch)
    assert "spanjudge_processor_late_spans" in metric_names(backend.accepted[0])
    assert backend.attempts[0].headers["token"] == "t"
    assert "stolen" not in backend.attempts[0].headers


async def test_what_is_left_is_sent_over_grpc_at_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    async with GrpcBackend() as backend:
        await export_to(f"http://127.0.0.1:{backend.port}", "grpc", monkeypatch)
    assert "spanjudge_processor_late_spans" in metric_names(backend.accepted[0])
    assert backend.attempts[0].headers["token"] == "t"
    assert "stolen" not in backend.attempts[0].headers


async def test_prometheus_can_collect_them() -> None:
    pull = {"pull": {"exporter": {"prometheus": {"port": 0}}}}
    readers, (endpoint,) = make_readers(MetricSettings.model_validate({"readers": [pull]}))
    telemetry = Telemetry(readers)
    telemetry.receiver("otlp").accepted(Signal.TRACES, 3)
    await endpoint.start()
    async with httpx2.AsyncClient(trust_env=False) as client:
        answer = await client.get(f"http://127.0.0.1:{endpoint.port}/metrics")
    await endpoint.stop()
    telemetry.stop(1.0)
    assert 'spanjudge_receiver_accepted_spans_total{receiver="otlp"} 3.0' in answer.text


def test_what_judges_tell_is_counted_and_their_limits_are_shown_as_they_stand() -> None:
    reader = InMemoryMetricReader()
    judge = Telemetry([reader]).judge("judge/a")
    for _ in range(2):
        judge.asked("over_budget", 3)
        judge.spent(500, 0.25, estimated=True)
    judge.spent(70, None, estimated=False)
    judge.stands(9, 2, 4, True)
    judge.stands(0, 1, 2, False)
    of_a = ("judge", "judge/a")
    assert points(reader) == {
        ("spanjudge_judge_questions", (of_a, ("outcome", "over_budget"))): 6,
        ("spanjudge_judge_budget_tokens", (("estimated", True), of_a)): 1000,
        ("spanjudge_judge_budget_tokens", (("estimated", False), of_a)): 70,
        ("spanjudge_judge_cost", (("estimated", True), of_a)): 0.5,
        ("spanjudge_judge_queue_size", (of_a,)): 0,
        ("spanjudge_judge_requests_under_way", (of_a,)): 1,
        ("spanjudge_judge_concurrency_limit", (of_a,)): 2,
        ("spanjudge_judge_breaker_open", (of_a,)): 0,
    }


def test_level_none_lets_nothing_out() -> None:
    settings = MetricSettings.model_validate({"level": "none", "readers": [{"pull": {}}]})
    assert make_readers(settings) == ([], [])


def test_the_page_about_metrics_names_every_outcome() -> None:
    page = (Path(__file__).parents[2] / "docs" / "metrics.md").read_text(encoding="utf-8")
    requests, questions = (part for part in page.split("\n\n") if part.startswith("`outcome`"))
    assert set(re.findall(r"`([a-z_]+)`", requests)) - {"outcome", "timeout"} == {outcome.value for outcome in Outcome}
    assert set(re.findall(r"`([a-z_]+)`", questions)) - {"outcome"} == {asked.value for asked in Asked}


def test_the_page_about_metrics_lists_every_one() -> None:
    reader = InMemoryMetricReader()
    telemetry = Telemetry([reader])
    receiver, exporter, judge = telemetry.receiver("r"), telemetry.exporter("x"), telemetry.judge("j")
    for signal in Signal:
        for count in (receiver.accepted, receiver.refused, receiver.rejected):
            count(signal, 1)
        for count in (exporter.sent, exporter.send_failed, exporter.rejected, exporter.dead_lettered):
            count(signal, 1)
        exporter.unsupported(signal, 1)
        telemetry.enqueue_failed("x", signal, 1)
    exporter.retried()
    exporter.warned()
    exporter.observe_queue("bytes", lambda: 1, 1, {signal: lambda: 1 for signal in Signal})
    exporter.observe_destination(lambda: 1, lambda: 1, {signal: lambda: 1 for signal in Signal})
    exporter.observe_aside(lambda: 1)
    exporter.observe_dead_letters(lambda: 1, 1)
    for count_spans in (telemetry.traces.late, telemetry.traces.deduplicated, telemetry.traces.created):
        count_spans(1)
    telemetry.observe_exposed(lambda: 1)
    telemetry.traces.judging_restarted()
    telemetry.traces.judged("e", "ok", "l", "rule", False)
    telemetry.traces.observe_held(lambda: 1, lambda: 1, lambda: 1)
    judge.request("ok", 1.0)
    telemetry.traces.admitted("e", "judged", 1)
    judge.tokens(1, 1)
    judge.asked("answered", 1)
    judge.spent(1, 1.0, estimated=True)
    judge.stands(1, 1, 1, True)
    data = reader.get_metrics_data()
    assert data is not None
    names = {metric.name.removeprefix("spanjudge_") for metric in data.resource_metrics[0].scope_metrics[0].metrics}
    page = (Path(__file__).parents[2] / "docs" / "metrics.md").read_text(encoding="utf-8")
    listed = set(re.findall(r"`([a-z_<>]+)`(?=[^|]*\|[^|]*(?:counter|gauge|histogram))", page))
    expanded = {name.replace("<items>", items) for name in listed for items in ITEMS.values()}
    assert expanded == names
