"""Budgets at a real HTTP server: they hold without usage and without a memory of the process, and say when they end."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from evaluators.judge.question import JudgeAnswer, JudgeFailure
from evaluators.judge.report import Asked, SpendingReport
from evaluators.verdict import Status
from tests.evaluators.judge_limits import LeapingClock, Told, ask, ask_many, judge_at, reasons, settings_for
from tests.evaluators.judge_server import Behaviour, JudgeServer, status, well, without_usage

_PRICES = {"input": 0.40, "output": 1.60}


def _budget(tmp_path: Path, **per_hour: float) -> dict[str, Any]:
    return {"per_hour": per_hour, "file": tmp_path / "budgets.db"}


async def test_calls_hold_over_a_restart_and_until_they_free_up(tmp_path: Path) -> None:
    clock, told = LeapingClock(), Told()
    async with JudgeServer() as server:
        for _ in range(3):
            judge = judge_at(server, clock=clock, told=told, budget=_budget(tmp_path, calls=2))
            answers = await ask(judge)
            await judge.close()
        clock.ahead_s += 3700
        judge = judge_at(server, clock=clock, budget=_budget(tmp_path, calls=2))
        later = await ask(judge)
        await judge.close()
    assert len(server.received) == 3
    assert isinstance(answers[0], JudgeFailure)
    assert answers[0].status is Status.OVER_BUDGET
    assert answers[0].reason.startswith("budget::per_hour::calls (2) is used up; it frees up at 20")
    assert isinstance(later[0], JudgeAnswer)
    assert told.asked == {Asked.ANSWERED: 2, Asked.OVER_BUDGET: 1}
    assert told.problems == [answers[0].reason]


async def test_many_at_a_time_do_not_slip_through(tmp_path: Path) -> None:
    async with JudgeServer() as server:
        judge = judge_at(server, budget=_budget(tmp_path, calls=3), max_concurrent_requests=10)
        answers = await ask_many(judge, 10)
        await judge.close()
    assert len(server.received) == 3
    assert len(reasons(answers)) == 7


@pytest.mark.parametrize("behaviour", [well, without_usage])
async def test_tokens_hold_whether_they_are_reported_or_not(tmp_path: Path, behaviour: Behaviour) -> None:
    told = Told()
    async with JudgeServer(behaviour) as server:
        judge = judge_at(server, told=told, budget=_budget(tmp_path, tokens=4_000), max_concurrent_requests=1)
        answers = await ask_many(judge, 12)
        await judge.close()
    assert 1 <= len(server.received) <= 5
    assert len(server.received) + len(reasons(answers)) == 12
    used = sum(report.tokens for report in told.spent)
    assert 0 < used <= 4_000
    assert {report.estimated for report in told.spent} == {behaviour is without_usage}


async def test_money_holds_and_is_told(tmp_path: Path) -> None:
    told = Told()
    async with JudgeServer() as server:
        budget = _budget(tmp_path, money=0.0025)
        judge = judge_at(server, told=told, budget=budget, prices=_PRICES, max_concurrent_requests=1)
        answers = await ask_many(judge, 9)
        await judge.close()
    # 1,001 tokens read and 101 written, at these prices.
    assert told.spent[0] == SpendingReport(tokens=1102, money=0.000562, estimated=False)
    # 0.000562 each: a fourth would fit if it used no more, but that is known only afterwards.
    assert len(server.received) == 3
    assert "budget::per_hour::money (0.0025) is used up" in reasons(answers)[0]


async def test_requests_that_no_model_read_cost_a_call_and_nothing_else(tmp_path: Path) -> None:
    told = Told()
    async with JudgeServer(status(400)) as server:
        judge = judge_at(server, told=told, budget=_budget(tmp_path, calls=2, tokens=4_000), prices=_PRICES)
        answers = [answer for _ in range(3) for answer in await ask(judge)]
        await judge.close()
    assert [report.tokens for report in told.spent] == [0, 0]
    assert "budget::per_hour::calls (2)" in reasons(answers)[2]


async def test_a_request_whose_end_is_not_known_counts_as_read(tmp_path: Path) -> None:
    told = Told()
    async with JudgeServer(status(500)) as server:
        judge = judge_at(server, told=told, budget=_budget(tmp_path, tokens=100_000), max_retries=0)
        await ask(judge)
        await judge.close()
    (spent,) = told.spent
    assert spent.estimated
    assert spent.tokens > 500


async def test_judges_have_budgets_of_their_own(tmp_path: Path) -> None:
    async with JudgeServer() as server:
        judges = [judge_at(server, name=name, budget=_budget(tmp_path, calls=1)) for name in ("judge/a", "judge/b")]
        answers = [answer for judge in judges for answer in await ask(judge)]
        for judge in judges:
            await judge.close()
    assert not reasons(answers)


async def test_two_processes_with_one_file_share_a_judges_budget(tmp_path: Path) -> None:
    async with JudgeServer() as server:
        first, second = (judge_at(server, budget=_budget(tmp_path, calls=2)) for _ in range(2))
        answers = [answer for judge in (first, second, first) for answer in await ask(judge)]
        await first.close()
        await second.close()
    assert len(server.received) == 2
    assert len(reasons(answers)) == 1


async def test_without_a_budget_no_file_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    async with JudgeServer() as server:
        judge = judge_at(server)
        await ask(judge)
        await judge.close()
    assert list(tmp_path.iterdir()) == []


def test_a_budget_of_money_needs_prices() -> None:
    with pytest.raises(ValidationError, match="set prices::input and prices::output per million tokens, or limit"):
        settings_for("http://127.0.0.1:1/v1", budget={"per_day": {"money": 5}})
    with pytest.raises(ValidationError, match="the model costs nothing"):
        settings_for("http://127.0.0.1:1/v1", budget={"per_day": {"money": 5}}, prices={"input": 0, "output": 0})
    settings = settings_for("http://127.0.0.1:1/v1", budget={"per_day": {"money": 5}}, prices=_PRICES)
    assert settings.budget.limits_money
