"""What the strict check of arguments calls a fault, and above all what it does not."""

import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluators.rules.schema import SchemaCache, compile_schema

FLIGHT: dict[str, Any] = {
    "type": "object",
    "properties": {
        "origin": {"type": "string", "description": "IATA code"},
        "date": {"type": "string", "pattern": r"^\d{4}-\d{2}-\d{2}$"},
        "cabin": {"type": "string", "enum": ["economy", "business"], "default": "economy"},
        "stops": {"type": "integer", "minimum": 0, "maximum": 3},
        "price": {"type": "number"},
        "direct": {"type": "boolean"},
        "airlines": {"type": "array", "items": {"type": "string"}, "minItems": 1},
        "passenger": {
            "type": "object",
            "properties": {"name": {"type": "string"}, "age": {"type": "integer"}},
            "required": ["name"],
        },
        "legs": {"type": "array", "items": {"type": "object", "properties": {"to": {"type": "string"}}}},
        "weight": {"anyOf": [{"type": "number"}, {"type": "null"}]},
    },
    "required": ["origin", "date"],
}
RIGHT: dict[str, Any] = {"origin": "SFO", "date": "2026-03-20"}


def faults(schema: Any, arguments: Any) -> list[tuple[str, str]]:
    compiled = compile_schema(schema)
    return [] if compiled is None else [(str(one.code), one.path) for one in compiled.faults(arguments)]


@pytest.mark.parametrize(
    ("given_too", "code", "path"),
    [
        ({"max_stops": 0}, "unexpected_argument", "max_stops"),
        ({"date": "20 March"}, "pattern", "date"),
        ({"cabin": "first"}, "not_in_enum", "cabin"),
        ({"stops": "1"}, "wrong_type", "stops"),
        ({"stops": 1.5}, "wrong_type", "stops"),
        ({"stops": True}, "wrong_type", "stops"),
        ({"stops": 4}, "wrong_value", "stops"),
        ({"price": "129"}, "wrong_type", "price"),
        ({"direct": "true"}, "wrong_type", "direct"),
        ({"direct": 1}, "wrong_type", "direct"),
        ({"airlines": "AS"}, "wrong_type", "airlines"),
        ({"airlines": ["AS", 5]}, "wrong_type", "airlines[1]"),
        ({"airlines": []}, "wrong_value", "airlines"),
        ({"origin": 5}, "wrong_type", "origin"),
        ({"origin": None}, "wrong_type", "origin"),
        ({"passenger": {"age": 3}}, "missing_argument", "passenger.name"),
        ({"passenger": {"name": "A", "seat": "1A"}}, "unexpected_argument", "passenger.seat"),
        ({"legs": [{"to": "SEA"}, {"from": "SEA"}]}, "unexpected_argument", "legs[1].from"),
        ({"weight": "heavy"}, "wrong_type", "weight"),
    ],
)
def test_each_breach_has_its_code_and_its_place(given_too: dict[str, Any], code: str, path: str) -> None:
    assert faults(FLIGHT, {**RIGHT, **given_too}) == [(code, path)]


def test_every_missing_argument_is_named_once() -> None:
    assert faults(FLIGHT, {}) == [("missing_argument", "origin"), ("missing_argument", "date")]


@pytest.mark.parametrize(
    "given_too",
    [
        {},
        {"cabin": "business"},
        {"cabin": None},
        {"stops": 2.0},
        {"price": 129},
        {"price": None},
        {"weight": None},
        {"weight": 2},
        {"passenger": {"name": "A", "age": None}},
        {"passenger": None},
        {"unknown_but_null": None},
        {"airlines": ["AS", "DL"]},
        {"legs": []},
    ],
)
def test_right_calls_are_left_alone(given_too: dict[str, Any]) -> None:
    assert faults(FLIGHT, {**RIGHT, **given_too}) == []


def obj(properties: Any, **more: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, **more}


