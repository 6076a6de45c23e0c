"""The length at which an SDK cuts values is told by the cut values, in whatever unit it counts."""

from __future__ import annotations

import json

import pytest

from processors.conventions.decoding.cut import has_length, is_cut
from processors.conventions.limits import length_limit
from processors.otlp import Span

MESSAGES = json.dumps(
    [{"role": "user", "content": f"question {number}", "more": {"n": number}} for number in range(4000)]
)
CHINESE = json.dumps([{"role": "user", "content": "图书馆今天几点开门？" * 20}] * 300, ensure_ascii=False)
EMOJI = json.dumps([{"role": "user", "content": "Is it open? 📚" * 20}] * 300, ensure_ascii=False)


def with_values(*values: str) -> list[Span]:
    return [Span(trace_id="t", span_id=str(at), attributes={"v": value}) for at, value in enumerate(values)]


def utf16_cut(text: str, limit: int) -> str:
    return text.encode("utf-16-le")[: limit * 2].decode("utf-16-le", errors="ignore")


def utf8_cut(text: str, limit: int) -> str:
    return text.encode()[:limit].decode(errors="ignore")


@pytest.mark.parametrize("limit", [128, 1024, 4096, 12_000, 65_536])
def test_one_json_text_cut_at_a_usual_length_shows_the_limit(limit: int) -> None:
    assert length_limit(with_values("short", MESSAGES[:limit])) == limit


def test_a_cut_that_ends_with_a_bracket_shows_the_limit_too() -> None:
    cut = MESSAGES[: MESSAGES.index("}}", 900) + 1]
    padded = cut.replace("question 0", "question 0" + "." * (2000 - len(cut)))
    assert len(padded) == 2000 and padded.endswith("}")
    assert length_limit(with_values(padded)) == 2000


def test_two_values_cut_at_an_unusual_length_show_the_limit() -> None:
    assert length_limit(with_values(MESSAGES[:777], MESSAGES[1:778].replace('"', "x", 1)[:777], "short")) == 777


@pytest.mark.parametrize("limit", [1024, 4096])
@pytest.mark.parametrize("text", [CHINESE, EMOJI])
def test_a_limit_in_bytes_or_utf_16_units_is_found_in_text_of_other_scripts(text: str, limit: int) -> None:
    for cut in (text[:limit], utf16_cut(text, limit), utf8_cut(text, limit)):
        assert length_limit(with_values("short", cut)) == limit
        assert has_length(cut, limit) and is_cut(cut, limit)


def test_several_texts_of_one_usual_length_show_a_limit_without_any_json() -> None:
    texts = [("It is open. " + str(number) * 3000)[:2048] for number in range(3)]
    assert length_limit(with_values(*texts)) == 2048
    assert length_limit(with_values(*texts[:1] * 3)) is None


@pytest.mark.parametrize(
    "value",
    [
        "x" * 1024,
        json.dumps({"text": "x" * 1012}),
        "[Note] " + "x" * 1017,
        "{name} " + "x" * 1017,
        '{"a": 1}\n' * 113 + "1234567",
        "['a', 'b'] " + "x" * 1013,
    ],
)
def test_a_text_that_happens_to_have_a_round_length_is_not_taken_for_cut(value: str) -> None:
    assert len(value) == 1024
    assert length_limit(with_values(value, "short")) is None
    assert not is_cut(value, None)


def test_short_values_show_no_limit() -> None:
    assert length_limit(with_values('[{"a', '[{"b')) is None
    assert length_limit([]) is None


def test_a_text_of_another_length_is_not_at_the_limit() -> None:
    assert not has_length("x" * 1023, 1024) and not has_length("x" * 1025, 1024) and not has_length("x", None)
    assert not has_length("é" * 300, 1024)
