"""What a judge may not see is replaced by placeholders that keep what is equal equal."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluators.cases import Run, ToolCall, ToolResult, Turn
from evaluators.judge.client import OpenAIJudge
from evaluators.judge.question import JudgeAnswer
from evaluators.judge.redaction import Redaction
from evaluators.judge.settings import JudgeSettings
from evaluators.judge.showing.redactor import Redactor
from tests.evaluators.judge_cases import ChoiceAnswer, choice
from tests.evaluators.judge_server import JudgeServer, changed

_KEY = "sk-proj-" + "a1B2c3D4" * 6
_NONE, _SECRETS, _PERSONAL = Redaction.NONE, Redaction.SECRETS, Redaction.PERSONAL


@pytest.mark.parametrize(
    ("text", "secrets", "personal"),
    [
        (f"key {_KEY}", "key <SECRET_KEY_1>", "key <SECRET_KEY_1>"),
        ("write to ann@example.org", "write to ann@example.org", "write to <EMAIL_1>"),
        ("身份证11010519491231002X", "身份证11010519491231002X", "身份证<NATIONAL_ID_1>"),
        ("手机13812345678。", "手机13812345678。", "手机<PHONE_1>。"),
        ("tel +44 20 7946 0958", "tel +44 20 7946 0958", "tel <PHONE_1>"),
        ("IBAN DE89370400440532013000", "IBAN DE89370400440532013000", "IBAN <IBAN_1>"),
        ("card 4111 1111 1111 1111", "card 4111 1111 1111 1111", "card <CARD_1>"),
        ("地址：中山路12号", "地址：中山路12号", "地址：<ADDRESS_1>"),
        ("BSN: 757404844", "BSN: 757404844", "BSN: <NATIONAL_ID_1>"),
        ('{"password":"hunter22"}', '{"password":"<SECRET_1>"}', '{"password":"<SECRET_1>"}'),
        ("AZ610 costs 189 EUR on 2026-05-12", "AZ610 costs 189 EUR on 2026-05-12", "AZ610 costs 189 EUR on 2026-05-12"),
    ],
)
def test_each_level_replaces_what_it_says(text: str, secrets: str, personal: str) -> None:
    assert Redactor(_NONE)(text) == text
    assert Redactor(_SECRETS)(text) == secrets
    assert Redactor(_PERSONAL)(text) == personal


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("ann@example.org", "Ann@Example.org"),
        ("4111 1111 1111 1111", "4111111111111111"),
        ("+44 20 7946 0958", "+44 2079460958"),
        ("DE89 3704 0044 0532 0130 00", "DE89370400440532013000"),
    ],
)
def test_equal_values_have_one_placeholder_however_they_are_written(first: str, second: str) -> None:
    redact = Redactor(_PERSONAL)
    assert redact(first) == redact(second)
    assert redact(first).endswith("_1>")


def test_other_values_have_other_placeholders_in_order_of_appearance() -> None:
    redact = Redactor(_PERSONAL)
    assert redact("ann@example.org, bob@example.org") == "<EMAIL_1>, <EMAIL_2>"
    assert redact("cc bob@example.org") == "cc <EMAIL_2>"


def test_one_run_knows_nothing_of_another() -> None:
    assert Redactor(_PERSONAL)("bob@example.org") == Redactor(_PERSONAL)("ann@example.org")


def test_what_a_field_of_a_secret_name_holds_stays_replaced_where_it_leaks() -> None:
    redact = Redactor(_SECRETS)
    assert redact('{"user":"ann","api_key":"zx81-spectrum"}') == '{"user":"ann","api_key":"<SECRET_1>"}'
    assert redact("Your key is zx81-spectrum.") == "Your key is <SECRET_1>."


@pytest.mark.parametrize("again", ["351 912 345 678", "351912345678", "351-912-345-678"])
def test_a_number_stays_replaced_where_it_comes_again_in_a_form_that_tells_nothing(again: str) -> None:
    redact = Redactor(_PERSONAL)
    assert redact("Call +351 912 345 678.") == "Call <PHONE_1>."
    assert redact(f"The answer says {again}, which no result has.") == "The answer says <PHONE_1>, which no result has."
    assert redact(f"order 9{again}") == f"order 9{again}"
    assert Redactor(_PERSONAL)(f"order {again}") == f"order {again}"


def test_a_placeholder_in_a_text_is_no_secret_itself() -> None:
    redact = Redactor(_PERSONAL)
    once = redact(f'{{"token":"{_KEY}","to":"ann@example.org"}}')
    assert redact(once) == once


@given(st.text(st.characters()), st.sampled_from(list(Redaction)))
def test_any_text_can_be_redacted(text: str, level: Redaction) -> None:
    assert isinstance(Redactor(level)(text), str)


def _run() -> Run:
    arguments = {"to": "ann@example.org", "phone": "+44 20 7946 0958"}
    sent = ToolCall(id="call_1", name="send", arguments=arguments, result=ToolResult(content=f'{{"token":"{_KEY}"}}'))
    said = f"Sent to ann@example.org with {_KEY}."
    return Run(
        turns=(Turn(index=0, calls=(sent,)), Turn(index=1, text=said, answers=("call_1",))),
        user_inputs=("Write to Ann, ann@example.org.",),
        final_answer=said,
    )


async def test_what_is_sent_shows_that_values_are_the_same_and_not_what_they_are() -> None:
    async with JudgeServer() as server:
        settings = JudgeSettings.model_validate({"model": "m", "base_url": server.base_url, "redact": "personal"})
        judge = OpenAIJudge(settings)
        await judge.ask(_run(), [replace(choice(0), findings=("`to` is ann@example.org",))])
        await judge.close()
    (request,) = server.received
    body = json.dumps(request.body, ensure_ascii=False)
    for value in ("ann@example.org", "7946", _KEY):
        assert value not in body
    assert request.user.count("<EMAIL_1>") == 4
    assert request.user.count("<SECRET_KEY_1>") == 2


async def test_a_verdict_s_words_are_never_turned_back_and_are_redacted_themselves() -> None:
    def explain(answers: dict[str, dict[str, str]]) -> None:
        answers["q1"]["explanation"] = "<EMAIL_1> was right, bob@example.org was not."

    async with JudgeServer(changed(explain)) as server:
        settings = JudgeSettings.model_validate({"model": "m", "base_url": server.base_url, "redact": "personal"})
        judge = OpenAIJudge(settings)
        (answer,) = await judge.ask(_run(), [choice(0)])
        await judge.close()
    assert isinstance(answer, JudgeAnswer)
    assert isinstance(answer.content, ChoiceAnswer)
    assert answer.content.explanation.startswith("<EMAIL_1> was right, [email:")
