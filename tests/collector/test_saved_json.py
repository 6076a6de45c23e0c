"""The values in a JSON file: one, one a line, or several one after the other."""

from __future__ import annotations

import json

import pytest

from collector.receivers.saved_json import JsonFault, JsonValue, json_values

VALUES: list[object] = [{"a": {"b": [1, 2]}}, [{"c": "}\n]"}], {"d": "x"}]


def read(text: str, *, as_lines: bool = False) -> list[JsonValue | JsonFault]:
    return list(json_values(text.encode(), as_lines=as_lines))


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("as_lines", [True, False])
def test_one_value_is_the_whole_file(indent: int | None, as_lines: bool) -> None:
    text = json.dumps(VALUES, indent=indent)
    assert read(text, as_lines=as_lines) == [JsonValue("", VALUES)]


@pytest.mark.parametrize("as_lines", [True, False])
def test_one_value_a_line_whatever_the_file_is_called(as_lines: bool) -> None:
    text = "\n\n".join(map(json.dumps, VALUES))
    assert read(text, as_lines=as_lines) == [
        JsonValue("line 1", VALUES[0]),
        JsonValue("line 3", VALUES[1]),
        JsonValue("line 5", VALUES[2]),
    ]


@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_indented_values_may_follow_each_other(line_end: str) -> None:
    text = "\n".join(json.dumps(value, indent=4) for value in VALUES).replace("\n", line_end)
    found = read(text)
    assert [one.value for one in found if isinstance(one, JsonValue)] == VALUES
    assert [one.position for one in found] == ["line 1", "line 9", "line 14"]


def test_a_broken_value_costs_itself_alone_and_is_named_by_its_line() -> None:
    text = "\n".join([json.dumps(VALUES[0], indent=4), "{\n  oops\n}", json.dumps(VALUES[2], indent=4)])
    first, broken, last = read(text)
    assert (first, last) == (JsonValue("line 1", VALUES[0]), JsonValue("line 12", VALUES[2]))
    assert isinstance(broken, JsonFault)
    assert broken.position.startswith("line 10,")


def test_text_that_is_no_json_at_all_is_one_fault() -> None:
    (fault,) = read("hello\nthere")
    assert isinstance(fault, JsonFault)
    assert fault.position == "line 1, column 1"


@pytest.mark.parametrize("as_lines", [True, False])
def test_numbers_that_are_none_are_null_and_text_stays_text(as_lines: bool) -> None:
    text = '{"a": NaN, "b": [-Infinity, Infinity], "c": "NaN \\" NaN", "NaN": 1}'
    value = {"a": None, "b": [None, None], "c": 'NaN " NaN', "NaN": 1}
    assert read(text, as_lines=as_lines)[0] in (JsonValue("", value), JsonValue("line 1", value))
    assert isinstance(read('{"a": NaNa}', as_lines=as_lines)[0], JsonFault)
