"""A judge beside the live sidecar, well or badly behaved: scores when it answers, telemetry whatever it does."""

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx2
import pytest
from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from evaluators.judge.settings import DEFAULT_BASE_URL
from tests.e2e.sidecar import Backend, Sidecar, free_port, running_backend, running_sidecar
from tests.e2e.test_run import CONFIG, scores, send_faulty_run, until
from tests.evaluators.judge_endpoints import deepseek
from tests.evaluators.judge_server import Behaviour, JudgeServer, breaks_off, raw, slow, status, well

EVALUATORS = ("tool_selection", "tool_invocation", "tool_response_handling", "task_completion", "step_efficiency")
# What the rules leave to a judge in the run that is sent; the rest they decide.
OPEN = {"tool_selection", "tool_response_handling", "task_completion"}
SAMPLE = re.compile(r"^(?P<name>\w+)\{(?P<labels>[^}]*)\} (?P<value>\S+)$", re.MULTILINE)
LABEL = re.compile(r'(\w+)="([^"]*)"')


@dataclass
class Scene:
    """A sidecar with a judge in front of a backend, and the run of four spans that it was sent."""

    sidecar: Sidecar
    backend: Backend
    metrics_port: int

    @property
    def sent(self) -> list[Span]:
        return [span for span in self.backend.spans if not span.links]

    @property
    def evaluations(self) -> list[Span]:
        return [span for span in self.backend.spans if span.links]

    def told(self, spans: list[Span], key: str) -> dict[str, object]:
        """By evaluator what stands on spans under `eval.<evaluator>.<key>`."""
        found = {name: said for span in spans for name, said in scores(span).items()}
        return {name: found[f"eval.{name}.{key}"] for name in EVALUATORS if f"eval.{name}.{key}" in found}

    async def sums(self, metric: str, label: str) -> dict[str, float]:
        """A metric of the sidecar as Prometheus sees it, added up by one of its labels."""
        async with httpx2.AsyncClient(trust_env=False) as client:
            text = (await client.get(f"http://127.0.0.1:{self.metrics_port}/metrics")).text
        added: dict[str, float] = {}
        for sample in SAMPLE.finditer(text):
            if sample["name"] == f"spanjudge_{metric}":
                value = dict(LABEL.findall(sample["labels"]))[label]
                added[value] = added.get(value, 0.0) + float(sample["value"])
        return added

    async def counted(self, verdicts: int) -> dict[str, float]:
        """The verdicts by status, once there are so many."""
        async with asyncio.timeout(30):
            while sum((by_status := await self.sums("processor_verdicts_total", "status")).values()) < verdicts:
                await asyncio.sleep(0.1)
        return by_status


@asynccontextmanager
async def scene(
    folder: Path,
    base_url: str,
    *,
    hold: str = "10s",
    limit: str = "20s",
    further: str = "max_retries: 1",
    log: str = "console",
) -> AsyncIterator[Scene]:
    metrics_port = free_port()
    async with running_backend() as backend:
        text = CONFIG.replace("BACKEND_PORT", str(backend.port)).replace("QUIET", "300ms")
        text = text.replace("hold: 5s", f"hold: {hold}").replace("[health_check]", "[health_check, judge/j]")
        for name in EVALUATORS:
            text = text.replace(f"  {name}: {{}}", f"  {name}: {{judge: judge/j}}")
        judge = f"  judge/j: {{model: fake-1, base_url: '{base_url}', timeout: {limit}, {further}}}\n"
        text = text.replace("processors:\n", f"{judge}processors:\n", 1)
        reader = f"{{pull: {{exporter: {{prometheus: {{port: {metrics_port}}}}}}}}}"
        text += f"  telemetry: {{logs: {{encoding: {log}}}, metrics: {{readers: [{reader}]}}}}\n"
        async with running_sidecar(folder, text) as sidecar:
            exporter = OTLPSpanExporter(endpoint=f"http://127.0.0.1:{sidecar.grpc_port}", insecure=True)
            await asyncio.to_thread(send_faulty_run, exporter)
            yield Scene(sidecar, backend, metrics_port)


async def send_another(live: Scene) -> None:
    """Send the sidecar the same run once more, as a trace of its own."""
    exporter = OTLPSpanExporter(endpoint=f"http://127.0.0.1:{live.sidecar.grpc_port}", insecure=True)
    await asyncio.to_thread(send_faulty_run, exporter)


async def test_what_the_rules_leave_open_the_judge_decides_on_the_same_spans(tmp_path: Path) -> None:
    async with JudgeServer() as judge, scene(tmp_path, judge.base_url) as live:
        await until(lambda: len(live.backend.spans) == 4)
        methods = live.told(live.sent, "method")
        assert {name for name, method in methods.items() if method == "judge"} == OPEN
        assert {name for name, method in methods.items() if method == "rule"} == set(EVALUATORS) - OPEN
        assert set(live.told(live.sent, "model")) == OPEN
        assert set(live.told(live.sent, "model").values()) == {"fake-1"}
        assert len(judge.received) == 2, "the steps share one request, and the run has one"
        assert await live.counted(5) == {"ok": 5}
        assert await live.sums("judge_request_duration_seconds_count", "outcome") == {"ok": 2}
        assert await live.sums("judge_tokens_total", "direction") == {"input": 2002, "output": 202}


