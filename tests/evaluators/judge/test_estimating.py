"""What judging would cost, held against what it does cost at a real HTTP server."""

from __future__ import annotations

import json
from typing import Any

import pytest

from evaluators.cases import Message, Role, Run, Turn
from evaluators.evaluation import evaluate
from evaluators.judge.client import OpenAIJudge
from evaluators.judge.estimating import Estimate, EstimatingJudge
from evaluators.judge.settings import JudgeSettings
from evaluators.judge.tokens import estimate_tokens
from evaluators.verdict import Status
from tests.evaluators.judge_cases import choice, items_of, six_steps
from tests.evaluators.judge_server import JudgeServer, Received


def settings(**given: Any) -> JudgeSettings:
    return JudgeSettings.model_validate({"model": "m", "base_url": "http://127.0.0.1:1", **given})


def read_by(received: Received) -> int:
    schema = json.dumps(received.schema, separators=(",", ":"), ensure_ascii=False)
    return estimate_tokens(received.system + received.user + schema)


@pytest.mark.parametrize("given", [{}, {"steps_per_request": 2}, {"max_prompt_tokens": 5_000}])
async def test_requests_and_tokens_are_those_that_the_judge_sends(given: dict[str, Any]) -> None:
    estimating = EstimatingJudge(settings(**given))
    await evaluate(items_of(six_steps(), estimating))
    async with JudgeServer() as server:
        judge = OpenAIJudge(settings(**{**given, "base_url": server.base_url}))
        await evaluate(items_of(six_steps(), judge))
        await judge.close()
    assert estimating.estimate.requests == len(server.received)
    sent = sum(map(read_by, server.received))
    assert estimating.estimate.read.total() == pytest.approx(sent, rel=0.01)
    assert estimating.estimate.questions.total() == sum(len(one.questions) for one in server.received)


async def test_nobody_is_asked_and_no_verdict_made_up() -> None:
    judge = EstimatingJudge(settings())
    verdicts = await evaluate(items_of(six_steps(), judge))
    assert Status.NEEDS_JUDGE in {verdict.status for verdict in verdicts}
    assert all(verdict.usage.requests == 0 for verdict in verdicts)


async def test_what_a_cache_would_know_is_not_paid_for_twice() -> None:
    asked: dict[bool, Estimate] = {}
    for cached in (False, True):
        judge = EstimatingJudge(settings(**({"cache": {}} if cached else {})))
        for _ in range(2):
            await judge.ask(six_steps(), [choice(0)])
        asked[cached] = judge.estimate
    assert (asked[False].requests, asked[False].known) == (2, 0)
    assert (asked[True].requests, asked[True].known) == (1, 1)


async def test_what_does_not_fit_is_counted_as_too_large() -> None:
    said = Message(role=Role.USER, text="word " * 200)
    run = Run(turns=tuple(Turn(index=number, text=f"{number}", context=(said,)) for number in range(3)))
    judge = EstimatingJudge(settings(max_prompt_tokens=2_000))
    await judge.ask(run, [choice(0)])
    assert judge.estimate.requests + judge.estimate.too_large == 1
