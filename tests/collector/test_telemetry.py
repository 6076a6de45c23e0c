"""Own metrics: what they are called, that the environment has no say in them, and how they leave."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from typing import Any

import httpx2
import pytest
from opentelemetry.metrics import NoOpMeter
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.sdk.metrics.export import InMemoryMetricReader

from collector import own_gauges
from collector.config.telemetry_settings import MetricSettings
from collector.holding.assembler import Assembler
from collector.holding.settings import Settings
from collector.holding.store import Budget, MemoryStore
from collector.metric_readers import WaysOut, make_ways_out
from collector.own_metrics import OwnMetrics
from collector.records import Signal
from collector.telemetry import ITEMS, ScoreHistogram, Telemetry
from collector.telemetry.scores import SCORE
from evaluators.judge.report import Asked, Outcome
from tests.collector.backends import GrpcBackend, HttpBackend


def points(reader: InMemoryMetricReader) -> dict[tuple[str, tuple[tuple[str, object], ...]], float]:
    data = reader.get_metrics_data()
    return {
        (metric.name, tuple(sorted((point.attributes or {}).items()))): point.value  # type: ignore[union-attr]
        for resource in (data.resource_metrics if data else ())
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
        ("spanjudge_judge_tokens", (("direction", "input"), ("judge", "judge/a"))): 11,
        ("spanjudge_judge_tokens", (("direction", "output"), ("judge", "judge/a"))): 12,
    }


def test_what_can_happen_is_told_before_it_has_so_that_its_first_time_is_a_rise() -> None:
    reader = InMemoryMetricReader()
    telemetry = Telemetry([reader])
    telemetry.receiver("r", [Signal.LOGS])
    telemetry.exporter("x").begin(Signal.TRACES)
    ends = "sent", "send_failed", "rejected", "dead_lettered", "unsupported", "damaged", "deduplicated"
    beginnings = "created", "restored", "repeated", "enqueue_failed"
    assert points(reader) == {
        **{
            (f"spanjudge_receiver_{what}_log_records", (("receiver", "r"),)): 0
            for what in ("accepted", "refused", "rejected")
        },
        **{(f"spanjudge_exporter_{what}_spans", (("exporter", "x"),)): 0 for what in (*ends, *beginnings)},
        ("spanjudge_exporter_retried_requests", (("exporter", "x"),)): 0,
    }


def test_while_a_queue_hands_over_what_both_have_is_added_up_and_the_newer_one_says_how_it_stands() -> None:
    reader = InMemoryMetricReader()
    telemetry = Telemetry([reader])
    old, new = telemetry.exporter("x"), telemetry.exporter("x")
    old.observe_queue("bytes", lambda: 10, 100, {Signal.TRACES: lambda: 1})
    new.observe_queue("bytes", lambda: 20, 300, {Signal.TRACES: lambda: 2})

    def told() -> tuple[float, ...]:
        found = points(reader)
        in_bytes = (("exporter", "x"), ("unit", "bytes"))
        return (
            found["spanjudge_exporter_queue_size", in_bytes],
            found["spanjudge_exporter_queue_capacity", in_bytes],
            found["spanjudge_exporter_queue_spans", in_bytes[:1]],
        )

    assert told() == (30, 300, 3)
    old.stop_observing()
    assert told() == (20, 300, 2)
    new.stop_observing()
    assert points(reader) == {}


def test_a_way_out_that_is_opened_later_tells_the_same_sums() -> None:
    first, second = InMemoryMetricReader(), InMemoryMetricReader()
    telemetry = Telemetry([first])
    telemetry.receiver("r").accepted(Signal.TRACES, 3)
    assert points(first)
    telemetry.replace_readers([first], [second])
    telemetry.receiver("r").accepted(Signal.TRACES, 1)
    assert points(second) == {("spanjudge_receiver_accepted_spans", (("receiver", "r"),)): 4}


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
    own = OwnMetrics(settings, {})
    await own.start()
    own.telemetry.traces.late(3)
    own.telemetry.scores.of("e", "correct", "span").add(0.75)
    own.telemetry.exporter("x").observe_destination(lambda: 0, lambda: True, {})
    await own.stop(10.0)


def metric_values(request: bytes) -> dict[str, float]:
    parsed = ExportMetricsServiceRequest.FromString(request)
    return {
        metric.name: point.as_double or point.as_int
        for metric in parsed.resource_metrics[0].scope_metrics[0].metrics
        for point in metric.sum.data_points
    }


async def test_what_is_left_is_sent_over_http_at_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    async with HttpBackend() as backend:
        await export_to(f"{backend.url}/v1/metrics", "http/protobuf", monkeypatch)
    assert metric_values(backend.accepted[0])["spanjudge_processor_late_spans"] == 3
    assert backend.attempts[0].headers["token"] == "t"
    assert "stolen" not in backend.attempts[0].headers


async def test_what_is_left_is_sent_over_grpc_at_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    async with GrpcBackend() as backend:
        await export_to(f"http://127.0.0.1:{backend.port}", "grpc", monkeypatch)
    assert metric_values(backend.accepted[0])["spanjudge_processor_late_spans"] == 3
    assert backend.attempts[0].headers["token"] == "t"
    assert "stolen" not in backend.attempts[0].headers


async def test_scores_leave_as_a_histogram(monkeypatch: pytest.MonkeyPatch) -> None:
    async with HttpBackend() as backend:
        await export_to(f"{backend.url}/v1/metrics", "http/protobuf", monkeypatch)
    parsed = ExportMetricsServiceRequest.FromString(backend.accepted[0])
    metrics = {metric.name: metric for metric in parsed.resource_metrics[0].scope_metrics[0].metrics}
    (point,) = metrics["spanjudge_processor_score"].histogram.data_points
    assert (point.count, point.sum, point.min, point.max) == (1, 0.75, 0.75, 0.75)
    assert list(point.explicit_bounds) == [0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0]
    assert list(point.bucket_counts) == [0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0]
    told = {pair.key: pair.value.string_value for pair in point.attributes}
    assert told == {"evaluator": "e", "label": "correct", "level": "span"}


async def test_a_backend_that_hangs_holds_nobody_up_at_the_end() -> None:
    async with HttpBackend(delay_s=60.0) as backend:
        exporter = {"otlp": {"endpoint": f"{backend.url}/v1/metrics"}}
        settings = MetricSettings.model_validate({"readers": [{"periodic": {"interval": "1h", "exporter": exporter}}]})
        own = OwnMetrics(settings, {})
        await own.start()
        own.telemetry.traces.late(3)
        async with asyncio.timeout(30):
            await own.stop(0.1)
        assert not backend.accepted


async def test_prometheus_can_collect_them() -> None:
    pull = {"pull": {"exporter": {"prometheus": {"port": 0}}}}
    scores = ScoreHistogram()
    out = make_ways_out(MetricSettings.model_validate({"readers": [pull]}), scores)
    (endpoint,) = out.endpoints
    telemetry = Telemetry(out.readers, scores=scores)
    telemetry.receiver("otlp").accepted(Signal.TRACES, 3)
    telemetry.scores.of("e", "", "trace").add(1.0)
    await endpoint.start()
    async with httpx2.AsyncClient(trust_env=False) as client:
        answer = await client.get(f"http://127.0.0.1:{endpoint.port}/metrics")
    await endpoint.stop()
    telemetry.stop()
    assert 'spanjudge_receiver_accepted_spans_total{receiver="otlp"} 3.0' in answer.text
    kind = 'evaluator="e",label="",'
    assert f'spanjudge_processor_score_bucket{{{kind}le="0.9",level="trace"}} 0.0' in answer.text
    assert f'spanjudge_processor_score_bucket{{{kind}le="1.0",level="trace"}} 1.0' in answer.text


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
    assert make_ways_out(settings, ScoreHistogram()) == WaysOut()


def test_the_page_about_metrics_names_every_outcome() -> None:
    page = (Path(__file__).parents[2] / "docs" / "metrics.md").read_text(encoding="utf-8")
    requests, questions = (part for part in page.split("\n\n") if part.startswith("`outcome`"))
    assert set(re.findall(r"`([a-z_]+)`", requests)) - {"outcome", "timeout"} == {outcome.value for outcome in Outcome}
    assert set(re.findall(r"`([a-z_]+)`", questions)) - {"outcome"} == {asked.value for asked in Asked}


class Noting(NoOpMeter):
    """A meter that only notes what is made of it: the kind and the unit of each metric."""

    def __init__(self) -> None:
        super().__init__("spanjudge")
        self.made: dict[str, tuple[str, str]] = {}

    def _note(self, name: str, kind: str, unit: str) -> None:
        assert name not in self.made, f"{name} is made twice"
        self.made[name.removeprefix("spanjudge_")] = (kind, unit)

    def create_observable_counter(
        self, name: str, callbacks: object = None, unit: str = "", description: str = ""
    ) -> Any:
        self._note(name, "counter", unit)

    def create_observable_gauge(
        self, name: str, callbacks: object = None, unit: str = "", description: str = ""
    ) -> Any:
        self._note(name, "gauge", unit)

    def create_histogram(self, name: str, unit: str = "", description: str = "", **_: Any) -> Any:
        self._note(name, "histogram", unit)


def everything(monkeypatch: pytest.MonkeyPatch) -> dict[str, tuple[str, str]]:
    """Kind and unit of every metric that there can be."""
    meter = Noting()
    monkeypatch.setattr("collector.telemetry.provider.MeterProvider.get_meter", lambda *_: meter)
    telemetry = Telemetry()
    telemetry.receiver("r")
    exporter = telemetry.exporter("x")
    exporter.observe_queue("bytes", lambda: 1, 1, {signal: lambda: 1 for signal in Signal})
    exporter.observe_destination(lambda: 1, lambda: 1, {signal: lambda: 1 for signal in Signal})
    exporter.observe_aside(lambda: 1)
    exporter.observe_dead_letters(lambda: 1, 1)
    telemetry.judge("j").stands(1, 1, 1, True)
    budget = Budget(1)
    store: MemoryStore[Any] = MemoryStore(budget)
    nobody: Any = None
    own_gauges.observe(
        telemetry,
        exposed_addresses=lambda: 0,
        budget=budget,
        pending=dict,
        journal=lambda: None,
        assembler=Assembler(Settings(), store, store, nobody, nobody),
        judging=lambda: (),
    )
    return {**meter.made, SCORE: ("histogram", "")}


def rows() -> dict[str, tuple[str, str]]:
    """Kind and unit of every metric on the page."""
    page = (Path(__file__).parents[2] / "docs" / "metrics.md").read_text(encoding="utf-8")
    found = re.findall(r"^\| (`.*?`) \| (counter|gauge|histogram)(?:, (s|bytes))? \|", page, re.MULTILINE)
    return {
        name.replace("<items>", items): (kind, {"bytes": "By"}.get(unit, unit))
        for names, kind, unit in found
        for name in re.findall(r"`([a-z_<>]+)`", names)
        for items in (ITEMS.values() if "<items>" in name else ("",))
    }


def test_the_page_about_metrics_lists_every_one(monkeypatch: pytest.MonkeyPatch) -> None:
    made = {
        name: (kind, "" if unit.startswith("{") else unit) for name, (kind, unit) in everything(monkeypatch).items()
    }
    assert rows() == made
