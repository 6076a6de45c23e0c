"""Only answers that are wholly valid are taken; what is wrong with the others is said without repeating them."""

from __future__ import annotations

import json
from typing import Any, Literal

import pytest
from pydantic import BaseModel, Field

from evaluators.judge.answering.answer import MAX_TEXT_CHARS, Junk, Read, read_reply
from evaluators.judge.question import Question
from evaluators.judge.showing.aliases import Aliases
from tests.evaluators.judge_cases import (
    CALLS,
    CallsAnswer,
    ChoiceAnswer,
    GoalsAnswer,
    choice,
    goals,
    invocation,
    six_steps,
    span,
)

_RUN = six_steps()


def _aliases() -> Aliases:
    aliases = Aliases(_RUN)
    for turn in _RUN.turns:
        assert turn.ref is not None
        aliases.place(turn.ref)
    return aliases


def _read(question: Question, answer: Any) -> Read | Junk:
    return read_reply(json.dumps({"q1": answer}), [("q1", question)], _aliases(), lambda text: text)["q1"]


def _calls(**labels: str) -> dict[str, Any]:
    return {"evidence": [], "calls": {c: {"explanation": "because", "label": label} for c, label in labels.items()}}


def _call(label: str) -> dict[str, Any]:
    return {"evidence": [], "explanation": "because", "label": label}


_CHOICE = {"evidence": ["e1"], "explanation": "because", "label": "correct"}
_GOALS = {"goals": [{"goal": "a flight", "state": "done", "evidence": ["e2", "e99"]}], "sureness": 7, "evidence": []}


class _BlameAnswer(BaseModel):
    call_id: str | None


def _blame() -> Question:
    return Question(evaluator="x", criteria="Which call?", subject="the run", answer_type=_BlameAnswer)


def test_a_valid_answer_is_an_instance_of_its_type_with_real_refs() -> None:
    read = _read(choice(0), _CHOICE)
    assert isinstance(read, Read)
    assert read.content == ChoiceAnswer(explanation="because", label="correct")
    assert read.evidence == (span(1),)


def test_calls_come_back_under_their_own_ids_in_the_order_of_the_question() -> None:
    read = _read(invocation(CALLS[2], CALLS[3]), _calls(c4="incorrect", c3="correct"))
    assert isinstance(read, Read)
    assert isinstance(read.content, CallsAnswer)
    assert [(item.call_id, item.label) for item in read.content.calls] == [
        (CALLS[2].id, "correct"),
        (CALLS[3].id, "incorrect"),
    ]


def test_a_single_call_needs_no_name() -> None:
    read = _read(invocation(CALLS[1]), _call("incorrect"))
    assert isinstance(read, Read)
    assert isinstance(read.content, CallsAnswer)
    assert [(item.call_id, item.label) for item in read.content.calls] == [(CALLS[1].id, "incorrect")]


def test_evidence_that_does_not_exist_is_dropped_and_counted() -> None:
    read = _read(choice(0), {**_CHOICE, "evidence": ["e1", "e99", span(1), "[e2]", "e1"]})
    assert isinstance(read, Read)
    assert read.evidence == (span(1), span(2))
    assert read.made_up_evidence == 2


def test_evidence_of_finer_places_is_translated_there_and_counts_for_the_whole() -> None:
    read = _read(goals(), _GOALS)
    assert isinstance(read, Read)
    assert isinstance(read.content, GoalsAnswer)
    assert read.content.goals[0].evidence == [span(2)]
    assert (read.evidence, read.made_up_evidence) == ((span(2),), 1)


@pytest.mark.parametrize(("named", "call_id"), [("c2", CALLS[1].id), (None, None)])
def test_a_call_that_an_answer_names_is_named_by_its_own_id(named: str | None, call_id: str | None) -> None:
    read = _read(_blame(), {"evidence": [], "call_id": named})
    assert isinstance(read, Read)
    assert read.content == _BlameAnswer(call_id=call_id)


