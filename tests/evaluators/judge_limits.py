"""What the specifications of a judge's limits share: a clock that can be put forward, and judges of small questions."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from evaluators.judge.client import OpenAIJudge
from evaluators.judge.limits.clock import SystemClock
from evaluators.judge.limits.gate import Gates
from evaluators.judge.question import Answer, JudgeFailure, Question
from evaluators.judge.report import QuestionsReport, SpendingReport
from evaluators.judge.settings import JudgeSettings
from tests.evaluators.judge_cases import choice, six_steps
from tests.evaluators.judge_server import JudgeServer

RUN = six_steps()


class LeapingClock(SystemClock):
    """Leaps instead of waiting."""

    def __init__(self) -> None:
        self.ahead_s = 0.0

    def now_s(self) -> float:
        return super().now_s() + self.ahead_s

    def wall_s(self) -> float:
        return super().wall_s() + self.ahead_s

    async def sleep(self, wait_s: float) -> None:
        self.ahead_s += wait_s
        await asyncio.sleep(0)


class Told(list[QuestionsReport | SpendingReport]):
    """What a judge has told."""

    @property
    def asked(self) -> dict[str, int]:
        """Questions by what came of them."""
        found: dict[str, int] = {}
        for report in self:
            if isinstance(report, QuestionsReport):
                found[report.asked] = found.get(report.asked, 0) + report.questions
        return found

    @property
    def problems(self) -> list[str]:
        """What there was to say of them."""
        return [report.problem for report in self if isinstance(report, QuestionsReport) and report.problem]

    @property
    def spent(self) -> list[SpendingReport]:
        """What was used."""
        return [report for report in self if isinstance(report, SpendingReport)]


def settings_for(server: JudgeServer | str, **values: Any) -> JudgeSettings:
    base_url = server if isinstance(server, str) else server.base_url
    return JudgeSettings.model_validate({"model": "fake-1", "base_url": base_url, "api_key": "key", **values})


def judge_at(
    server: JudgeServer | str,
    *,
    clock: SystemClock | None = None,
    told: Told | None = None,
    gates: Gates | None = None,
    name: str = "judge/a",
    patient: bool = False,
    **values: Any,
) -> OpenAIJudge:
    return OpenAIJudge(
        settings_for(server, **values),
        on_report=told.append if told is not None else lambda _: None,
        clock=clock or LeapingClock(),
        gates=gates,
        name=name,
        patient=patient,
    )


async def ask(judge: OpenAIJudge, questions: Sequence[Question] = (choice(0),)) -> list[Answer]:
    return await judge.ask(RUN, questions)


async def ask_many(judge: OpenAIJudge, times: int) -> list[Answer]:
    """One question each, all at once."""
    return [answer for answers in await asyncio.gather(*(ask(judge) for _ in range(times))) for answer in answers]


def reasons(answers: Sequence[Answer]) -> list[str]:
    """Why there were no answers."""
    return [answer.reason for answer in answers if isinstance(answer, JudgeFailure)]