async def test_spans_leave_with_what_rules_decided_and_a_slow_judges_scores_follow(tmp_path: Path) -> None:
    async with JudgeServer(slow(8)) as judge, scene(tmp_path, judge.base_url, hold="3s") as live:
        await until(lambda: len(live.backend.spans) >= 4)
        assert len(live.backend.spans) == 4 and not live.evaluations, "they left before the judge had answered"
        assert live.told(live.sent, "label") == {"tool_invocation": "incorrect", "step_efficiency": "pass"}
        await until(lambda: len(live.evaluations) == len(OPEN))
        assert set(live.told(live.evaluations, "label")) == OPEN
        by_id = {span.span_id: span for span in live.sent}
        assert all(span.links[0].span_id in by_id for span in live.evaluations)
        assert await live.counted(5) == {"ok": 5}


@pytest.mark.parametrize(
    ("behaviour", "outcome", "said"),
    [
        (status(401), "unauthorized", "refused the key (401); check api_key"),
        (status(429, retry_after="0"), "rate_limited", "limits the rate of requests (429); lower"),
        (status(500), "server_error", "failed (500); look at its own log"),
        (raw(b"<html>Sign in</html>", content_type="text/html"), "unreadable", "is not JSON; check that base_url is"),
        (breaks_off(20), "unreachable", "broke its answer off"),
        (slow(30), "abandoned", "gave no answer within 1 s; raise timeout, or use a faster model"),
    ],
    ids=["401", "429", "500", "garbage", "breaks off", "silent"],
)
async def test_a_judge_that_fails_costs_its_own_scores_and_nothing_else(
    tmp_path: Path, behaviour: Behaviour, outcome: str, said: str
) -> None:
    async with JudgeServer(behaviour) as judge, scene(tmp_path, judge.base_url, limit="1s") as live:
        await until(lambda: len(live.backend.spans) == 4)
        assert live.told(live.sent, "label") == {"tool_invocation": "incorrect", "step_efficiency": "pass"}
        by_status = await live.counted(5)
        assert by_status == {"ok": 2, "timed_out" if outcome == "abandoned" else "judge_error": 3}
        assert set(await live.sums("judge_request_duration_seconds_count", "outcome")) == {outcome}
        await until(lambda: said in live.sidecar.stderr)
        line = next(line for line in live.sidecar.stderr.splitlines() if said in line)
        assert "judge/j: a request failed: " in line and judge.base_url.removesuffix("/v1") in line
        assert "Traceback" not in live.sidecar.stderr
        assert "Porto" not in live.sidecar.stderr, "nothing of a span is ever logged"
        assert await live.sidecar.stop() == 0
        assert len(live.backend.spans) == 4


async def test_what_is_learnt_of_an_endpoint_is_logged_once_and_costs_no_verdict(tmp_path: Path) -> None:
    async with JudgeServer(deepseek) as judge, scene(tmp_path, judge.base_url) as live:
        await until(lambda: len(live.backend.spans) == 4)
        assert await live.counted(5) == {"ok": 5}
        counted = await live.sums("judge_request_duration_seconds_count", "outcome")
        assert counted == {"ok": 2, "adapted": 2}
        said = [line for line in live.sidecar.stderr.splitlines() if "is asked in another way from now on" in line]
        assert len(said) == 2
        assert "answers by json_object" in said[-1]
        assert "a request failed" not in live.sidecar.stderr


async def test_a_judge_that_is_not_there_is_told_and_rules_judge(tmp_path: Path) -> None:
    async with scene(tmp_path, f"http://127.0.0.1:{free_port()}/v1") as live:
        await until(lambda: len(live.backend.spans) == 4)
        assert live.told(live.sent, "method") == {"tool_invocation": "rule", "step_efficiency": "rule"}
        await until(lambda: "can't be reached" in live.sidecar.stderr)


async def test_the_sidecar_stops_in_time_while_a_judge_is_asked(tmp_path: Path) -> None:
    async with JudgeServer(well, slow(60)) as judge, scene(tmp_path, judge.base_url) as live:
        await until(lambda: len(judge.received) == 2)
        assert not live.backend.spans
        async with asyncio.timeout(10):
            assert await live.sidecar.stop() == 0
        assert len(live.sent) == 4


async def test_a_sidecar_that_stops_begins_no_further_request_and_takes_the_answer_to_the_one_under_way(
    tmp_path: Path,
) -> None:
    one_place = "max_retries: 0, max_concurrent_requests: 1"
    async with (
        JudgeServer(well, slow(1.5)) as judge,
        scene(tmp_path, judge.base_url, hold="20s", further=one_place) as live,
    ):
        await send_another(live)
        await until(lambda: len(judge.received) == 2)
        assert await live.sidecar.stop() == 0
        assert len(judge.received) == 2
        assert len(live.sent) == 8
        judged = [
            name for span in live.sent for name, method in live.told([span], "method").items() if method == "judge"
        ]
        assert "task_completion" in judged
        assert set(judged) == OPEN
        assert "Traceback" not in live.sidecar.stderr


async def test_a_judge_without_a_key_is_off_which_is_said_once(tmp_path: Path) -> None:
    async with scene(tmp_path, DEFAULT_BASE_URL) as live:
        await until(lambda: len(live.backend.spans) == 4)
        assert live.told(live.sent, "method") == {"tool_invocation": "rule", "step_efficiency": "rule"}
        assert await live.counted(5) == {"ok": 2, "needs_judge": 3}
        assert live.sidecar.stderr.count("judge/j is off") == 1
        assert "ready: judging by rules alone" in live.sidecar.stderr
