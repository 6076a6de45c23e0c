"""Content in strings: JSON, JSON in JSON, Python literals, and texts that were cut off."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluators.cases import JsonValue
from processors.conventions.decoding.cut import cut_json
from processors.conventions.decoding.values import (
    as_text,
    data,
    flattened,
    from_json,
    from_python,
    json_in_a_row,
    parsed,
)

NESTED = st.recursive(
    st.none() | st.booleans() | st.integers(-1000, 1000) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=12,
)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ('{"a": 1}', {"a": 1}),
        (' [1, "x"]', [1, "x"]),
        ('"quoted"', "quoted"),
        ("plain text", "plain text"),
        ("14", "14"),
        ("{not json", "{not json"),
        ('{"share": NaN}', {"share": "nan"}),
        ('{"half": "\\ud83d"}', {"half": "\ufffd"}),
        (7, 7),
        (None, None),
    ],
)
def test_text_that_holds_json_is_what_it_holds(value: JsonValue, expected: JsonValue) -> None:
    assert parsed(value) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("{'city': 'Paris', 'n': None}", {"city": "Paris", "n": None}),
        ("('a', 1)", ["a", 1]),
        ("__import__('os').system('true')", "__import__('os').system('true')"),
        ("{'a': open('x')}", "{'a': open('x')}"),
    ],
)
def test_python_literals_are_read_and_nothing_is_evaluated(value: JsonValue, expected: JsonValue) -> None:
    assert data(value) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[18446744073709551615]", [18446744073709551615]),
        (f"[{10**20}]", [1e20]),
        (f"[-0x{'f' * 5000}]", ["-inf"]),
        (f'{{"a": NaN, "b": {"9" * 4000}}}', {"a": "nan", "b": "inf"}),
    ],
)
def test_integers_of_any_size_can_be_written_again(text: str, expected: JsonValue) -> None:
    assert data(text) == expected
    assert as_text({"arguments": data(text)}) is not None


@pytest.mark.filterwarnings("error")
def test_needless_backslashes_are_no_reason_to_warn() -> None:
    assert data(r"['\d', '\777']") == ["\\d", chr(0o777)]


@pytest.mark.parametrize(
    "text", ["[" * 5000 + "]" * 5000, "[" + "-" * 50_000 + "1]", "[" + "1," * 80_000 + "]", "{[]: 1}"]
)
def test_hostile_literals_are_left_as_text(text: str) -> None:
    assert from_python(text) is None


def test_json_nested_deeper_than_can_be_written_loses_only_its_depth() -> None:
    deep = parsed('{"good": 1, "deep": ' + "[" * 900 + "]" * 900 + "}")
    assert isinstance(deep, dict)
    assert deep["good"] == 1
    assert as_text(deep) is not None


def test_a_flattened_list_comes_back_in_order_of_its_indexes() -> None:
    attributes: dict[str, JsonValue] = {"m.10.x": "c", "m.2.x": "b", "m.2.y.0.z": 1, "m.x": 9, "other": 0}
    assert flattened(attributes, "m.") == [{"x": "b", "y.0.z": 1}, {"x": "c"}]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('[{"role": "user", "content": "hi"}, {"role": "assis', [{"role": "user", "content": "hi"}, {}]),
        ('{"a": {"b": [1, 2, 3', {"a": {"b": [1, 2]}}),
        ('{"a": "half a str', {}),
        ('{"a": 1}', None),
        ("no json", None),
        ("{]", None),
    ],
)
def test_of_cut_json_what_is_whole_is_kept(text: str, expected: JsonValue) -> None:
    assert cut_json(text) == expected


@given(st.dictionaries(st.text(max_size=5), NESTED, max_size=4), st.integers(min_value=1))
def test_a_cut_never_makes_up_values(value: dict[str, JsonValue], place: int) -> None:
    text = json.dumps(value)
    found = cut_json(text[: place % len(text)])
    assert found is None or _is_part(found, json.loads(text))


def _is_part(part: JsonValue, whole: JsonValue) -> bool:
    if isinstance(part, dict) and isinstance(whole, dict):
        return all(key in whole and _is_part(item, whole[key]) for key, item in part.items())
    if isinstance(part, list) and isinstance(whole, list):
        return len(part) <= len(whole) and all(_is_part(one, other) for one, other in zip(part, whole, strict=False))
    return part == whole


def test_halves_of_characters_are_replaced_in_keys_as_well() -> None:
    assert from_json('{"\\ud83d": {"\\ude00": "\\ud83d"}}') == {"\ufffd": {"\ufffd": "\ufffd"}}


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ('{"a": 1}{"a": 2}', [{"a": 1}, {"a": 2}]),
        ('{"a": 1}, "b,c" ,\n3', [{"a": 1}, "b,c", 3]),
        ('{"a": NaN}', [{"a": "nan"}]),
        ("", []),
        ('{"a": 1} and more', []),
        ('{"a": 1}{"a": ', []),
        ("[" * 100_000, []),
    ],
)
def test_json_values_in_a_row_are_told_apart_if_there_is_nothing_else(text: str, values: list[JsonValue]) -> None:
    assert json_in_a_row(text) == values
