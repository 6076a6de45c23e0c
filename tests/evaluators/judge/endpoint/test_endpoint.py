"""Endpoints that refuse, ignore or answer otherwise: what it costs to find out, once, and what is sent from then on."""

from __future__ import annotations

import asyncio
import gzip
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest

from evaluators.judge.answering.answer import read_reply
from evaluators.judge.answering.schema import answer_schema
from evaluators.judge.endpoint.endpoint import MAX_REPLY_BYTES, Endpoint
from evaluators.judge.endpoint.errors import RequestError
from evaluators.judge.endpoint.manner import Mode
from evaluators.judge.endpoint.request import Order, Reply, Tally
from evaluators.judge.question import NamedQuestion
from evaluators.judge.report import Outcome, RequestReport
from evaluators.judge.settings import JudgeSettings
from evaluators.judge.showing.prompt import prepare
from tests.evaluators import judge_endpoints as endpoints
from tests.evaluators.judge_cases import CALLS, choice, goals, invocation, six_steps
from tests.evaluators.judge_server import (
    Behaviour,
    JudgeServer,
    Received,
    Response,
    completion,
    raw,
    says,
    slow,
    status,
    well,
)

_ALIASES = prepare(six_steps()).aliases
_ASKED: list[NamedQuestion] = [("q1", choice(1)), ("q2", invocation(CALLS[2], CALLS[3])), ("q3", goals())]
_ORDER = Order(system="Judge.", user="The run.", schema=answer_schema(_ASKED, _ALIASES), questions=3)


class _Client:
    """Asks as the judge does: again at once when the endpoint has to be asked in another way."""

    def __init__(self, server: JudgeServer, **values: Any) -> None:
        settings = {"model": "fake-1", "base_url": server.base_url, "api_key": "sk-test", **values}
        self.reports: list[RequestReport] = []
        self.endpoint = Endpoint(JudgeSettings.model_validate(settings), self._note)

    def _note(self, report: RequestReport) -> None:
        self.reports.append(report)

    async def ask(self, order: Order = _ORDER) -> Reply:
        for _ in range(10):
            try:
                async with self.endpoint.turn() as manner:
                    return await self.endpoint.request(order, manner, Tally(usages=[]))
            except RequestError as failure:
                if not failure.again:
                    raise
        raise AssertionError("it never ends")

    async def converse(self) -> Reply:
        """Asks, and once more by other means if the answer isn't of the form asked for."""
        reply = await self.ask()
        return reply if reply.formless is None else await self.ask(replace(_ORDER, below=reply.formless))


@asynccontextmanager
async def _client(*behaviours: Behaviour, **values: Any) -> AsyncIterator[tuple[_Client, JudgeServer]]:
    async with JudgeServer(*behaviours) as server:
        client = _Client(server, **values)
        try:
            yield client, server
        finally:
            await client.endpoint.close()


def _is_valid(reply: Reply) -> bool:
    read = read_reply(reply.text, _ASKED, _ALIASES, lambda text: text)
    return all(hasattr(answer, "content") for answer in read.values())


@pytest.mark.parametrize(
    ("behaviour", "settings", "facts", "form", "differs"),
    [
        (endpoints.openai_reasoning, {"temperature": 0}, 2, "json_schema", {"temperature", "max_tokens"}),
        (endpoints.openai_reasoning, {"max_output_tokens": 4000}, 1, "json_schema", {"max_tokens"}),
        (endpoints.openai_o1_mini, {}, 5, "text", {"max_tokens", "response_format", "tools"}),
        (endpoints.azure_of_old, {}, 1, "tool", {"response_format"}),
        (endpoints.gemini, {}, 1, "json_schema", set()),
        (endpoints.deepseek, {}, 2, "json_object", {"tools"}),
        (endpoints.mistral, {"seed": 7}, 1, "json_schema", {"seed"}),
        (endpoints.openrouter, {"model": "some/model:free"}, 2, "json_object", {"tools"}),
        (endpoints.litellm, {}, 1, "tool", {"response_format"}),
        (endpoints.llama_cpp, {}, 1, "json_schema", set()),
        (endpoints.ollama_without_tools, {}, 2, "json_object", {"tools"}),
        (endpoints.lm_studio_of_old, {}, 3, "text", {"response_format", "tools"}),
        (endpoints.vllm_gemma, {}, 1, "json_schema", set()),
        (endpoints.dashscope, {}, 1, "json_schema", set()),
        (endpoints.dashscope_without_usage, {}, 2, "json_schema", {"stream_options"}),
    ],
)
async def test_a_refusal_costs_one_request_and_is_met_once(
    behaviour: Behaviour, settings: dict[str, Any], facts: int, form: str, differs: set[str]
) -> None:
    async with _client(behaviour, **settings) as (client, server):
        first = await client.ask()
        assert _is_valid(first)
        assert len(server.received) == facts + 1
        assert _is_valid(await client.ask())
        assert len(server.received) == facts + 2, "what was learnt is remembered"
    last = server.received[-1]
    assert last.form == form
    assert not differs & last.body.keys()
    assert [report.outcome for report in client.reports] == [Outcome.ADAPTED] * facts + [Outcome.OK] * 2
    assert all(report.learnt for report in client.reports[:facts])
    assert not any(report.learnt or report.problem for report in client.reports[facts:])