@pytest.mark.parametrize(
    ("question", "answer", "fault"),
    [
        (choice(0), None, "q1 was missing"),
        (choice(0), "correct", "q1 was not an object"),
        (choice(0), {**_CHOICE, "label": "mostly_correct"}, "q1.label: Input should be 'correct' or 'incorrect'"),
        (choice(0), {**_CHOICE, "label": "Correct"}, "q1.label"),
        (choice(0), {"evidence": [], "label": "correct"}, "q1.explanation: Field required"),
        (choice(0), {**_CHOICE, "evidence": "e1"}, "q1.evidence was not a list"),
        (goals(), {**_GOALS, "sureness": 7.5}, "q1.sureness"),
        (goals(), {**_GOALS, "sureness": 11}, "q1.sureness: Input should be less than or equal to 10"),
        (goals(), {**_GOALS, "sureness": "7"}, "q1.sureness: Input should be a valid integer"),
        (goals(), {**_GOALS, "sureness": True}, "q1.sureness"),
        (invocation(CALLS[0]), {"evidence": []}, "q1.label: Field required"),
        (invocation(CALLS[0]), {"evidence": [], "call": "correct"}, "q1.label: Field required"),
        (invocation(CALLS[0]), _call("perfect"), "q1.label: Input should be 'correct' or 'incorrect'"),
        (invocation(*CALLS[:2]), {"evidence": []}, "q1.calls did not have exactly the properties c1, c2"),
        (invocation(*CALLS[:2]), {"evidence": [], "calls": []}, "exactly the properties c1, c2"),
        (invocation(*CALLS[:2]), _calls(c1="correct"), "exactly the properties c1, c2"),
        (invocation(*CALLS[:2]), _calls(c1="correct", c3="correct"), "exactly the properties c1, c2"),
        (invocation(*CALLS[:2]), _calls(c1="correct", c2="correct", c3="correct"), "exactly the properties c1, c2"),
        (invocation(*CALLS[:2]), {"evidence": [], "calls": {"c1": 1, "c2": 2}}, "q1.calls.c1 was not an object"),
        (invocation(*CALLS[:2]), _calls(c1="correct", c2="perfect"), "q1.calls.c2.label: Input should be"),
        (_blame(), {"evidence": [], "call_id": "c77"}, "q1.call_id named a call that is not in the record"),
        (_blame(), {"evidence": [], "call_id": CALLS[0].id}, "q1.call_id named a call that is not in the record"),
        (_blame(), {"evidence": [], "call_id": 1}, "q1.call_id named a call that is not in the record"),
    ],
)
def test_anything_else_is_junk_and_says_why(question: Question, answer: Any, fault: str) -> None:
    read = _read(question, answer)
    assert isinstance(read, Junk)
    assert fault in " ".join(read.faults)


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        (None, "empty"),
        ("  ", "empty"),
        ("I think it is correct.", "not JSON"),
        ('{"q1": {"label": "corr', "not JSON"),
        ('{"q1": 1}{"q1": 2}', "not JSON"),
        ('{"q1": NaN}', "not JSON"),
        ("[1]", "not a JSON object"),
        ("[" * 100_000, "not JSON"),
        ('{"q1":' + '{"a":' * 900 + "1" + "}" * 901, "nested too deeply"),
        ('{"q1": 1e999}', "not JSON"),
        ('{"q1": "\\ud800"}', "not JSON"),
        ('{"q1": 01}', "not JSON"),
        ('{"q1": {}, "q1": {}}', "the same property twice"),
        ('{"q1": {"label": "correct", "label": "incorrect"}}', "the same property twice"),
        ("x" * 10_000_000, "not JSON"),
    ],
)
def test_a_reply_that_is_no_fitting_object_is_junk(text: str | None, fault: str) -> None:
    result = read_reply(text, [("q1", choice(0))], _aliases(), lambda words: words)["q1"]
    assert isinstance(result, Junk)
    assert fault in " ".join(result.faults)


def test_faults_do_not_repeat_what_the_model_wrote() -> None:
    hostile = "SECRET-4111"
    read = _read(choice(0), {hostile: {hostile: hostile}, "label": hostile, "explanation": 5, "evidence": hostile})
    assert isinstance(read, Junk)
    assert hostile not in repr(read)


