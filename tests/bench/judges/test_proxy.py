"""The proxy passes everything on and counts by name what the model is shown."""

from __future__ import annotations

import asyncio
import json
import urllib.error
import urllib.request
from typing import Any

import pytest

from bench.judges.cases import LabelledCase
from bench.judges.ours import OurJudge
from bench.judges.proxy import CountingProxy, Spent, chars_of, limited
from evaluators.case_files.lines import NamedCase
from evaluators.cases import DecisionCase
from tests.evaluators.judge_cases import six_steps
from tests.evaluators.judge_server import JudgeServer

SCHEMA = {"type": "object", "properties": {"label": {"enum": ["correct", "incorrect"]}}}
ASKED: dict[str, Any] = {
    "model": "any",
    "messages": [
        {"role": "system", "content": "Judge."},
        {"role": "user", "content": [{"type": "text", "text": "Was it right?"}]},
    ],
    "response_format": {"type": "json_schema", "json_schema": {"name": "answer", "schema": SCHEMA}},
}


def _post(url: str, body: dict[str, Any]) -> dict[str, Any]:
    request = urllib.request.Request(
        f"{url}/chat/completions", json.dumps(body).encode(), {"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(request) as answer:
        told: dict[str, Any] = json.load(answer)
    return told


def test_characters_are_those_of_messages_and_of_the_schema() -> None:
    assert chars_of(ASKED) == len("Judge.") + len("Was it right?") + len(json.dumps(SCHEMA, separators=(",", ":")))


def test_characters_of_tools_count_as_well() -> None:
    tools = [{"type": "function", "function": {"name": "answer", "parameters": SCHEMA}}]
    assert chars_of({"tools": tools}) == len(json.dumps(tools, separators=(",", ":")))


@pytest.mark.parametrize(
    ("own", "sent"),
    [
        ({}, {"max_tokens": 300}),
        ({"max_tokens": 100}, {"max_tokens": 100}),
        ({"max_completion_tokens": 900}, {"max_completion_tokens": 300}),
        ({"max_tokens": None}, {"max_tokens": 300}),
    ],
)
def test_no_answer_may_be_longer_than_anybody_elses(own: dict[str, Any], sent: dict[str, Any]) -> None:
    assert limited(own, 300) == sent


async def test_requests_are_passed_on_and_counted_by_name() -> None:
    async with JudgeServer() as server:
        with CountingProxy(server.base_url, most_output_tokens=300) as proxy:
            for name in ("one", "one", "another, with a comma"):
                answer = await asyncio.to_thread(_post, proxy.url(name), ASKED)
                assert "choices" in answer
            assert [proxy.spent(name).requests for name in ("one", "another, with a comma", "third")] == [2, 1, 0]
            assert proxy.spent("one").chars == 2 * chars_of(ASKED)
            assert proxy.spent("one").seconds > 0
    assert {request.path for request in server.received} == {"/v1/chat/completions"}
    assert {**server.received[0].body, "max_tokens": None} == {**ASKED, "max_tokens": None}


async def test_an_endpoint_that_is_gone_is_an_error_of_the_gateway() -> None:
    async with JudgeServer() as server:
        gone = server.base_url
    with CountingProxy(gone, most_output_tokens=300) as proxy:
        with pytest.raises(urllib.error.HTTPError) as raised:
            await asyncio.to_thread(_post, proxy.url("one"), ASKED)
        raised.value.close()
        assert raised.value.code == 502
        assert proxy.spent("one").requests == 1


async def test_our_judge_asks_through_the_proxy() -> None:
    run = six_steps()
    turn = next(turn for turn in run.turns if turn.calls)
    named = NamedCase(1, "case", "tool_selection", DecisionCase(run=run, turn=turn))
    case = LabelledCase(named, False, "made", {})

    def ask(base_url: str) -> bool | None:
        with OurJudge(base_url, "any", max_prompt_tokens=7000) as judge:
            told = judge.ask(case)
        assert told.by == "model"
        return told.bad

    async with JudgeServer() as server:
        with CountingProxy(server.base_url, most_output_tokens=300) as proxy:
            assert await asyncio.to_thread(ask, proxy.url("ours")) is False
            spent = proxy.spent("ours") - Spent()
    assert spent.requests == len(server.received) == 1
