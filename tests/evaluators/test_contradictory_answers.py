"""A judge that calls a step correct and names a fault of it: asked once more, and if it stays with it, no verdict."""

from __future__ import annotations

from typing import Any

from evaluators.evaluation import Item, evaluate
from evaluators.judge.client import OpenAIJudge
from evaluators.judge.settings import JudgeSettings
from evaluators.tool_response_handling import ToolResponseHandling
from evaluators.verdict import Status, Verdict
from tests.evaluators.judge_server import Behaviour, JudgeServer, changed, well
from tests.evaluators.runs import call, response


def contradict(answers: dict[str, Any]) -> None:
    answers["q1"] |= {"label": "correct", "issues": ["leak"]}


async def judged(*behaviours: Behaviour) -> tuple[Verdict, JudgeServer]:
    case = response("It is 18 °C.", call("get_weather", {"city": "Lima"}, {"temperature": 18, "unit": "celsius"}))
    async with JudgeServer(*behaviours) as server:
        judge = OpenAIJudge(JudgeSettings(model="m", base_url=server.base_url))
        (verdict,) = await evaluate([Item(ToolResponseHandling(), case, judge)])
        await judge.close()
    return verdict, server


async def test_it_is_told_so_and_its_second_answer_counts() -> None:
    verdict, server = await judged(changed(contradict), well)
    assert (verdict.status, verdict.label, verdict.usage.requests) == (Status.OK, "correct", 2)
    assert "label is correct, but issues names a fault" in str(server.received[1].body["messages"])


async def test_if_it_stays_with_it_there_is_no_verdict() -> None:
    verdict, server = await judged(changed(contradict))
    assert (verdict.status, verdict.label, len(server.received)) == (Status.JUDGE_ERROR, None, 2)
