"""Schemas for endpoints that know few keywords, and how long an answer of a schema may be."""

from __future__ import annotations

from typing import Any

import pytest
from jsonschema import Draft202012Validator

from evaluators.judge.answering.schema import answer_schema
from evaluators.judge.endpoint.bounded_schema import bounded_schema
from evaluators.judge.endpoint.output_limit import output_limit
from evaluators.judge.endpoint.plain_schema import plain_schema
from evaluators.judge.showing.prompt import prepare
from tests.evaluators.judge_cases import CALLS, choice, goals, invocation, six_steps
from tests.evaluators.judge_server import nodes

_ALIASES = prepare(six_steps()).aliases
_SCHEMA = answer_schema([("q1", choice(1)), ("q2", invocation(*CALLS)), ("q3", goals())], _ALIASES)


def test_no_reference_and_no_further_keyword_is_left() -> None:
    plain = plain_schema(_SCHEMA)
    used = {keyword for node in nodes(plain) for keyword in node}
    assert used <= {"type", "properties", "required", "items", "enum", "anyOf", "description"}
    Draft202012Validator.check_schema(plain)


def test_what_is_asked_for_stays_the_same() -> None:
    plain: dict[str, Any] = plain_schema(_SCHEMA)
    assert list(plain["properties"]) == ["q1", "q2", "q3"]
    assert plain["required"] == ["q1", "q2", "q3"]
    assert plain["properties"]["q1"]["properties"]["label"]["enum"] == ["correct", "incorrect"]
    assert set(plain["properties"]["q2"]["properties"]["calls"]["properties"]) == {"c1", "c2", "c3", "c4"}


def test_long_lists_of_values_become_texts() -> None:
    many = {"type": "object", "properties": {"place": {"type": "string", "enum": [f"e{n}" for n in range(21)]}}}
    assert plain_schema(many)["properties"] == {"place": {"type": "string"}}


def test_a_property_may_be_called_like_a_keyword() -> None:
    named = {"type": "object", "properties": {"enum": {"type": "string"}, "$defs": {"type": "integer"}}}
    assert plain_schema(named) == named


def test_a_definition_that_refers_to_itself_is_refused() -> None:
    looping = {"$ref": "#/$defs/d1", "$defs": {"d1": {"type": "array", "items": {"$ref": "#/$defs/d1"}}}}
    with pytest.raises(TypeError, match="refer to itself"):
        plain_schema(looping)


def test_bounds_are_those_of_sensible_answers() -> None:
    bounded: dict[str, Any] = bounded_schema(_SCHEMA)
    Draft202012Validator.check_schema(bounded)
    evidence = [node for node in nodes(bounded) if "enum" in node.get("items", {})]
    assert evidence
    assert all(node["maxItems"] == len(_ALIASES.places) for node in evidence)
    texts = [node for node in nodes(bounded) if node.get("type") == "string" and "enum" not in node]
    assert texts and all(node["maxLength"] == 600 for node in texts)


def test_more_questions_may_take_longer_to_answer() -> None:
    one = output_limit(answer_schema([("q1", choice(1))], _ALIASES))
    two = output_limit(answer_schema([("q1", choice(1)), ("q2", choice(2))], _ALIASES))
    assert 300 < one < two < 2 * one


def test_every_call_asked_about_has_its_room() -> None:
    few = output_limit(answer_schema([("q1", invocation(*CALLS[:2]))], _ALIASES))
    many = output_limit(answer_schema([("q1", invocation(*CALLS))], _ALIASES))
    assert many - few >= 500
