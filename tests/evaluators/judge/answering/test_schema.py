"""The schema of an answer is one that strict endpoints accept."""

from __future__ import annotations

from enum import StrEnum
from typing import Any, Literal

import pytest
from jsonschema import Draft202012Validator
from pydantic import BaseModel, Field

from evaluators.judge.answering.schema import answer_schema
from evaluators.judge.question import NamedQuestion, Question
from evaluators.judge.showing.aliases import Aliases
from tests.evaluators.judge_cases import CALLS, choice, goals, invocation, six_steps
from tests.evaluators.judge_server import STRICT_KEYWORDS, nodes


class _Code(StrEnum):
    """Words of ours that the model need not read."""

    WRONG_TOOL = "wrong_tool"
    UNKNOWN_TOOL = "unknown_tool"


class _Finding(BaseModel):
    code: _Code
    call_id: str | None = None
    weight: float = Field(default=0.5, ge=0, le=1)


class _Rich(BaseModel):
    """What pydantic can say and strict mode can't."""

    verdict: Literal["yes"]
    findings: list[_Finding] = Field(default_factory=list, max_length=3)
    note: str | None = Field(default=None, max_length=80, pattern="^[A-Z]")
    size: int | Literal["unknown"] = Field(description="How many.")


def _question(answer_type: type[BaseModel]) -> Question:
    return Question(evaluator="x", criteria="c", subject="s", answer_type=answer_type)


def _schema(*asked: NamedQuestion, aliases: Aliases | None = None) -> dict[str, Any]:
    return answer_schema(asked, aliases or _aliases())


def _aliases(places: int = 2) -> Aliases:
    aliases = Aliases(six_steps())
    for number in range(places):
        aliases.place(str(number))
    return aliases


def _answer(question: Question, aliases: Aliases | None = None) -> dict[str, Any]:
    """The properties of the answer to one question, with every reference resolved."""
    schema = _schema(("q1", question), aliases=aliases)
    properties: dict[str, Any] = _resolved(schema["properties"]["q1"], schema.get("$defs", {}))["properties"]
    return properties


def _resolved(value: Any, definitions: dict[str, Any]) -> Any:
    if isinstance(value, list):
        return [_resolved(inner, definitions) for inner in value]
    if not isinstance(value, dict):
        return value
    if "$ref" in value:
        return _resolved(definitions[value["$ref"].removeprefix("#/$defs/")], definitions)
    return {key: _resolved(inner, definitions) for key, inner in value.items()}


def test_it_uses_only_what_strict_mode_knows() -> None:
    schema = _schema(("q1", _question(_Rich)), ("q2", invocation(CALLS[0])), ("q3", goals()))
    Draft202012Validator.check_schema(schema)
    for node in nodes(schema):
        assert set(node) <= STRICT_KEYWORDS
        if "$ref" in node:
            assert set(node) == {"$ref"}
        if node.get("type") == "object":
            assert node["additionalProperties"] is False
            assert node["required"] == list(node["properties"])


def test_every_question_has_its_place_and_types_are_written_once() -> None:
    schema = _schema(("q1", choice(0)), ("q2", choice(1)), ("q3", choice(2)))
    assert schema["required"] == ["q1", "q2", "q3"]
    assert schema["properties"]["q1"] == schema["properties"]["q3"] == {"$ref": "#/$defs/d1"}
    assert sorted(schema["$defs"]) == ["d1"]


def test_grounds_come_before_reasons_and_reasons_before_the_label() -> None:
    assert list(_answer(choice(0))) == ["evidence", "explanation", "label"]


def test_each_call_that_is_asked_about_has_a_place_of_its_own() -> None:
    calls = _answer(invocation(CALLS[2], CALLS[3]))["calls"]
    assert calls["required"] == ["c3", "c4"]
    assert list(calls["properties"]["c3"]["properties"]) == ["explanation", "label"]


def test_questions_about_one_call_each_share_a_definition() -> None:
    schema = _schema(("q1", invocation(CALLS[0])), ("q2", invocation(CALLS[1])))
    assert schema["properties"]["q1"] == schema["properties"]["q2"]
    assert list(_answer(invocation(CALLS[0]))) == ["evidence", "explanation", "label"]


def test_calls_and_places_can_only_be_those_of_the_run() -> None:
    answer = _answer(_question(_Rich))
    assert answer["evidence"] == {"type": "array", "items": {"type": "string", "enum": ["e1", "e2"]}}
    call_id = answer["findings"]["items"]["properties"]["call_id"]
    assert call_id == {"anyOf": [{"type": "string", "enum": ["c1", "c2", "c3", "c4"]}, {"type": "null"}]}


def test_of_a_run_with_one_place_no_evidence_is_asked_for() -> None:
    assert list(_answer(choice(0), _aliases(1))) == ["explanation", "label"]


def test_of_a_run_too_long_to_list_any_name_may_be_said() -> None:
    assert _answer(choice(0), _aliases(500))["evidence"] == {"type": "array", "items": {"type": "string"}}


def test_what_it_means_is_what_the_answer_type_means() -> None:
    validator = Draft202012Validator(_schema(("q1", _question(_Rich))))
    finding = {"code": "wrong_tool", "call_id": None, "weight": 0.5}
    answer = {"evidence": [], "verdict": "yes", "findings": [finding], "note": None, "size": 3}
    assert validator.is_valid({"q1": answer})
    assert validator.is_valid({"q1": {**answer, "size": "unknown"}})
    for wrong in ({"verdict": "no"}, {"findings": [{**finding, "code": "other"}]}, {"size": None}, {"more": 1}):
        assert not validator.is_valid({"q1": {**answer, **wrong}})


def test_types_of_one_name_stay_apart() -> None:
    class Here:
        class Same(BaseModel):
            label: Literal["a"]

    class There:
        class Same(BaseModel):
            label: Literal["b"]

    first, second = Here.Same, There.Same
    schema = _schema(("q1", _question(first)), ("q2", _question(second)))
    assert schema["properties"]["q1"] != schema["properties"]["q2"]


class _FreeForm(BaseModel):
    anything: dict[str, str]


class _Mixed(BaseModel):
    pair: tuple[int, str]


class _AnyType(BaseModel):
    value: Any


@pytest.mark.parametrize("answer_type", [_FreeForm, _Mixed, _AnyType])
def test_a_type_that_no_strict_schema_can_say_is_the_evaluators_mistake(answer_type: type[BaseModel]) -> None:
    with pytest.raises(TypeError, match="judge's answer can't"):
        _schema(("q1", _question(answer_type)))


def test_asking_about_calls_takes_a_type_that_answers_per_call() -> None:
    question = Question(evaluator="x", criteria="c", subject="s", answer_type=_Finding, call_ids=(CALLS[0].id,))
    with pytest.raises(TypeError, match="needs a field calls"):
        _schema(("q1", question))
