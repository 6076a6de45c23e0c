"""The model clients of a plan share what their endpoint allows, and are patient where nobody waits."""

from __future__ import annotations

import asyncio

from collector.judging.setup import Plan, make_judges
from evaluators.judge.question import JudgeAnswer
from evaluators.judge.settings import JudgeSettings
from tests.evaluators.judge_cases import choice, six_steps
from tests.evaluators.judge_server import JudgeServer, slow


def _plan(base_url: str) -> Plan:
    limits = {"deadline": "2s", "max_queued": 1}
    settings = {"base_url": base_url, "max_concurrent_requests": 1, "limits": limits}
    judges = {f"judge/{name}": JudgeSettings.model_validate({"model": name, **settings}) for name in ("a", "b")}
    return Plan(evaluators={}, judges=judges)


async def _answered(server: JudgeServer, *, patient: bool) -> int:
    judges = make_judges(_plan(server.base_url), patient=patient)
    asked = [judge.ask(six_steps(), [choice(index)]) for judge in judges.values() for index in range(3)]
    answers = [answer for answers in await asyncio.gather(*asked) for answer in answers]
    for judge in judges.values():
        await judge.close()
    return sum(isinstance(answer, JudgeAnswer) for answer in answers)


async def test_judges_of_one_endpoint_share_its_places() -> None:
    async with JudgeServer(slow(0.05)) as server:
        assert await _answered(server, patient=True) == 6
    assert server.most_at_once == 1


async def test_where_spans_wait_the_line_is_bounded() -> None:
    async with JudgeServer(slow(0.2)) as server:
        assert await _answered(server, patient=False) == 2