DEFS = {"City": obj({"name": {"type": "string"}}, required=["name"])}
TREE = obj({"label": {"type": "string"}, "children": {"type": "array", "items": {"$ref": "#/$defs/Node"}}})


@pytest.mark.parametrize(
    ("schema", "arguments"),
    [
        # open objects
        (obj({"a": {"type": "string"}}, additionalProperties=True), {"b": 1}),
        (obj({"a": {"type": "string"}}, additionalProperties={}), {"b": 1}),
        (obj({"a": {"type": "string"}}, patternProperties={"^x-": {}}), {"b": 1}),
        (obj({"a": {"type": "string"}}, allOf=[obj({"b": {"type": "integer"}})]), {"b": 1}),
        (obj({"a": {"type": "string"}}, anyOf=[{"required": ["b"]}, {"required": ["c"]}]), {"b": 1}),
        ({"$ref": "https://example.com/schema.json"}, {"b": 1}),
        (obj({"a": {"$ref": "other.json#/x"}}), {"a": {"b": 1}}),
        (obj({}), {"b": 1}),
        ({"type": "object"}, {"b": 1}),
        ({}, {"b": 1}),
        (obj({"filters": {"type": "object"}}), {"filters": {"anything": 1}}),
        # types by other names
        (obj({"a": {"type": "STRING"}, "b": {"type": "INTEGER"}}, type="OBJECT"), {"a": "x", "b": 1}),
        (obj({"a": {"type": "dict"}, "b": {"type": "float"}, "c": {"type": "any"}}), {"a": {}, "b": 1, "c": [1]}),
        (obj({"a": {"type": "list(str)"}, "b": {"type": "Optional[int]"}}), {"a": ["x"], "b": None}),
        (obj({"a": {"type": "string | null"}, "b": {"type": "str | int"}}), {"a": "x", "b": 3}),
        (obj({"a": {"type": "uuid-thing"}, "b": {"description": "no type"}, "c": True}), {"a": 1, "b": [], "c": 2}),
        (obj({"a": {"type": ["string", "null"]}}, required=["a"]), {"a": None}),
        (obj({"a": {"type": "string", "nullable": True}}, required=["a"]), {"a": None}),
        # enums
        (obj({"a": {"type": "integer", "enum": ["1", "2"]}}), {"a": 1}),
        (obj({"a": {"type": "integer", "enum": ["1", "2"]}}), {"a": "2"}),
        (obj({"a": {"type": "boolean", "enum": ["True", "False"]}}), {"a": True}),
        (obj({"a": {"type": "array", "items": {"type": "string"}, "enum": ["x", "y"]}}), {"a": ["x"]}),
        (obj({"a": {"enum": [1, 2]}}), {"a": 1.0}),
        (obj({"a": {"type": "string", "enum": []}}), {"a": "x"}),
        (obj({"a": {"type": "integer", "enum": [float("nan"), float("inf"), 10**400, 3]}}), {"a": 3}),
        (obj({"a": {"type": "string", "enum": ["x"], "default": ""}}), {"a": ""}),
        (obj({"a": {"type": "integer", "default": "dontcare"}}), {"a": "dontcare"}),
        # references and alternatives
        (obj({"city": {"$ref": "#/$defs/City"}}, **{"$defs": DEFS}), {"city": {"name": "Rome"}}),
        (obj({"n": {"$ref": "#/$defs/Node"}}, **{"$defs": {"Node": TREE}}), {"n": {"children": [{"children": []}]}}),
        (obj({"a": {"$ref": "#/$defs/A"}}, **{"$defs": {"A": {"$ref": "#/$defs/A"}}}), {"a": 1}),
        (obj({"a": {"oneOf": [{"type": "number"}, {"type": "integer"}]}}), {"a": 1}),
        (obj({"a": {"allOf": [{"$ref": "#/$defs/City"}]}}, **{"$defs": DEFS}), {"a": {"name": "x", "more": 1}}),
        (obj({"a": {"not": {"type": "weird"}}}), {"a": 1}),
        # slips of authors
        (obj({"a": {"type": "string"}}, required=["a", "described_nowhere"]), {"a": "x"}),
        (obj({"a": {"type": "string"}}, required="yes"), {"a": "x"}),
        (obj({"a": {"type": "string", "pattern": "(unclosed"}}), {"a": "x"}),
        (obj({"a": {"type": "string", "pattern": r"^\p{L}+$"}}), {"a": "北京"}),
        (obj({"a": {"type": "number", "minimum": "0", "multipleOf": 0.1}}), {"a": 0.3}),
        (obj({"a": {"type": "string", "minLength": -1, "format": "date"}}), {"a": ""}),
        (obj({"a": {"type": "array", "items": [{"type": "string"}]}}), {"a": ["x", 5]}),
        (obj([]), {"a": 1}),
        (obj({"a": 5}), {"a": 1}),
        ({"properties": {"n": {"type": "integer", "default": 10}}, "required": ["n"]}, {}),
        ({"properties": {"a": {"type": "string"}, "kwargs": {}}, "required": ["a", "kwargs"]}, {"a": "x"}),
        (
            {"properties": {"args": {"type": "array"}, "kwargs": {"type": "object"}}, "required": ["args", "kwargs"]},
            {"city": "Rome"},
        ),
        ({"properties": {"id": {"type": "string", "pattern": "/^[a-z]+$/i"}}}, {"id": "Abc"}),
    ],
)
def test_schemas_as_they_are_in_the_wild_raise_no_false_alarm(schema: Any, arguments: Any) -> None:
    assert faults(schema, arguments) == []