async def test_a_limit_that_was_asked_for_is_sent_under_the_name_the_model_knows() -> None:
    async with _client(endpoints.openai_reasoning, max_output_tokens=4000) as (client, server):
        await client.ask()
    assert server.received[-1].body["max_completion_tokens"] == 4000


async def test_without_a_limit_asked_for_one_is_sent_that_fits_the_answer() -> None:
    async with _client() as (client, server):
        await client.ask()
        await client.ask(replace(_ORDER, schema=answer_schema(_ASKED[:1], _ALIASES)))
    three, one = (received.body["max_tokens"] for received in server.received)
    assert 200 < one < three < 10_000


async def test_instructions_without_a_role_of_their_own_stand_before_the_question() -> None:
    async with _client(endpoints.vllm_gemma) as (client, server):
        await client.ask()
    assert server.received[-1].body["messages"] == [{"role": "user", "content": "Judge.\n\nThe run."}]


async def test_seed_and_effort_are_sent_only_when_set() -> None:
    async with _client(seed=7, reasoning_effort="low") as (client, server):
        await client.ask()
    body = server.received[0].body
    assert (body["seed"], body["reasoning_effort"]) == (7, "low")


# -- what is ignored without a word


async def test_an_ignored_schema_is_asked_for_by_other_means_at_once_and_after_two_times_for_good() -> None:
    async with _client(endpoints.anthropic) as (client, server):
        assert _is_valid(await client.converse())
        assert _is_valid(await client.converse())
        assert [received.form for received in server.received] == ["json_schema", "tool"] * 2
        assert _is_valid(await client.ask())
    assert [received.form for received in server.received[4:]] == ["tool"]
    assert [bool(report.learnt) for report in client.reports] == [False, False, True, False, False]


async def test_one_answer_that_goes_wrong_changes_nothing() -> None:
    async with _client(says("Sorry?"), well, says("Sorry?"), well) as (client, server):
        for _ in range(4):
            await client.ask()
    assert {received.form for received in server.received} == {"json_schema"}


async def test_a_wrong_value_in_an_answer_of_the_right_form_is_not_the_endpoints_fault() -> None:
    def above(received: Received) -> Response:
        answers = json.loads(json.loads(well(received).body)["choices"][0]["message"]["content"])
        answers["q3"]["sureness"] = 11
        return Response(body=completion(json.dumps(answers)))

    async with _client(above) as (client, server):
        replies = [await client.ask() for _ in range(4)]
    assert all(reply.formless is None for reply in replies)
    assert {received.form for received in server.received} == {"json_schema"}


async def test_only_what_the_endpoint_was_told_of_the_form_binds_it() -> None:
    many: dict[str, Any] = {
        "type": "object",
        "properties": {"q1": {"type": "string", "enum": [f"e{number}" for number in range(30)]}},
        "required": ["q1"],
        "additionalProperties": False,
    }
    refusing = endpoints.refuses_keywords(
        "additionalProperties", message='Unknown name "additionalProperties" in schema'
    )
    answer = says('{"q1": "e99"}')
    async with _client(endpoints.endpoint(refusing, answer=answer)) as (client, server):
        replies = [await client.ask(replace(_ORDER, schema=many)) for _ in range(3)]
    assert all(reply.formless is None for reply in replies)
    assert {received.form for received in server.received} == {"json_schema"}


async def test_an_answer_that_was_cut_off_says_nothing_about_the_form() -> None:
    async with _client(says('{"q1": {"expl', finish_reason="length")) as (client, server):
        for _ in range(4):
            assert (await client.ask()).finish_reason == "length"
    assert {received.form for received in server.received} == {"json_schema"}


