"""Verdicts that are derived from others', behind the live sidecar: with these, or after them when a judge is slow."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from tests.e2e.sidecar import Backend, running_backend, running_sidecar
from tests.e2e.test_run import config, scores, send_faulty_run, until
from tests.evaluators.judge_server import JudgeServer, slow

DERIVED = ("trajectory_quality", "failure_attribution")


@asynccontextmanager
async def sent_run(folder: Path, base_url: str, hold: str) -> AsyncIterator[Backend]:
    """A backend behind a sidecar that was sent a run of four spans; what rules leave open, the judge is asked."""
    async with running_backend() as backend:
        text = (
            config(backend.port)
            .replace("hold: 5s", f"hold: {hold}")
            .replace("[health_check]", "[health_check, judge/j]")
        )
        text = text.replace("processors:\n", f"  judge/j: {{model: fake-1, base_url: '{base_url}'}}\nprocessors:\n", 1)
        for name in ("tool_selection", "task_completion"):
            text = text.replace(f"  {name}: {{}}", f"  {name}: {{judge: judge/j}}")
        own = "  trajectory_quality: {key_actions: [get_weather]}\n  failure_attribution: {}\n"
        text = text.replace("  step_efficiency: {}\n", f"  step_efficiency: {{}}\n{own}")
        text = text.replace("step_efficiency]", "step_efficiency, trajectory_quality, failure_attribution]")
        async with running_sidecar(folder, text) as sidecar:
            exporter = OTLPSpanExporter(endpoint=f"http://127.0.0.1:{sidecar.grpc_port}", insecure=True)
            await asyncio.to_thread(send_faulty_run, exporter)
            yield backend


def told(spans: list[Span], name: str) -> list[dict[str, object]]:
    """What stands on spans about one evaluator, without its prefix."""
    prefix = f"eval.{name}."
    found = [
        {key.removeprefix(prefix): said for key, said in scores(span).items() if key.startswith(prefix)}
        for span in spans
    ]
    return [one for one in found if one]


def by_itself(span: Span) -> bool:
    return bool(span.links)


async def test_they_stand_on_the_span_of_the_run_beside_what_they_are_derived_from(tmp_path: Path) -> None:
    async with JudgeServer() as judge, sent_run(tmp_path, judge.base_url, "10s") as backend:
        await until(lambda: len(backend.spans) == 4)
        assert not any(map(by_itself, backend.spans))
        run = next(span for span in backend.spans if span.name == "invoke_agent weather")
        (trajectory,), (fault,), (task,) = (told(backend.spans, name) for name in (*DERIVED, "task_completion"))
        assert all(told([run], name) for name in (*DERIVED, "task_completion"))
        assert {"score", "label", "passed"} <= trajectory.keys()
        assert "completeness 1.00" in str(trajectory["explanation"])
        assert "label" in fault and not {"score", "passed"} & fault.keys()
        assert fault["label"] == ("none" if task["passed"] else "execution")


async def test_they_wait_for_a_slow_judge_and_follow_when_it_has_answered(tmp_path: Path) -> None:
    async with JudgeServer(slow(5)) as judge, sent_run(tmp_path, judge.base_url, "2s") as backend:
        await until(lambda: len(backend.spans) >= 4)
        left = [span for span in backend.spans if not by_itself(span)]
        assert [told(left, name) for name in DERIVED] == [[], []], "nobody guesses what a judge will say"
        await until(lambda: all(told([one for one in backend.spans if by_itself(one)], name) for name in DERIVED))
        later = [span for span in backend.spans if by_itself(span)]
        assert [len(told(later, name)) for name in DERIVED] == [1, 1]
        run = next(span for span in left if span.name == "invoke_agent weather")
        assert {one.links[0].span_id for one in later if told([one], "failure_attribution")} == {run.span_id}
