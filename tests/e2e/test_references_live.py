"""References of a file behind the live sidecar: a run's calls compared, the score on the span of the run."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter

from tests.e2e.sidecar import running_backend, running_sidecar
from tests.e2e.test_run import config, scores, send_faulty_run, until


@pytest.mark.parametrize("match", ["input: 'What is the weather in  Porto?'", "attributes: {service.name: agent}"])
async def test_a_run_is_compared_with_the_reference_that_is_for_it(tmp_path: Path, match: str) -> None:
    file = tmp_path / "references.yaml"
    file.write_text(
        "references:\n"
        "  - {match: {session: another}, tool_calls: []}\n"
        f"  - {{match: {{{match}}}, tool_calls: [{{name: get_weather, arguments: {{city: Porto}}}}]}}\n"
    )
    async with running_backend() as backend:
        own = f"  references: {{file: '{file}'}}\n  tool_calls_match: {{}}\n  adk_trajectory: {{threshold: 0.5}}\n"
        text = config(backend.port).replace("  step_efficiency: {}\n", f"  step_efficiency: {{}}\n{own}")
        text = text.replace("step_efficiency]", "step_efficiency, references, tool_calls_match, adk_trajectory]")
        async with running_sidecar(tmp_path, text) as sidecar:
            exporter = OTLPSpanExporter(endpoint=f"http://127.0.0.1:{sidecar.grpc_port}", insecure=True)
            await asyncio.to_thread(send_faulty_run, exporter)
            await until(lambda: len(backend.spans) == 4)
    (run,) = [span for span in backend.spans if span.name == "invoke_agent weather"]
    told = scores(run)
    assert told["eval.tool_calls_match.score"] == 0.5
    assert told["eval.tool_calls_match.method"] == "reference"
    assert told["eval.tool_calls_match.issue"] == "wrong_arguments"
    assert "mood was not expected" in str(told["eval.tool_calls_match.explanation"])
    assert "eval.tool_calls_match.label" not in told
    assert (told["eval.adk_trajectory.label"], told["eval.adk_trajectory.passed"]) == ("fail", False)
    others = [span for span in backend.spans if span.span_id != run.span_id]
    assert not any("tool_calls_match" in key for span in others for key in scores(span))