async def test_an_answer_the_model_did_not_manage_to_write_counts_as_one_without_form() -> None:
    failed = status(400, "Failed to validate JSON. Please adjust your prompt.", code="json_validate_failed")
    async with _client(failed) as (client, server):
        reply = await client.ask()
    assert (reply.text, reply.formless) == (None, Mode.STRICT_SCHEMA)
    assert len(server.received) == 1


# -- what passes by


@pytest.mark.parametrize(
    "behaviour",
    [
        status(500, "response_format is not supported"),
        status(503, "json_schema"),
        status(429, "response_format"),
        status(408, "tools"),
        status(401, "response_format"),
    ],
)
async def test_a_passing_failure_teaches_nothing_whatever_its_words(behaviour: Behaviour) -> None:
    async with _client(behaviour, well) as (client, server):
        with pytest.raises(RequestError) as failed:
            await client.ask()
        assert not failed.value.again
        await client.ask()
    assert [received.form for received in server.received] == ["json_schema", "json_schema"]


async def test_what_used_to_work_and_is_refused_is_found_out_anew() -> None:
    refusing = endpoints.azure_of_old
    changed = endpoints.endpoint(endpoints.refuses_form("tool", "tools are not supported"))
    async with _client(refusing, refusing, changed) as (client, server):
        await client.ask()
        await client.ask()
        assert _is_valid(await client.ask())
    assert [received.form for received in server.received] == [
        "json_schema",
        "tool",
        "tool",
        "json_schema",
        "json_schema",
    ]


async def test_a_model_that_runs_on_is_given_bounds_once_and_for_all() -> None:
    async with _client(endpoints.runs_on) as (client, server):
        assert _is_valid(await client.ask())
        assert _is_valid(await client.ask())
    assert [endpoints.has_bounds(received) for received in server.received] == [False, True, True]


async def test_where_bounds_are_refused_or_do_not_help_an_answer_stays_cut_off() -> None:
    refusing = endpoints.endpoint(endpoints.refuses_keywords("maxItems", message="maxItems is not supported"))
    cut = says('{"q1": {"expl', finish_reason="length")
    async with _client(endpoints.endpoint(answer=cut)) as (client, server):
        assert (await client.ask()).finish_reason == "length"
        assert len(server.received) == 2
    async with _client(cut, refusing, cut) as (client, server):
        assert (await client.ask()).finish_reason == "length"
        assert (await client.ask()).finish_reason == "length"
    assert [endpoints.has_bounds(received) for received in server.received] == [False, True, False, False]


# -- many at once


async def test_one_request_goes_ahead_and_the_others_learn_from_it() -> None:
    async with _client(endpoints.deepseek) as (client, server):
        replies = await asyncio.gather(*(client.ask() for _ in range(8)))
    assert all(map(_is_valid, replies))
    assert len(server.received) == 8 + 2


async def test_nobody_waits_long_for_the_one_ahead() -> None:
    async with _client(slow(20), well) as (client, server):
        ahead = asyncio.create_task(client.ask())
        await asyncio.sleep(0.1)
        async with asyncio.timeout(15):
            assert _is_valid(await client.ask())
        ahead.cancel()
        await asyncio.gather(ahead, return_exceptions=True)
    assert len(server.received) == 2


async def test_one_that_is_cancelled_ahead_lets_the_next_go_ahead() -> None:
    async with _client(slow(20), endpoints.azure_of_old) as (client, server):
        ahead = asyncio.create_task(client.ask())
        await asyncio.sleep(0.1)
        waiting = asyncio.create_task(client.ask())
        ahead.cancel()
        assert _is_valid(await waiting)
        await asyncio.gather(ahead, return_exceptions=True)
    assert [received.form for received in server.received] == ["json_schema", "json_schema", "tool"]


# -- ways to answer


@pytest.mark.parametrize(
    "behaviour",
    [
        endpoints.streamed,
        endpoints.thinks_aloud,
        endpoints.thinks_apart,
        endpoints.answer_among_reasoning,
        endpoints.zipped,
        endpoints.deflated,
    ],
)
async def test_an_answer_is_read_however_it_comes(behaviour: Behaviour) -> None:
    async with _client(behaviour) as (client, server):
        reply = await client.ask()
    assert _is_valid(reply)
    assert reply.formless is None
    assert len(server.received) == 1
    report = client.reports[0]
    assert (report.usage.prompt_tokens, report.usage.completion_tokens) == (1001, 101)
    assert (report.finish_reason, report.response_model) == ("stop", "fake-1-2026")


