"""A tool's schema is shown as a signature that says all of it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluators.judge.showing.signature import signature

_NODE = {"type": "object", "title": "Node", "properties": {"next": {"$ref": "#/$defs/Node"}, "n": {"type": "integer"}}}


def _object(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


@pytest.mark.parametrize(
    ("schema", "told"),
    [
        ({"type": "object", "properties": {}}, "{}"),
        ({"type": "object"}, "object"),
        ({}, "any"),
        (_object(a={"type": "string"}) | {"required": ["a"]}, "{a: string}"),
        (_object(a={"type": "string"}), "{a?: string}"),
        (_object(a={"type": "string", "description": 'say "x"\nor y'}), '{a?: string "say \\"x\\"\\nor y"}'),
        (_object(a={"type": "string", "default": "C"}), '{a?: string = "C"}'),
        (_object(a={"type": "string", "default": None}), "{a?: string = null}"),
        (_object(a={"type": "string", "enum": ["C", "F"]}), '{a?: "C"|"F"}'),
        (_object(a={"type": ["string", "null"], "enum": ["C", None]}), '{a?: "C"|null}'),
        (_object(a={"type": "integer", "enum": ["1"]}), '{a?: integer & "1"}'),
        (_object(a={"const": 3}), "{a?: 3}"),
        (_object(a={"type": ["string", "null"]}), "{a?: string|null}"),
        (_object(a={"type": "integer", "minimum": 1, "maximum": 5}), "{a?: integer(minimum 1, maximum 5)}"),
        (_object(a={"type": "string", "format": "date"}), '{a?: string(format "date")}'),
        (_object(a={"type": "string", "pattern": "^\\d$"}), '{a?: string(pattern "^\\\\d$")}'),
        (_object(a={"type": "array", "items": {"type": "string"}}), "{a?: string[]}"),
        (
            _object(a={"type": "array", "items": _object(b={"type": "number"}), "maxItems": 2}),
            "{a?: ({b?: number})[](maxItems 2)}",
        ),
        (_object(a={"type": "array", "items": [{"type": "string"}]}), '{a?: array(items [{"type":"string"}])}'),
        (_object(a={"anyOf": [{"type": "string"}, {"type": "null"}], "default": None}), "{a?: string|null = null}"),
        (_object(a={"oneOf": [{"type": "string"}, {"type": "integer"}]}), "{a?: one of (string|integer)}"),
        (_object(a={"allOf": [{"type": "string"}, {"minLength": 2}]}), "{a?: string & (any(minLength 2))}"),
        (_object(a={"not": {"type": "string"}}), '{a?: any(not {"type":"string"})}'),
        (_object(a=True, b=False), "{a?: any, b?: never}"),
        (_object(a={"type": "string", "title": "A"}), "{a?: string}"),
        (_object(a={"type": "string", "title": "The day"}), '{a?: string(title "The day")}'),
        (_object(a={"type": "string", "x-unit": {"si": "m"}}), '{a?: string(x-unit {"si":"m"})}'),
        (_object(a={"type": "string"}) | {"additionalProperties": False}, "{a?: string, no others}"),
        (_object() | {"additionalProperties": {"type": "integer"}}, "{...: integer}"),
        (_object(**{"two words": {"type": "string"}}), '{"two words"?: string}'),
        (_object() | {"required": ["unspecified"]}, "{unspecified: any}"),
        (
            _object(a={"$ref": "#/$defs/D"}) | {"$defs": {"D": {"type": "string", "minLength": 1}}},
            "{a?: D} where D = string(minLength 1)",
        ),
        (
            _object(a={"$ref": "#/$defs/Node"}) | {"$defs": {"Node": _NODE}},
            "{a?: Node} where Node = {next?: Node, n?: integer}",
        ),
        (_object(a={"$ref": "#"}), "{a?: <#>} where <#> = all of this"),
        (
            _object(a={"not": {"$ref": "#/definitions/D"}}) | {"definitions": {"D": {"type": "null"}}},
            '{a?: any(not {"$ref":"#/definitions/D"})} where D = null',
        ),
    ],
)
def test_every_keyword_has_its_place(schema: dict[str, Any], told: str) -> None:
    assert signature(schema) == told


@pytest.mark.parametrize(
    "schema",
    [
        _object(a={"$ref": "https://example.com/schema"}),
        _object(a={"$ref": "#/$defs/Gone"}),
        _object(a={"$dynamicRef": "#node"}),
    ],
)
def test_what_refers_to_somewhere_else_is_shown_as_json(schema: dict[str, Any]) -> None:
    assert json.loads(signature(schema)) == schema


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object", "properties": "none"},
        {"type": 7},
        _object(a="a string"),
        _object(a={"type": "string", "required": True}),
        {"type": "object", "properties": {"a": {"enum": "abc"}}, "required": "a"},
        {"anyOf": {"type": "string"}},
    ],
)
def test_what_is_no_json_schema_is_shown_all_the_same(schema: dict[str, Any]) -> None:
    told = signature(schema)
    for word in (word for word in ("none", "7", "a string", "abc", "true") if word in json.dumps(schema)):
        assert word in told


def test_what_is_nested_beyond_measure_does_not_break_it() -> None:
    deep: dict[str, Any] = {"type": "string"}
    for _ in range(5_000):
        deep = {"type": "array", "items": deep}
    assert isinstance(signature(deep), str)


def test_a_title_that_says_the_name_of_the_tool_is_left_out() -> None:
    assert signature({"title": "get_weather", "type": "object"}, "GetWeather") == "object"


_SIMPLE = st.fixed_dictionaries(
    {"type": st.sampled_from(["string", "integer", "number", "boolean", "null"])},
    optional={
        "description": st.text(min_size=1),
        "enum": st.lists(st.none() | st.integers() | st.text(), min_size=1),
        "default": st.none() | st.integers() | st.text(),
        "minLength": st.integers(),
        "format": st.text(),
    },
)


def _around(inner: st.SearchStrategy[dict[str, Any]]) -> st.SearchStrategy[dict[str, Any]]:
    properties = st.dictionaries(st.text(min_size=1), inner, min_size=1, max_size=4)
    objects = st.builds(
        lambda own, required: {"type": "object", "properties": own, "required": sorted(own)[:required]},
        properties,
        st.integers(0, 4),
    )
    arrays = st.builds(lambda items: {"type": "array", "items": items}, inner)
    choices = st.builds(lambda any_of: {"anyOf": any_of}, st.lists(inner, min_size=1, max_size=3))
    return objects | arrays | choices


@given(st.recursive(_SIMPLE, _around, max_leaves=8))
def test_nothing_that_a_judge_needs_is_lost(schema: dict[str, Any]) -> None:
    told = signature(schema)

    def look(one: dict[str, Any]) -> None:
        for value in (*one.get("enum", ()), *((one["default"],) if "default" in one else ())):
            assert json.dumps(value, ensure_ascii=False) in told
        if "description" in one:
            assert json.dumps(one["description"], ensure_ascii=False) in told
        for keyword in ("minLength", "format"):
            if keyword in one:
                assert f"{keyword} {json.dumps(one[keyword], ensure_ascii=False)}" in told
        for name, inner in one.get("properties", {}).items():
            sign = ": " if name in one["required"] else "?: "
            assert f"{name}{sign}" in told or f"{json.dumps(name, ensure_ascii=False)}{sign}" in told
            look(inner)
        for inner in (*one.get("anyOf", ()), *((one["items"],) if "items" in one else ())):
            look(inner)

    look(schema)
