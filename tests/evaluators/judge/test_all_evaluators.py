"""All five evaluators on one run, with their own questions and answer types, against a real HTTP server."""

from __future__ import annotations

import json

import pytest
from jsonschema import Draft202012Validator

from evaluators.evaluation import evaluate
from evaluators.judge.client import OpenAIJudge
from evaluators.judge.settings import JudgeSettings
from evaluators.usage import total
from evaluators.verdict import Method, Status, Verdict
from tests.evaluators.judge_cases import FIVE, items_of, six_steps
from tests.evaluators.judge_server import STRICT_KEYWORDS, JudgeServer, Received, nodes, status


async def _judged(server: JudgeServer) -> list[Verdict]:
    settings = JudgeSettings.model_validate({"model": "fake-1", "base_url": server.base_url, "max_retries": 0})
    judge = OpenAIJudge(settings)
    try:
        return await evaluate(items_of(six_steps(), judge))
    finally:
        await judge.close()


def _chars(received: Received) -> int:
    schema = json.dumps(received.schema, separators=(",", ":"))
    return len(received.system) + len(received.user) + len(schema)


async def test_a_run_of_six_steps_takes_two_requests_and_fewer_characters_than_promised() -> None:
    async with JudgeServer() as server:
        verdicts = await _judged(server)
    assert len(server.received) == 2
    assert sum(map(_chars, server.received)) <= 26_000
    spent = total(verdict.usage for verdict in verdicts)
    assert spent.requests == 2
    assert spent.prompt_chars == sum(map(_chars, server.received))


async def test_every_evaluator_asks_and_takes_the_answer() -> None:
    async with JudgeServer() as server:
        verdicts = await _judged(server)
    judged = {verdict.evaluator for verdict in verdicts if verdict.method is Method.JUDGE}
    assert judged == set(FIVE)
    for verdict in verdicts:
        assert verdict.status in (Status.OK, Status.NOT_APPLICABLE)
        assert (verdict.model == "fake-1") == (verdict.method is Method.JUDGE)


async def test_what_is_asked_for_is_strict_json() -> None:
    async with JudgeServer() as server:
        await _judged(server)
    for received in server.received:
        Draft202012Validator.check_schema(received.schema)
        for node in nodes(received.schema):
            assert set(node) <= STRICT_KEYWORDS
            assert "type" not in node or node["type"] != "object" or node["required"] == list(node["properties"])


async def test_what_rules_decide_is_not_asked() -> None:
    without = await evaluate(items_of(six_steps(), None))
    async with JudgeServer() as server:
        verdicts = await _judged(server)
    decided = [place for place, verdict in enumerate(without) if verdict.status is not Status.NEEDS_JUDGE]
    certain = [place for place in decided if (without[place].confidence or 0) == 1.0]
    assert certain
    for place in certain:
        assert verdicts[place] == without[place]


@pytest.mark.parametrize("code", [401, 500])
async def test_a_judge_that_fails_leaves_a_status_and_never_a_score(code: int) -> None:
    async with JudgeServer(status(code)) as server:
        verdicts = await _judged(server)
    failed = [verdict for verdict in verdicts if verdict.status is Status.JUDGE_ERROR]
    assert len(server.received) == 2
    assert failed
    for verdict in failed:
        assert verdict.score is None
        assert f"({code})" in verdict.explanation
    for verdict in verdicts:
        assert verdict.status is Status.JUDGE_ERROR or verdict.method is Method.RULE
