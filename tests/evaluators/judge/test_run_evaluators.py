"""Evaluators of runs beyond the usual ones, with their own answer types, against a real HTTP server."""

from __future__ import annotations

from typing import Any

import pytest
from jsonschema import Draft202012Validator

from evaluators.cases import Reference, ReferenceCall, RunCase
from evaluators.error_recovery import ErrorRecovery
from evaluators.evaluation import Item, evaluate
from evaluators.evaluator import Evaluator
from evaluators.goal_accuracy import GoalAccuracy
from evaluators.judge.client import OpenAIJudge
from evaluators.judge.settings import JudgeSettings
from evaluators.verdict import Method, Status, Verdict
from tests.evaluators.judge_server import STRICT_KEYWORDS, JudgeServer, changed, nodes
from tests.evaluators.runs import call, run_of

FAILED = run_of(
    call("get_weather", {"city": "Paris"}, error="Permission denied", ref="s1"),
    user="How warm is it in Paris?",
    answer="Paris is lovely.",
)
EXPECTED = Reference(
    required_outputs=("21",), tool_calls=(ReferenceCall(name="get_weather", arguments={"city": "Paris"}),)
)


async def judged(server: JudgeServer, evaluator: Evaluator[Any], case: RunCase) -> Verdict:
    settings = JudgeSettings.model_validate({"model": "fake-1", "base_url": server.base_url, "max_retries": 0})
    judge = OpenAIJudge(settings)
    try:
        (verdict,) = await evaluate([Item(evaluator, case, judge)])
    finally:
        await judge.close()
    return verdict


@pytest.mark.parametrize(
    ("evaluator", "case"),
    [
        (GoalAccuracy(), FAILED),
        (GoalAccuracy(), RunCase(run=FAILED.run, reference=EXPECTED)),
        (GoalAccuracy(), RunCase(run=FAILED.run, reference=Reference(outcome="The user knows the temperature."))),
        (ErrorRecovery(), FAILED),
    ],
    ids=["the user's words", "outputs and calls", "an outcome", "errors"],
)
async def test_each_asks_in_strict_json_and_takes_the_answer(evaluator: Evaluator[Any], case: RunCase) -> None:
    async with JudgeServer() as server:
        verdict = await judged(server, evaluator, case)
    assert (verdict.method, verdict.model, len(server.received)) == (Method.JUDGE, "fake-1", 1)
    assert verdict.status in (Status.OK, Status.MISSING_INPUT)
    Draft202012Validator.check_schema(server.received[0].schema)
    for node in nodes(server.received[0].schema):
        assert set(node) <= STRICT_KEYWORDS
        assert "type" not in node or node["type"] != "object" or node["required"] == list(node["properties"])


async def test_what_code_saw_of_the_reference_is_in_the_prompt_and_calls_have_their_short_names() -> None:
    async with JudgeServer() as server:
        await judged(server, GoalAccuracy(), RunCase(run=FAILED.run, reference=EXPECTED))
    told = server.received[0].user
    assert "r1, expected from outside the run: The user is told: 21" in told
    assert "r2: call c1 made it with these arguments and failed" in told or "r2: c1 made it" in told


async def test_an_expectation_that_is_left_out_is_asked_for_once_more_and_then_an_error() -> None:
    def forget(answers: dict[str, Any]) -> None:
        for answer in answers.values():
            if isinstance(answer, dict):
                answer.pop("r2", None)

    async with JudgeServer(changed(forget)) as server:
        verdict = await judged(server, GoalAccuracy(), RunCase(run=FAILED.run, reference=EXPECTED))
    assert (verdict.status, verdict.score, len(server.received)) == (Status.JUDGE_ERROR, None, 2)
