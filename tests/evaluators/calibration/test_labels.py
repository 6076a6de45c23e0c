"""What people say of cases and spans."""

from __future__ import annotations

import orjson
import pytest

from evaluators.calibration.labels import About, read_annotations, read_case_labels
from evaluators.calibration.scripts import script_of


def case(**fields: object) -> bytes:
    messages = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "你好"}]
    return orjson.dumps({"id": "a", "input": {"messages": messages}, **fields})


@pytest.mark.parametrize(
    ("fields", "bad"),
    [
        ({"label": "correct"}, False),
        ({"label": "incorrect"}, True),
        ({"label": "pass"}, False),
        ({"label": "FAIL"}, True),
        ({"label": True}, False),
        ({"score": 0.9}, False),
        ({"score": 0}, True),
        ({"label": "incorrect", "score": 1.0}, True),
    ],
)
def test_a_label_says_good_or_bad_in_words_or_as_a_score(fields: dict[str, object], bad: bool) -> None:
    assert read_case_labels([case(**fields)])["a"].bad is bad


@pytest.mark.parametrize("line", [b"", b"no json", b"[]", case(), case(label="perhaps"), b'{"label": "pass"}'])
def test_lines_that_say_neither_have_no_label(line: bytes) -> None:
    assert read_case_labels([line]) == {}


def test_a_label_tells_its_source_and_what_the_user_said() -> None:
    label = read_case_labels([case(label="pass", source="desk")])["a"]
    assert (label.source, label.text) == ("desk", "你好")


PHOENIX = {
    "data": [
        {
            "span_id": "00AB",
            "name": "tool_selection",
            "annotator_kind": "HUMAN",
            "result": {"label": "incorrect", "score": 0.0, "explanation": "no"},
        },
        {"span_id": "00ac", "name": "tool_selection", "annotator_kind": "LLM", "result": {"label": "correct"}},
        {"span_id": "00ad", "name": "tool_selection", "annotator_kind": "HUMAN", "result": {"label": "unsure"}},
    ],
    "next_cursor": None,
}
LANGFUSE = [
    {"traceId": "00FF", "observationId": None, "name": "task_completion", "value": 1, "source": "ANNOTATION"},
    {
        "traceId": "00FF",
        "observationId": "01",
        "name": "tool_invocation",
        "stringValue": "fail",
        "source": "ANNOTATION",
    },
    {"traceId": "00FF", "name": "task_completion", "value": 0, "source": "EVAL"},
]


def test_annotations_of_people_are_taken_from_phoenix() -> None:
    found = read_annotations(orjson.dumps(PHOENIX))
    assert found.bad == {About("", "00ab", "tool_selection"): True}
    assert found.passed_over == 2


def test_annotations_of_people_are_taken_from_langfuse() -> None:
    found = read_annotations(orjson.dumps(LANGFUSE))
    assert found.bad == {About("00ff", "", "task_completion"): False, About("", "01", "tool_invocation"): True}
    assert found.passed_over == 1


def test_annotations_may_stand_one_on_a_line() -> None:
    lines = (
        b'{"span_id": "1", "evaluator": "e", "label": "pass"}\n\n{"trace_id": "2", "evaluator": "e", "score": 0.2}\n'
    )
    assert read_annotations(lines).bad == {About("", "1", "e"): False, About("2", "", "e"): True}


def test_what_is_no_json_is_told_with_its_line() -> None:
    with pytest.raises(ValueError, match="line 2 is no JSON"):
        read_annotations(b'{"span_id": "1"}\n{"span_id": \n')


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("How warm is it in Lima?", "Latin script"),
        ("北京今天天气怎么样？", "Chinese"),
        ("帮我查一下 Golden Dragon Restaurant 的电话", "Chinese"),
        ("東京の天気はどうですか", "Japanese"),
        ("서울 날씨 어때", "Korean"),
        ("Какая погода в Москве?", "Cyrillic script"),
        ("كيف الطقس", "Arabic script"),
        ("12:30, 45 €", "unknown"),
        ("", "unknown"),
    ],
)
def test_a_language_is_told_by_the_letters(text: str, language: str) -> None:
    assert script_of(text) == language
