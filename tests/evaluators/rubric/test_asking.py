"""Rubrics and a judge over HTTP: what is sent, and what becomes of answers that are good, made up or junk."""

from __future__ import annotations

import json
from typing import Any

import pytest

from evaluators.cases import Run
from evaluators.evaluation import Item, evaluate
from evaluators.judge.client import OpenAIJudge
from evaluators.judge.settings import JudgeSettings
from evaluators.output_quality import OutputQuality
from evaluators.rubric import RubricEvaluator
from evaluators.verdict import Method, Status, Verdict
from evaluators.workflow_compliance import WorkflowCompliance
from tests.evaluators.judge_server import STRICT_KEYWORDS, Behaviour, JudgeServer, changed, nodes
from tests.evaluators.rubric.travel import ALL_TOOLS, as_run, codes, planned, run_that

RUN = run_that(*ALL_TOOLS)
UNMARKED = {
    "quote": "68 公里",
    "item": "泰安古镇",
    "evidence": [],
    "why": "Its source isn't told.",
    "check": "unmarked",
    "element": None,
}


def violations(*found: dict[str, Any]) -> Behaviour:
    def answer(answers: dict[str, Any]) -> None:
        [name] = [name for name in answers if name.startswith("q")]
        answers[name] = {
            "evidence": [],
            "violations": list(found),
            "suggestions": ["补充来源"],
            "summary": "一处未标注。",
        }

    return changed(answer)


async def judged(
    *behaviours: Behaviour, evaluator: RubricEvaluator | None = None, run: Run = RUN
) -> tuple[Verdict, JudgeServer]:
    async with JudgeServer(*behaviours) as server:
        told = {"model": "fake-1", "base_url": server.base_url, "max_retries": 0}
        judge = OpenAIJudge(JudgeSettings.model_validate(told))
        try:
            [verdict] = await evaluate([Item(evaluator or OutputQuality(), as_run(run), judge)])
        finally:
            await judge.close()
    return verdict, server


async def test_a_judge_names_violations_and_code_works_out_the_points() -> None:
    verdict, server = await judged(violations(UNMARKED))
    assert (verdict.status, verdict.score, verdict.passed, verdict.method) == (Status.OK, 0.75, False, Method.JUDGE)
    assert (codes(verdict), verdict.model) == (["V-27"], "fake-1")
    assert len(server.received) == 1


async def test_what_it_makes_up_is_dropped() -> None:
    verdict, _ = await judged(violations({**UNMARKED, "quote": "80 公里"}))
    assert (verdict.score, verdict.passed, codes(verdict)) == (1.0, True, [])
    assert verdict.details["dropped"] == {"made_up_quotes": 1, "not_applicable": 0, "repeated": 0}


async def test_a_check_that_does_not_exist_is_asked_for_once_more_and_then_no_answer() -> None:
    junk = violations({**UNMARKED, "check": "V-99"})
    verdict, server = await judged(junk)
    assert (verdict.status, verdict.score) == (Status.JUDGE_ERROR, None)
    assert len(server.received) == 2
    mended, _ = await judged(junk, violations(UNMARKED))
    assert (mended.status, mended.score) == (Status.OK, 0.75)


async def test_points_in_an_answer_are_not_read() -> None:
    verdict, _ = await judged(violations({**UNMARKED, "deduction": 90, "severity": "minor", "points": 10}))
    assert (verdict.score, codes(verdict)) == (0.75, ["V-27"])


@pytest.mark.parametrize("evaluator", [OutputQuality(), WorkflowCompliance()], ids=lambda one: one.name)
async def test_what_is_sent_is_strict_and_tells_no_prices(evaluator: RubricEvaluator) -> None:
    _, server = await judged(violations(), evaluator=evaluator)
    [received] = server.received
    assert all(set(node) <= STRICT_KEYWORDS for node in nodes(received.schema))
    assert "泰安古镇" in received.user and "扣" not in received.user
    assert not {"deduct", "points", "score"} & set(json.dumps(received.schema).replace('"', " ").split())


async def test_a_run_and_its_session_are_two_requests() -> None:
    def nothing(answers: dict[str, Any]) -> None:
        for name in [name for name in answers if name.startswith("q")]:
            answers[name] = {"evidence": [], "violations": [], "suggestions": [], "summary": "好。"}

    case = planned(*ALL_TOOLS)
    async with JudgeServer(changed(nothing)) as server:
        told = {"model": "fake-1", "base_url": server.base_url, "max_retries": 0}
        judge = OpenAIJudge(JudgeSettings.model_validate(told))
        try:
            verdicts = await evaluate(
                [Item(OutputQuality(), as_run(case.run), judge), Item(WorkflowCompliance(), case, judge)]
            )
        finally:
            await judge.close()
    assert [verdict.score for verdict in verdicts] == [1.0, 1.0]
    # one about the run, one about the session
    assert len(server.received) == 2
