"""Both evaluators of plans on one run, against a real HTTP server."""

from __future__ import annotations

from typing import Any

from evaluators.cases import Plan, PlanSource, PlanStep, RunCase
from evaluators.evaluation import Item, evaluate
from evaluators.judge.client import OpenAIJudge
from evaluators.judge.settings import JudgeSettings
from evaluators.plan_adherence import PlanAdherence
from evaluators.plan_quality import PlanQuality
from evaluators.verdict import Method, Status, Verdict
from tests.evaluators.judge_server import JudgeServer, changed
from tests.evaluators.runs import call, run_of

STEPS = ("Look the order up.", "Refund it.")


def case() -> RunCase:
    plan = Plan(steps=tuple(PlanStep(text=step) for step in STEPS), source=PlanSource.TEXT, turn=0, ref="t0")
    return run_of(call("get_order", {"id": 1}, "open"), plans=(plan,))


def filled(answers: dict[str, Any]) -> None:
    """As a judge that read the question answers it."""
    for answer in answers.values():
        if isinstance(answer, dict) and "faults" in answer:
            answer["task"] = "several_steps"
            answer["faults"][0] |= {"plan": 1, "step": 2, "fault": "no_verification"}
        elif isinstance(answer, dict) and "steps" in answer:
            step = answer["steps"][0]
            answer["steps"] = [
                {**step, "step": number, "outcome": outcome} for number, outcome in ((1, "followed"), (2, "skipped"))
            ]
            answer["added"] = []


async def judged(server: JudgeServer) -> list[Verdict]:
    settings = JudgeSettings.model_validate({"model": "fake-1", "base_url": server.base_url, "max_retries": 0})
    judge = OpenAIJudge(settings)
    one = case()
    try:
        return await evaluate([Item(PlanQuality(), one, judge), Item(PlanAdherence(), one, judge)])
    finally:
        await judge.close()


async def test_one_request_asks_about_the_plan_and_about_what_became_of_it() -> None:
    async with JudgeServer(changed(filled)) as server:
        quality, adherence = await judged(server)
    (request,) = server.received
    assert request.user.count("1. Look the order up.") >= 2
    assert [(one.status, one.score, one.method) for one in (quality, adherence)] == [
        (Status.OK, 0.85, Method.JUDGE),
        (Status.OK, 0.5, Method.JUDGE),
    ]


async def test_an_answer_about_fewer_steps_than_there_are_is_asked_for_again_and_is_no_answer_then() -> None:
    def short(answers: dict[str, Any]) -> None:
        filled(answers)
        for answer in answers.values():
            if isinstance(answer, dict) and "steps" in answer:
                del answer["steps"][1]

    async with JudgeServer(changed(short)) as server:
        quality, adherence = await judged(server)
    assert len(server.received) == 2
    assert (quality.status, adherence.status, adherence.score) == (Status.OK, Status.JUDGE_ERROR, None)
