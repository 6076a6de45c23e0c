"""Tool definitions: what is judged by must be a schema, and whole where a length limit cut values."""

from __future__ import annotations

import json

import pytest

from evaluators.cases import Tool
from processors.conventions.decoding.cut import OpenObject, cut_json
from processors.conventions.decoding.definitions import tools_of

_PARAMETERS = {
    "type": "object",
    "properties": {"branch": {"type": "string", "enum": ["Central", "Riverside", "Northgate"]}},
    "required": ["branch"],
}
_DEFINITIONS = json.dumps(
    [
        {"type": "function", "function": {"name": name, "description": "A tool.", "parameters": _PARAMETERS}}
        for name in ("opening_hours", "find_book")
    ]
)


@pytest.mark.parametrize("length", range(2, len(_DEFINITIONS)))
def test_wherever_definitions_are_cut_no_schema_is_in_part_and_no_tool_is_made_up(length: int) -> None:
    tools = tools_of(cut_json(_DEFINITIONS[:length])) or ()

    assert {tool.name for tool in tools} <= {"opening_hours", "find_book"}
    assert all(tool.parameters in (None, _PARAMETERS) for tool in tools)


def test_a_schema_before_the_cut_is_used() -> None:
    tools = tools_of(cut_json(_DEFINITIONS[: len(_DEFINITIONS) - 20]))

    assert tools is not None
    assert [(tool.name, tool.parameters) for tool in tools] == [("opening_hours", _PARAMETERS), ("find_book", None)]


def test_objects_that_a_cut_goes_through_are_known_as_open() -> None:
    value = cut_json('{"whole": {"a": 1}, "cut": {"b": [{"c": 2, "d')

    assert value == {"whole": {"a": 1}, "cut": {"b": [{"c": 2}]}}
    assert isinstance(value, OpenObject)
    assert not isinstance(value["whole"], OpenObject)
    cut = value["cut"]
    assert isinstance(cut, OpenObject)
    assert isinstance(cut["b"], list)
    assert isinstance(cut["b"][0], OpenObject)


@pytest.mark.parametrize("wrapper", ["json", "jsonSchema"])
def test_a_schema_is_taken_out_of_its_wrapper(wrapper: str) -> None:
    (tool,) = tools_of([{"name": "opening_hours", "parameters": {wrapper: _PARAMETERS}}]) or ()

    assert tool.parameters == _PARAMETERS


@pytest.mark.parametrize("key", ["def", "_def"])
def test_a_validators_own_description_of_itself_is_no_schema(key: str) -> None:
    described = {key: {"type": "object", "shape": {"branch": {"type": "string"}}}, "type": "object"}

    (tool,) = tools_of([{"name": "opening_hours", "parameters": described}]) or ()

    assert tool.parameters is None


def test_the_repr_of_an_object_that_does_not_say_its_name_is_no_tool() -> None:
    assert tools_of(["<FunctionTool object at 0x7f>", "find_book"]) == (Tool(name="find_book"),)


@pytest.mark.parametrize(
    ("more", "read_only"),
    [
        ({"annotations": {"readOnlyHint": True}}, True),
        ({"annotations": {"readOnlyHint": False, "title": "x"}}, False),
        ({"metadata": {"readOnlyHint": True}}, True),
        ({"annotations": {"readOnlyHint": "yes"}}, None),
        ({}, None),
    ],
)
def test_what_a_server_says_of_its_tool_is_kept(more: dict[str, object], read_only: bool | None) -> None:
    tools = tools_of(json.loads(json.dumps([{"name": "get_order", **more}])))
    assert tools is not None and tools[0].read_only is read_only
