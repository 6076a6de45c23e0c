"""What was asked once isn't asked again, if a cache is configured: at a real HTTP server."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import pytest
from pydantic import BaseModel

from evaluators.cases import Run
from evaluators.evaluation import evaluate
from evaluators.judge.question import JudgeAnswer, Question
from evaluators.judge.report import Asked
from evaluators.verdict import NO_USAGE, Method
from tests.evaluators.judge_cases import CALLS, choice, goals, invocation, items_of, six_steps, span
from tests.evaluators.judge_limits import RUN, LeapingClock, Told, ask, ask_many, judge_at, reasons
from tests.evaluators.judge_server import Behaviour, JudgeServer, changed, says, slow, status, well

_QUESTIONS = [choice(1), invocation(CALLS[2], CALLS[3]), goals()]


def _elsewhere(run: Run) -> Run:
    """The same run with other ids, as if it had happened again."""

    def moved(value: Any) -> Any:
        return None if value is None else f"ffff{value[4:]}"

    def call(one: Any) -> Any:
        result = one.result and replace(one.result, ref=moved(one.result.ref))
        return replace(one, id=f"again_{one.id}", ref=moved(one.ref), result=result)

    def message(one: Any) -> Any:
        call_id = one.call_id and f"again_{one.call_id}"
        return replace(one, calls=tuple(map(call, one.calls)), call_id=call_id, ref=moved(one.ref))

    turns = tuple(
        replace(
            turn,
            calls=tuple(map(call, turn.calls)),
            context=tuple(map(message, turn.context or ())),
            answers=tuple(f"again_{one}" for one in turn.answers),
            ref=moved(turn.ref),
        )
        for turn in run.turns
    )
    return replace(run, turns=turns, ref=moved(run.ref))


async def test_without_a_cache_it_is_asked_each_time() -> None:
    async with JudgeServer() as server:
        judge = judge_at(server)
        for _ in range(2):
            await ask(judge)
        await judge.close()
    assert len(server.received) == 2


@pytest.mark.parametrize("on_disk", [False, True])
async def test_the_very_same_questions_are_asked_once_and_cost_nothing_again(tmp_path: Path, on_disk: bool) -> None:
    told = Told()
    cache = {"file": tmp_path / "answers.db"} if on_disk else {}
    async with JudgeServer() as server:
        judge = judge_at(server, told=told, cache=cache)
        first = await ask(judge, _QUESTIONS)
        if on_disk:
            await judge.close()
            judge = judge_at(server, told=told, cache=cache)
        second = await ask(judge, _QUESTIONS)
        await judge.close()
    assert len(server.received) == 1
    for asked, known in zip(first, second, strict=True):
        assert isinstance(asked, JudgeAnswer)
        assert known == replace(asked, cached=True, usage=NO_USAGE)
    assert told.asked == {Asked.ANSWERED: 3, Asked.CACHED: 3}
    assert len(told.spent) == 1


async def test_only_what_is_new_is_asked() -> None:
    async with JudgeServer() as server:
        judge = judge_at(server, cache={})
        await ask(judge, _QUESTIONS)
        answers = await ask(judge, [choice(2), *_QUESTIONS, choice(3)])
        await judge.close()
    assert [isinstance(answer, JudgeAnswer) and answer.cached for answer in answers] == [False, True, True, True, False]
    assert len(server.received[1].schema["properties"]) - len(server.received[0].schema["properties"]) == -1


async def test_an_equal_run_with_other_ids_gets_the_answer_with_its_own() -> None:
    again = _elsewhere(RUN)
    calls = [call for turn in again.turns for call in turn.calls]

    def with_evidence(answers: dict[str, Any]) -> None:
        answers["q1"]["evidence"] = ["e1"]

    async with JudgeServer(changed(with_evidence)) as server:
        judge = judge_at(server, cache={})
        await judge.ask(RUN, [invocation(CALLS[2], CALLS[3])])
        (answer,) = await judge.ask(again, [invocation(calls[2], calls[3])])
        await judge.close()
    assert len(server.received) == 1
    assert isinstance(answer, JudgeAnswer)
    assert answer.cached
    assert [one.call_id for one in answer.content.calls] == [calls[2].id, calls[3].id]  # type: ignore[attr-defined]
    assert answer.evidence == (f"ffff{span(1)[4:]}",)


class _Other(BaseModel):
    explanation: str
    label: Literal["good", "bad"]


@pytest.mark.parametrize(
    ("run", "question", "settings"),
    [
        (replace(RUN, final_answer="Another one."), choice(0), {}),
        (RUN, replace(choice(0), criteria="Were the tools well chosen?"), {}),
        (RUN, replace(choice(0), evaluator="another"), {}),
        (RUN, replace(choice(0), findings=("suspicious",)), {}),
        (RUN, replace(choice(0), answer_type=_Other), {}),
        (RUN, choice(1), {}),
        (RUN, choice(0), {"model": "fake-2"}),
        (RUN, choice(0), {"temperature": 0}),
        (RUN, choice(0), {"max_prompt_tokens": 9_000}),
    ],
)
async def test_whatever_the_model_would_read_or_be_otherwise_makes_it_another_question(
    tmp_path: Path, run: Run, question: Question, settings: dict[str, Any]
) -> None:
    cache = {"file": tmp_path / "answers.db"}
    async with JudgeServer() as server:
        for values, asked_of, asked in (({}, RUN, choice(0)), (settings, run, question)):
            judge = judge_at(server, cache=cache, **values)
            (answer,) = await judge.ask(asked_of, [asked])
            await judge.close()
            assert isinstance(answer, JudgeAnswer)
    assert len(server.received) == 2


@pytest.mark.parametrize(
    "settings",
    [{"max_concurrent_requests": 9}, {"timeout": "9s"}, {"api_key": "other"}, {"limits": {"requests_per_minute": 9}}],
)
async def test_how_hard_the_judge_is_worked_does_not(tmp_path: Path, settings: dict[str, Any]) -> None:
    cache = {"file": tmp_path / "answers.db"}
    async with JudgeServer() as server:
        for values in ({}, settings):
            judge = judge_at(server, cache=cache, **values)
            await ask(judge)
            await judge.close()
    assert len(server.received) == 1


@pytest.mark.parametrize("failure", [status(400), says("junk"), says(None, refusal="no")])
async def test_failures_are_not_kept(failure: Behaviour) -> None:
    async with JudgeServer(failure) as server:
        judge = judge_at(server, cache={})
        await ask(judge)
        before = len(server.received)
        await ask(judge)
        await judge.close()
    assert len(server.received) == 2 * before


async def test_equal_questions_at_the_same_time_are_asked_once() -> None:
    told = Told()
    async with JudgeServer(slow(0.1)) as server:
        judge = judge_at(server, told=told, cache={})
        answers = await ask_many(judge, 6)
        await judge.close()
    assert len(server.received) == 1
    assert not reasons(answers)
    assert told.asked == {Asked.ANSWERED: 1, Asked.CACHED: 5}


async def test_an_equal_question_twice_in_one_call_is_asked_once() -> None:
    async with JudgeServer() as server:
        judge = judge_at(server, cache={})
        answers = await asyncio.wait_for(ask(judge, [choice(0), choice(0)]), 10)
        await judge.close()
    assert len(server.received) == 1
    assert not reasons(answers)


async def test_those_who_waited_for_one_that_failed_ask_for_themselves() -> None:
    async with JudgeServer(status(400), well) as server:
        judge = judge_at(server, cache={})
        answers = await ask_many(judge, 3)
        await judge.close()
    assert len(server.received) == 2
    assert len(reasons(answers)) == 1


async def test_who_is_given_up_does_not_take_those_along_who_wait_for_him() -> None:
    async with JudgeServer(slow(0.3), well) as server:
        judge = judge_at(server, cache={})
        first = asyncio.create_task(ask(judge))
        await asyncio.sleep(0.05)
        second, third = asyncio.create_task(ask(judge)), asyncio.create_task(ask(judge))
        await asyncio.sleep(0.05)
        second.cancel()
        first.cancel()
        (answer,) = await third
        await judge.close()
    assert isinstance(answer, JudgeAnswer)


async def test_closing_tells_those_who_wait_for_another() -> None:
    async with JudgeServer(slow(30)) as server:
        judge = judge_at(server, cache={})
        waiting = asyncio.create_task(ask_many(judge, 3))
        await asyncio.sleep(0.1)
        await judge.close()
        answers = await waiting
    assert reasons(answers) == ["the judge is being stopped"] * 3


async def test_an_answer_that_is_too_old_is_asked_for_again() -> None:
    clock = LeapingClock()
    async with JudgeServer() as server:
        judge = judge_at(server, clock=clock, cache={"max_age": "1h"})
        await ask(judge)
        clock.ahead_s += 3601
        await ask(judge)
        await judge.close()
    assert len(server.received) == 2


async def test_a_verdict_on_an_answer_that_was_kept_says_so() -> None:
    run = six_steps()
    async with JudgeServer() as server:
        judge = judge_at(server, cache={})
        verdicts = [await evaluate(items_of(run, judge)) for _ in range(2)]
        await judge.close()
    judged: Callable[[int], list[Any]] = lambda time: [one for one in verdicts[time] if one.method is Method.JUDGE]  # noqa: E731
    assert len(server.received) == 2
    assert judged(1)
    assert all("cached" not in one.details for one in judged(0))
    assert all(one.details["cached"] is True and one.usage == NO_USAGE for one in judged(1))
    assert [one.score for one in judged(0)] == [one.score for one in judged(1)]
