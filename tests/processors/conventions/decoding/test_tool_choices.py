"""Whether a request left the choice of tools free, in every provider's form."""

import pytest

from evaluators.cases import JsonValue
from processors.conventions.decoding.bodies import tool_choice_of


@pytest.mark.parametrize(
    ("choice", "said"),
    [
        ("auto", "auto"),
        ("ANY", "required"),
        ("required", "required"),
        ("none", "none"),
        ("find_book", "find_book"),
        ({"type": "any"}, "required"),
        ({"type": "auto", "disable_parallel_tool_use": True}, "auto"),
        ({"type": "tool", "name": "find_book"}, "find_book"),
        ({"type": "function", "function": {"name": "find_book"}}, "find_book"),
        ({"type": "function", "name": "find_book"}, "find_book"),
        ({"type": "tool", "toolName": "find_book"}, "find_book"),
        ({"type": "web_search"}, "web_search"),
        ({"type": "allowed_tools", "mode": "required", "tools": [{"name": "find_book"}]}, "required"),
        ({"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": []}}, "auto"),
        ({"any": {}}, "required"),
        ({"auto": {}}, "auto"),
        ({"tool": {"name": "find_book"}}, "find_book"),
        ({"mode": "NONE"}, "none"),
        ({}, None),
        ([], None),
        ("", None),
        (7, None),
    ],
)
def test_a_choice_is_read_from_every_shape(choice: JsonValue, said: str | None) -> None:
    assert tool_choice_of({"tool_choice": choice}) == said


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({"toolConfig": {"functionCallingConfig": {"mode": "ANY"}}}, "required"),
        ({"tool_config": {"function_calling_config": {"mode": "AUTO"}}}, "auto"),
        (
            {
                "config": {
                    "tool_config": {"function_calling_config": {"mode": "ANY", "allowed_function_names": ["lend"]}}
                }
            },
            "lend",
        ),
        (
            {"toolConfig": {"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": ["lend", "find_book"]}}},
            "required",
        ),
        ({"toolConfig": {"toolChoice": {"any": {}}}}, "required"),
        ({"toolConfig": {"tools": []}}, None),
        ({"function_call": {"name": "lend"}}, "lend"),
        ({"function_call": "none"}, "none"),
        ({"model": "m"}, None),
        ("words", None),
    ],
)
def test_it_stands_where_each_provider_has_it(body: JsonValue, said: str | None) -> None:
    assert tool_choice_of(body) == said