@pytest.mark.parametrize(
    ("schema", "arguments", "code"),
    [
        ({"city": {"type": "string", "description": "name"}}, {"city": 5}, "wrong_type"),
        ({"city": "string", "days": "integer"}, {"city": "Rome", "days": "3"}, "wrong_type"),
        ({"type": "function", "function": {"name": "f", "parameters": FLIGHT}}, {"origin": "SFO"}, "missing_argument"),
        ({"name": "f", "inputSchema": FLIGHT}, {"origin": "SFO"}, "missing_argument"),
        ({"input_schema": FLIGHT}, {"origin": "SFO"}, "missing_argument"),
        ({"toolSpec": {"inputSchema": {"json": FLIGHT}}}, {"origin": "SFO"}, "missing_argument"),
        (obj({"a": {"type": "string", "required": True}}), {}, "missing_argument"),
        (obj({"a": {"type": "STRING"}}, type="OBJECT", required=["a"]), {"a": 3}, "wrong_type"),
        (obj({}, additionalProperties=False), {"a": 1}, "unexpected_argument"),
        (obj({"city": {"$ref": "#/$defs/City"}}, **{"$defs": DEFS}), {"city": {}}, "missing_argument"),
        (obj({"city": {"$ref": "#/$defs/City"}}, **{"$defs": DEFS}), {"city": "Rome"}, "wrong_type"),
        (obj({"a": {"type": "integer", "enum": ["1", "2"]}}), {"a": 3}, "not_in_enum"),
        (obj({"a": {"type": "array", "items": {"type": "string"}, "enum": ["x"]}}), {"a": ["z"]}, "not_in_enum"),
        (obj({"a": {"const": "x"}}), {"a": "y"}, "not_in_enum"),
        (obj({"schema": {"type": "string"}}), {"schema": 1}, "wrong_type"),
        ({"schema": {"type": "string"}, "table": {"type": "string"}}, {"schema": 1}, "wrong_type"),
        (obj({"a": {"anyOf": [{"type": "string", "enum": ["x"]}, {"type": "null"}]}}), {"a": "y"}, "not_in_enum"),
        (obj({"a": {"type": "list[int]"}}), {"a": "1"}, "wrong_type"),
    ],
)
def test_faults_are_found_through_wrappers_references_and_slips(schema: Any, arguments: Any, code: str) -> None:
    assert [found for found, _ in faults(schema, arguments)] == [code]