async def test_a_call_of_the_tool_is_read_as_a_stream_and_with_arguments_as_an_object() -> None:
    no_schema = endpoints.refuses_form("json_schema", "response_format: json_schema is not supported")
    for answer in (endpoints.streamed, endpoints.arguments_as_object):
        async with _client(endpoints.endpoint(no_schema, answer=answer)) as (client, server):
            assert _is_valid(await client.ask())
        assert server.received[-1].body["tool_choice"]["function"]["name"] == "answers"


async def test_thoughts_that_use_up_our_own_limit_are_given_room_once_and_for_all() -> None:
    async with _client(endpoints.thinks_too_long) as (client, server):
        assert _is_valid(await client.ask())
        assert _is_valid(await client.ask())
    assert ["max_tokens" in received.body for received in server.received] == [True, False, False]


async def test_a_limit_that_was_asked_for_holds_for_thoughts_too() -> None:
    async with _client(endpoints.thinks_too_long, max_output_tokens=500) as (client, server):
        assert (await client.ask()).finish_reason == "length"
    assert len(server.received) == 1


@pytest.mark.parametrize(
    ("error", "outcome", "retryable"),
    [
        ({"message": "Rate limit exceeded: free-models-per-day", "code": 429}, Outcome.RATE_LIMITED, True),
        ({"message": "Provider returned error", "code": 502}, Outcome.SERVER_ERROR, True),
        ({"message": "No auth credentials found", "code": 401}, Outcome.UNAUTHORIZED, False),
        ({"message": "Insufficient credits", "code": 402}, Outcome.OUT_OF_QUOTA, False),
        ({"message": "maximum context length is 8192 tokens", "code": 400}, Outcome.TOO_LARGE, False),
        ("Unexpected endpoint or method. (POST /chat/completions)", Outcome.REJECTED, False),
    ],
)
async def test_an_error_inside_a_good_answer_is_the_error_it_is(error: Any, outcome: Outcome, retryable: bool) -> None:
    async with _client(raw(json.dumps({"error": error, "user_id": "u"}).encode())) as (client, _):
        with pytest.raises(RequestError) as failed:
            await client.ask()
    assert (failed.value.outcome, failed.value.retryable) == (outcome, retryable)


async def test_an_error_in_the_midst_of_a_stream_or_in_a_choice_is_one_too() -> None:
    event = 'data: {"choices": [{"delta": {"content": "{"}}]}\n\ndata: {"error": {"message": "gone", "code": 502}}\n\n'
    choice = json.dumps({"choices": [{"finish_reason": "error", "error": {"code": 502, "message": "gone"}}]})
    for body in (event, choice):
        async with _client(raw(body.encode())) as (client, _):
            with pytest.raises(RequestError) as failed:
                await client.ask()
        assert failed.value.outcome is Outcome.SERVER_ERROR


async def test_a_compressed_answer_can_not_grow_without_end() -> None:
    bomb = Response(body=gzip.compress(b" " * (MAX_REPLY_BYTES + 1)), headers={"content-encoding": "gzip"})
    async with _client(lambda received: bomb) as (client, _):
        with pytest.raises(RequestError, match="is longer than 4 MiB"):
            await client.ask()


# -- addresses and keys


async def test_azures_address_and_key() -> None:
    async with JudgeServer() as server:
        address = server.base_url.removesuffix("/v1") + "/openai/deployments/judge?api-version=2024-10-21"
        client = _Client(server, base_url=address, api_key="", headers={"api-key": "k-1"})
        await client.ask()
        await client.endpoint.close()
    (received,) = server.received
    assert received.path == "/openai/deployments/judge/chat/completions?api-version=2024-10-21"
    assert received.headers["api-key"] == "k-1"
    assert "authorization" not in received.headers


async def test_a_bearer_token_among_the_headers_is_sent() -> None:
    async with _client(api_key="", headers={"Authorization": "Bearer t-1"}) as (client, server):
        await client.ask()
    assert server.received[0].headers["authorization"] == "Bearer t-1"


async def test_further_headers_and_names_with_prefixes_are_sent_as_they_are() -> None:
    values = {
        "model": "anthropic/claude-x:beta",
        "headers": {"HTTP-Referer": "https://example.com", "X-Title": "judge"},
    }
    async with _client(**values) as (client, server):
        await client.ask()
    (received,) = server.received
    assert received.body["model"] == "anthropic/claude-x:beta"
    assert (received.headers["http-referer"], received.headers["x-title"]) == ("https://example.com", "judge")
