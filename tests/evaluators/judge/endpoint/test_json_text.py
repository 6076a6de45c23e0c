"""The JSON object in what a model wrote around it."""

from __future__ import annotations

import pytest

from evaluators.judge.endpoint.json_text import is_object, object_in, without_reasoning

_WANTED = {"q1": {"label": "correct"}}
_TEXT = '{"q1": {"label": "correct"}}'


@pytest.mark.parametrize(
    "written",
    [
        _TEXT,
        f"  {_TEXT}\n",
        f"```json\n{_TEXT}\n```",
        f"```\n{_TEXT}\n```\nDone.",
        f"Here you are: {_TEXT} I hope that helps {{really}}.",
        f"<think>It is {{q1}} or so. {{}}</think>{_TEXT}",
        f'<think>{{"q1": {{"label": "incorrect"}}}}</think>{_TEXT}',
        f'{{"q1": {{"label": "incorrect"}}}}\n</think>\n{_TEXT}',
        f"<THINKING>no</THINKING>\n<think>yes</think>{_TEXT}",
        f"{_TEXT}\n{_TEXT}",
        f'{{"type": "object", "properties": {{}}}} is the schema, {_TEXT} the answer.',
        f'The set {{1, 2}} and the "{{" are none. {_TEXT}',
        f"{{ {_TEXT}",
    ],
)
def test_the_object_is_found(written: str) -> None:
    assert object_in(written, {"q1"}) == _WANTED


@pytest.mark.parametrize(
    "written",
    [
        "",
        "correct",
        "[1, 2]",
        '"q1"',
        '{"q1": {"label": "correct"}',
        "{'q1': {'label': 'correct'}}",
        '{"q1": {"label": "correct",}}',
        '{"q1": NaN}',
        'Either {"q1": {"label": "correct"}} or {"q1": {"label": "incorrect"}}.',
        'I would say {"answer": "correct"}.',
        f"<think>{_TEXT}</think>",
        f"<think>{_TEXT}",
        "{" * 50_000,
        '{"a":' * 50_000,
    ],
)
def test_what_is_broken_ambiguous_or_only_thought_is_none(written: str) -> None:
    assert object_in(written, {"q1"}) is None


def test_an_object_without_the_names_is_taken_only_if_it_is_all_there_is() -> None:
    assert object_in('{"answer": 1}', {"q1"}) == {"answer": 1}


def test_braces_and_quotes_in_texts_are_no_braces() -> None:
    assert object_in('So: {"q1": "a } and \\" { b"} .', {"q1"}) == {"q1": 'a } and " { b'}


def test_only_reasoning_is_taken_away() -> None:
    assert without_reasoning("a <think>b</think> c") == "a  c"
    assert without_reasoning("b</think>c") == "c"
    assert without_reasoning("<think>b") == ""
    assert without_reasoning("1 < 2") == "1 < 2"


def test_whole_objects_are_told_from_texts_with_one() -> None:
    assert is_object(f" {_TEXT} ")
    assert not is_object(f"so {_TEXT}")
