"""Models that read little: requests are as short as is configured, or as the endpoint says they have to be."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest

from evaluators.cases import Message, Role, Run, ToolResult
from evaluators.evaluation import evaluate
from evaluators.judge.asking.context_limit import ContextLimit
from evaluators.judge.client import OpenAIJudge
from evaluators.judge.question import JudgeAnswer, JudgeFailure
from evaluators.judge.settings import JudgeSettings
from evaluators.judge.tokens import estimate_tokens
from evaluators.verdict import Method, Status
from tests.evaluators.judge_cases import CALLS, choice, items_of, six_steps
from tests.evaluators.judge_server import Behaviour, JudgeServer, Received, Response, status, well

_ROWS = "\n".join(f"row {number}: nothing of interest" for number in range(6_000))


def _long_run() -> Run:
    """The run of six steps, with a result of 180 kB that has the flight somewhere in its middle."""
    found = "AZ610 costs 189 EUR"
    hostile = replace(CALLS[1], result=ToolResult(content=f"{_ROWS}\n{found}\n{_ROWS}", ref=CALLS[1].ref))
    run = six_steps()
    return replace(
        run,
        turns=tuple(
            replace(
                turn,
                calls=tuple(hostile if call.id == hostile.id else call for call in turn.calls),
                context=tuple(
                    Message(role=Role.TOOL, text=hostile.result.content, call_id=hostile.id)
                    if one.call_id == hostile.id and hostile.result is not None
                    else one
                    for one in turn.context or ()
                ),
            )
            for turn in run.turns
        ),
    )


def _tokens(received: Received) -> int:
    return estimate_tokens(received.system + received.user + json.dumps(received.schema, separators=(",", ":")))


def _judge(server: JudgeServer, **values: object) -> OpenAIJudge:
    return OpenAIJudge(JudgeSettings.model_validate({"model": "m", "base_url": server.base_url, **values}))


@pytest.mark.parametrize("tokens", [6_000, 24_000])
async def test_a_run_far_longer_than_the_context_is_judged_by_all_evaluators(tokens: int) -> None:
    async with JudgeServer() as server:
        judge = _judge(server, max_prompt_tokens=tokens)
        verdicts = await evaluate(items_of(_long_run(), judge))
        await judge.close()
    assert all(_tokens(received) <= tokens for received in server.received)
    answered = [verdict for verdict in verdicts if verdict.method is Method.JUDGE]
    assert answered
    for verdict in answered:
        assert verdict.status is Status.OK
        assert isinstance(left_out := verdict.details["left_out"], float)
        assert 0.5 < left_out < 1
    for received in server.received:
        assert "AZ610 costs 189 EUR" in received.user, "what the answer cites stays"


async def test_where_questions_would_take_the_room_of_the_run_they_are_asked_apart() -> None:
    async with JudgeServer() as server:
        judge = _judge(server, max_prompt_tokens=5_000)
        await evaluate(items_of(_long_run(), judge))
        await judge.close()
    assert len(server.received) > 2
    for received in server.received:
        record = received.user.partition("\nCRITERIA\n")[0]
        assert estimate_tokens(record) > 1_000


def _reads(window_tokens: int) -> Behaviour:
    """An endpoint that counts 1.2 tokens for one that is estimated, and refuses more than its window."""

    def behave(received: Received) -> Response:
        counted = int(_tokens(received) * 1.2)
        if counted <= window_tokens:
            return well(received)
        words = f"maximum context length is {window_tokens} tokens, your messages resulted in {counted} tokens"
        return status(400, words, code="context_length_exceeded")(received)

    return behave


async def test_what_an_endpoint_says_of_its_context_is_learnt_and_holds_for_what_follows() -> None:
    async with JudgeServer(_reads(8_192)) as server:
        judge = _judge(server)
        (first,) = await judge.ask(_long_run(), [choice(1)])
        asked = len(server.received)
        (second,) = await judge.ask(_long_run(), [choice(2)])
        await judge.close()
    assert isinstance(first, JudgeAnswer)
    assert isinstance(second, JudgeAnswer)
    assert asked == 2
    assert len(server.received) == 3


async def test_an_endpoint_that_reads_next_to_nothing_is_not_asked_for_ever() -> None:
    async with JudgeServer(status(413)) as server:
        judge = _judge(server)
        (answer,) = await judge.ask(_long_run(), [choice(1)])
        await judge.close()
    assert isinstance(answer, JudgeFailure)
    assert answer.status is Status.TOO_LARGE
    assert len(server.received) <= 3


@pytest.mark.parametrize(
    ("estimated", "window", "counted", "left"),
    [
        (20_000, None, None, 14_000),
        (20_000, 8_192, None, 6_553),
        (20_000, 8_192, 24_000, 5_461),
        (20_000, 8_192, 10_000, 6_553),
        (7_000, 8_192, None, 4_900),
    ],
)
def test_a_limit_leaves_room_for_the_answer_and_counts_as_the_endpoint_does(
    estimated: int, window: int | None, counted: int | None, left: int
) -> None:
    limit = ContextLimit(24_000)
    assert limit.lower(estimated, window, counted)
    assert limit.tokens == left


def test_a_limit_never_rises_and_not_below_what_anything_can_be_asked_in() -> None:
    limit = ContextLimit(6_000)
    assert limit.lower(20_000, None, None)
    assert limit.tokens == 6_000
    assert not limit.lower(2_000, None, None)
    assert limit.tokens == 6_000
    assert re.search(r"raise max_prompt_tokens", limit.reason())