def test_texts_are_redacted_and_cut_to_a_few_sentences() -> None:
    answer = {**_CHOICE, "explanation": "the key is KEY " + "and so on " * 200}
    reply = json.dumps({"q1": answer})
    results = read_reply(reply, [("q1", choice(0))], _aliases(), lambda text: text.replace("KEY", "[key]"))
    read = results["q1"]
    assert isinstance(read, Read)
    assert isinstance(read.content, ChoiceAnswer)
    assert read.content.explanation.startswith("the key is [key] and")
    assert len(read.content.explanation) <= MAX_TEXT_CHARS


class _Everything(BaseModel):
    """One field of each kind that an answer type may have."""

    evidence: list[str]
    whole: int = Field(ge=0, le=10)
    share: float = Field(ge=0.0, le=1.0)
    sure: bool
    words: Literal["good", "bad"]
    maybe: int | None
    named: list[Literal["a", "b"]] = Field(max_length=3)
    text: str


_GOOD: dict[str, Any] = {
    "evidence": [],
    "whole": 7,
    "share": 0.9,
    "sure": True,
    "words": "good",
    "maybe": None,
    "named": ["a"],
    "text": "because",
}


def _everything(**changed: Any) -> Read | Junk:
    question = Question(evaluator="x", criteria="?", subject="the run", answer_type=_Everything)
    return _read(question, {**_GOOD, **changed})


@pytest.mark.parametrize(
    "changed",
    [
        {},
        {"whole": 0},
        {"whole": 10},
        {"share": 0},
        {"share": 1},
        {"share": 1e-300},
        {"maybe": 3},
        {"named": []},
        {"text": ""},
        {"further": "a field nobody asked for"},
    ],
)
def test_what_is_within_its_type_and_range_is_taken(changed: dict[str, Any]) -> None:
    assert isinstance(_everything(**changed), Read)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("whole", 7.5),
        ("whole", 7.0),
        ("whole", "7"),
        ("whole", True),
        ("whole", -1),
        ("whole", 11),
        ("whole", 10**30),
        ("whole", None),
        ("whole", [7]),
        ("share", "0.9"),
        ("share", True),
        ("share", 1.0001),
        ("share", -0.1),
        ("share", None),
        ("share", {"value": 0.9}),
        ("sure", "true"),
        ("sure", 1),
        ("sure", None),
        ("words", "Good"),
        ("words", " good"),
        ("words", "g\u200bood"),
        ("words", "ｇｏｏｄ"),
        ("words", True),
        ("words", ["good"]),
        ("words", ""),
        ("maybe", "null"),
        ("maybe", 1.5),
        ("named", ["a", "c"]),
        ("named", ["a"] * 4),
        ("named", "a"),
        ("named", {"a": 1}),
        ("named", ["a"] * 100_000),
        ("text", 5),
        ("text", None),
        ("text", ["because"]),
        ("evidence", None),
        ("evidence", ["e1"] * 100_000),
    ],
)
def test_what_is_not_is_junk_and_is_never_repaired(field: str, value: Any) -> None:
    read = _everything(**{field: value})
    assert isinstance(read, Junk)
    assert field in read.faults[0]


def test_every_field_has_to_be_there() -> None:
    for field in _GOOD:
        question = Question(evaluator="x", criteria="?", subject="the run", answer_type=_Everything)
        read = _read(question, {name: value for name, value in _GOOD.items() if name != field})
        assert isinstance(read, Junk), field


def test_characters_that_are_not_seen_do_not_get_into_what_a_model_wrote() -> None:
    read = _everything(text="a\u0000b\u001b[31mc\u202ed\u200be\nf")
    assert isinstance(read, Read)
    assert isinstance(read.content, _Everything)
    assert read.content.text == "a b [31mc d e\nf"


def test_an_answer_of_megabytes_is_read_no_further_than_it_is_shown() -> None:
    read_so_far: list[int] = []

    def redact(text: str) -> str:
        read_so_far.append(len(text))
        return text

    question = Question(evaluator="x", criteria="?", subject="the run", answer_type=_Everything)
    reply = json.dumps({"q1": {**_GOOD, "text": "x" * 4_000_000}})
    read = read_reply(reply, [("q1", question)], _aliases(), redact)["q1"]
    assert isinstance(read, Read)
    assert max(read_so_far) <= 10_000