def deep(levels: int) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "string"}
    for _ in range(levels):
        schema = obj({"a": schema})
    return schema


@pytest.mark.parametrize(
    ("schema", "arguments"),
    [
        (deep(sys.getrecursionlimit() // 4), {"a": {"a": {}}}),
        (obj({f"p{n}": {"type": "string"} for n in range(100_000)}), {"p1": 1}),
        (obj({"a": {"type": "string", "pattern": "(" * 5_000}}), {"a": "x"}),
        (obj({"a": {"type": "Optional[" * 5_000 + "int" + "]" * 5_000}}), {"a": "x"}),
        (
            obj(
                {"a": {"$ref": "#/$defs/L0"}},
                **{
                    "$defs": {
                        f"L{n}": obj({"x": {"$ref": f"#/$defs/L{n + 1}"}, "y": {"$ref": f"#/$defs/L{n + 1}"}})
                        for n in range(30)
                    }
                },
            ),
            {"a": {"x": {"y": 1}}},
        ),
    ],
)
def test_hostile_schemas_decide_nothing_and_cost_little(schema: Any, arguments: Any) -> None:
    assert faults(schema, arguments) == []


@pytest.mark.parametrize("pattern", [r"^(\w+\s?)*$", r"^(a|a?)+$", r"(.*)*(.*)*(.*)*b", r"^((a{1,99}){1,99}){1,99}$"])
def test_a_pattern_that_could_take_for_ever_is_given_up_at_worst(pattern: str) -> None:
    schema = obj({"a": {"type": "string", "pattern": pattern}})
    assert faults(schema, {"a": "a" * 5_000 + "!"}) in ([], [("pattern", "a")])


def test_of_more_arguments_and_items_than_anybody_passes_the_first_are_checked() -> None:
    schema = obj({"a": {"type": "array", "items": {"type": "string"}, "maxItems": 5}}, required=["a"])
    assert faults(schema, {"a": ["x"] * 5_000}) == [("wrong_value", "a")]
    crowd = {f"k{number}": number for number in range(5_000)}
    assert len(faults(schema, {**crowd, "a": ["x"]})) == 20
    assert faults(obj({"a": {"type": "array", "minItems": 2_000}}), {"a": ["x"] * 2_500}) == []


def test_quotes_are_short_and_without_secrets() -> None:
    compiled = compile_schema(obj({"a": {"type": "integer"}, "b": {"enum": ["x"]}}))
    assert compiled is not None
    told = [one.detail for one in compiled.faults({"a": "4111 1111 1111 1111", "b": "y" * 10_000})]
    assert "4111 1111" not in " ".join(told)
    assert max(map(len, told)) < 200


def test_equal_schemas_are_compiled_once_and_the_cache_is_bounded() -> None:
    cache = SchemaCache(most_schemas=2)
    first = cache.get(dict(FLIGHT))
    assert cache.get(dict(FLIGHT)) is first
    cache.get(obj({"a": {}}))
    cache.get(obj({"b": {}}))
    assert cache.get(dict(FLIGHT)) is not first
    assert cache.get(None) is None


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=20,
)
keywords = st.sampled_from(
    [
        "type",
        "properties",
        "required",
        "items",
        "enum",
        "const",
        "$ref",
        "anyOf",
        "oneOf",
        "allOf",
        "pattern",
        "additionalProperties",
        "minimum",
        "default",
        "function",
        "parameters",
        "not",
        "$defs",
        "prefixItems",
        "nullable",
    ]
)
schema_like = st.recursive(
    json_values | st.sampled_from(["object", "string", "array", "#", "#/properties"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keywords, inner, max_size=5),
    max_leaves=25,
)


@given(
    st.dictionaries(keywords, schema_like, max_size=6), st.dictionaries(st.text(max_size=5), json_values, max_size=4)
)
def test_no_schema_and_no_arguments_raise(schema: Any, arguments: Any) -> None:
    faults(schema, arguments)
