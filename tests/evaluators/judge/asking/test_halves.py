"""Questions that are too many for one prompt or one answer are asked again in halves."""

from __future__ import annotations

from typing import Any

from evaluators.judge.asking.batches import halves
from evaluators.judge.client import OpenAIJudge
from evaluators.judge.question import JudgeAnswer
from evaluators.judge.report import Asked
from evaluators.usage import total
from evaluators.verdict import Status
from tests.evaluators.judge_cases import CALLS, choice, goals, invocation
from tests.evaluators.judge_limits import Told, ask, judge_at, reasons
from tests.evaluators.judge_server import Behaviour, JudgeServer, Received, Response, completion, slow, status, well

_QUESTIONS = [choice(index) for index in range(6)]


def _cut_off(received: Received) -> Response:
    return Response(body=completion('{"q1": {"expl', finish_reason="length"))


async def _judge(server: JudgeServer, **values: Any) -> OpenAIJudge:
    """A judge that has learnt by a first request what there is to learn of an endpoint that cuts answers off."""
    judge = judge_at(server, **values)
    await ask(judge)
    server.received.clear()
    return judge


def _asked(received: Received) -> list[str]:
    return [name for name in received.schema["properties"] if name.startswith("q")]


def _writes_at_most(answers: int, behaviour: Behaviour = well) -> Behaviour:
    def behave(received: Received) -> Response:
        if len(_asked(received)) > answers:
            return _cut_off(received)
        return behaviour(received)

    return behave


async def test_an_answer_that_is_cut_off_is_asked_for_in_halves() -> None:
    told = Told()
    async with JudgeServer(_cut_off, well, _writes_at_most(2)) as server:
        judge = await _judge(server, told=told)
        answers = await ask(judge, _QUESTIONS)
        await judge.close()
    assert all(isinstance(answer, JudgeAnswer) for answer in answers)
    assert list(map(len, map(_asked, server.received))) == [6, 3, 1, 2, 3, 1, 2]
    assert [name for received in server.received for name in _asked(received) if len(_asked(received)) < 3] == [
        f"q{number}" for number in range(1, 7)
    ]
    spent = total(answer.usage for answer in answers)
    assert (spent.requests, spent.prompt_tokens) == (7, 7 * 1001)
    assert told.asked == {Asked.ANSWERED: 1 + 6}


async def test_a_single_answer_that_is_cut_off_fails_and_the_halving_is_bounded() -> None:
    told = Told()
    async with JudgeServer(_cut_off, well, _writes_at_most(0)) as server:
        judge = await _judge(server, told=told, steps_per_request=20)
        answers = await ask(judge, [choice(index % 6) for index in range(20)])
        await judge.close()
    assert len(server.received) == 1 + 2 + 4 + 8
    assert {answer.status for answer in answers} == {Status.JUDGE_ERROR}  # type: ignore[union-attr]
    assert set(reasons(answers)) == {
        "the answer of fake-1 was cut off at its output limit; lower steps_per_request, or use a model that may write "
        "more"
    }
    assert told.asked == {Asked.ANSWERED: 1, Asked.CUT_OFF: 20}
    assert total(answer.usage for answer in answers).requests == 15


async def test_halves_have_a_correction_each() -> None:
    def wrong_at_first(received: Received) -> Response:
        if "An earlier answer" in received.user:
            return well(received)
        return Response(body=completion("{}"))

    async with JudgeServer(_cut_off, well, _writes_at_most(3, wrong_at_first)) as server:
        judge = await _judge(server)
        answers = await ask(judge, _QUESTIONS)
        await judge.close()
    assert not reasons(answers)
    assert len(server.received) == 5


async def test_what_one_half_answered_counts_when_the_other_fails() -> None:
    def second_half_fails(received: Received) -> Response:
        return well(received) if "q1" in _asked(received) else status(400)(received)

    async with JudgeServer(_cut_off, well, _writes_at_most(3, second_half_fails)) as server:
        judge = await _judge(server)
        answers = await ask(judge, _QUESTIONS)
        await judge.close()
    assert [isinstance(answer, JudgeAnswer) for answer in answers] == [True] * 3 + [False] * 3


async def test_what_one_half_answered_counts_when_the_deadline_passes() -> None:
    def second_half_is_slow(received: Received) -> Response:
        return well(received) if "q1" in _asked(received) else slow(30)(received)

    async with JudgeServer(_cut_off, well, _writes_at_most(3, second_half_is_slow)) as server:
        judge = await _judge(server, limits={"deadline": "1s"})
        answers = await ask(judge, _QUESTIONS)
        await judge.close()
    assert [isinstance(answer, JudgeAnswer) for answer in answers] == [True] * 3 + [False] * 3
    assert "within 1 s (limits::deadline)" in reasons(answers)[0]
    assert total(answer.usage for answer in answers).requests == 3


def test_evaluators_stay_together_so_that_their_criteria_are_read_once() -> None:
    asked = [
        ("q1", choice(0)),
        ("q2", invocation(CALLS[0])),
        ("q3", choice(1)),
        ("q4", goals()),
        ("q5", invocation(CALLS[1])),
    ]
    first, second = halves(asked)
    assert [name for name, _ in first] == ["q1", "q3"]
    assert [name for name, _ in second] == ["q2", "q4", "q5"]


def test_the_questions_of_one_evaluator_are_divided_in_order() -> None:
    asked = [(f"q{number}", choice(number)) for number in range(5)]
    first, second = halves(asked)
    assert [name for name, _ in (*first, *second)] == [name for name, _ in asked]
    assert (len(first), len(second)) == (2, 3)
