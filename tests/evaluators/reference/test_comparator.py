"""What counts as the same argument, and what doesn't."""

from __future__ import annotations

import unicodedata
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from evaluators.cases import JsonValue
from evaluators.reference.comparator import Comparator, Difference, FieldRule

SAME: list[tuple[JsonValue, JsonValue]] = [
    (5, 5.0),
    (0.1 + 0.2, 0.3),
    (2**70, 2**70),
    ({"a": 1, "b": [2]}, {"b": [2.0], "a": 1}),
    ('{"a": 1}', {"a": 1.0}),
    (' ["x"]', ["x"]),
    ('{"a": 1, "b": 2}', '{"b":2,"a":1}'),
    ("café", unicodedata.normalize("NFD", "café")),
    ({"a": 1, "b": None}, {"a": 1}),
    (None, None),
    ("", ""),
]
OTHER: list[tuple[JsonValue, JsonValue]] = [
    (5, "5"),
    (True, 1),
    (False, 0),
    (True, "true"),
    (5, 5.001),
    (12345678901, 12345678902.0),
    (2**70, 2**70 + 1),
    ("Lima", "lima"),
    ("Lima", "Lima "),
    ([1, 2], [2, 1]),
    ([1], [1, 1]),
    ([None], []),
    ("{a: 1}", {"a": 1}),
    ("", 0),
    ({}, []),
    (10**400, 1.0),
]


def same(one: JsonValue, other: JsonValue, comparator: Comparator | None = None) -> bool:
    found = (comparator or Comparator()).compare("t", {"x": one}, {"x": other})
    assert (found.likeness == 1.0) == (not found.differences)
    return not found.differences


@pytest.mark.parametrize(("one", "other"), SAME)
def test_these_are_the_same(one: JsonValue, other: JsonValue) -> None:
    assert same(one, other)


@pytest.mark.parametrize(("one", "other"), OTHER)
def test_these_are_not(one: JsonValue, other: JsonValue) -> None:
    assert not same(one, other)


def test_the_share_of_fields_that_are_the_same_is_the_likeness_and_inner_objects_count_with_theirs() -> None:
    found = Comparator().compare(
        "t", {"a": 1, "b": {"c": 1, "d": 2}, "gone": 1, "e": "x"}, {"a": 1, "b": {"c": 1, "d": 3}, "new": 1, "e": "x"}
    )
    assert found.likeness == pytest.approx((1 + 0.5 + 0 + 0 + 1) / 5)
    assert dict(found.differences) == {
        "b.d": Difference.OTHER_VALUE,
        "gone": Difference.MISSING,
        "new": Difference.UNEXPECTED,
    }


def test_no_fields_on_either_side_are_the_same() -> None:
    assert Comparator().compare("t", {}, {"x": None}).likeness == 1.0


def test_null_can_be_told_from_absent() -> None:
    assert Comparator(null_is_absent=False).compare("t", {}, {"x": None}).likeness == 0.0


def test_what_frameworks_add_to_a_call_can_be_left_out() -> None:
    found = Comparator().compare("t", {"city": "Lima"}, {"city": "Lima", "runtime": {}}, only_expected=True)
    assert found.likeness == 1.0


RULES: list[tuple[dict[str, Any], JsonValue, JsonValue, bool]] = [
    ({"ignore": True}, "one", ["two"], True),
    ({"ignore_case": True}, "LIMA", "lima", True),
    ({"ignore_case": True}, "Straße", "STRASSE", True),
    ({"ignore_case": True}, "Lima", "Quito", False),
    ({"tolerance": 0.1}, 20, 20.1, True),
    ({"tolerance": 0.1}, 20, 20.2, False),
    ({"tolerance": 1}, True, 1, False),
    ({"tolerance": 1}, 10**400, 1.5, False),
    ({"regex": r"\d{4}-\d\d-\d\d"}, "2026-03-01", "2026-11-30", True),
    ({"regex": r"\d{4}-\d\d-\d\d"}, "2026-03-01", "tomorrow", False),
    ({"regex": r"\d+"}, 17, "4", True),
    ({"ignore_list_order": True}, [1, {"a": 2}], [{"a": 2.0}, 1], True),
    ({"ignore_list_order": True}, [1, 1, 2], [1, 2, 2], False),
    ({"ignore_list_order": True, "tolerance": 1}, [1, 2], [3, 2], True),
]


@pytest.mark.parametrize(("rule", "one", "other", "expected"), RULES)
def test_a_rule_says_how_its_field_is_compared(
    rule: dict[str, Any], one: JsonValue, other: JsonValue, expected: bool
) -> None:
    comparator = Comparator(rules=(FieldRule(field="x", **rule),))
    assert same(one, other, comparator) is same(other, one, comparator) is expected


def test_a_rule_is_for_its_tool_and_its_field_alone() -> None:
    rules = (FieldRule(tool="search_*", field="filter.city", ignore_case=True),)
    one: dict[str, JsonValue] = {"filter": {"city": "LIMA", "land": "PE"}}
    other: dict[str, JsonValue] = {"filter": {"city": "Lima", "land": "pe"}}
    found = Comparator(rules=rules).compare("search_hotels", one, other)
    assert found.differences == (("filter.land", Difference.OTHER_VALUE),)
    assert len(Comparator(rules=rules).compare("book", one, other).differences) == 2


def test_a_pattern_that_is_none_is_refused_with_what_to_do() -> None:
    with pytest.raises(ValidationError, match="correct the pattern"):
        FieldRule(field="x", regex="(")


def test_a_pattern_that_hangs_is_given_up() -> None:
    comparator = Comparator(rules=(FieldRule(field="x", regex=r"(.*a){20}"),))
    with pytest.raises(TimeoutError):
        same("a" * 3_000 + "!", "a" * 3_000 + "!", comparator)


def test_json_in_json_in_json_is_no_way_to_break_it() -> None:
    text = "x"
    for _ in range(12):
        text = '["' + text.replace("\\", "\\\\").replace('"', '\\"') + '"]'
    assert same(text, text)
    deep = "[" * 500 + "]" * 500
    assert same(deep, deep)


scalars = st.none() | st.booleans() | st.integers(-3, 3) | st.floats(-3, 3) | st.sampled_from(["a", "A", "1", "é"])
values: st.SearchStrategy[Any] = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3)
)
objects = st.dictionaries(st.sampled_from("abcd"), values, max_size=4)
comparators = st.builds(
    Comparator,
    number_tolerance=st.sampled_from([0.0, 1e-9, 0.2]),
    null_is_absent=st.booleans(),
    rules=st.lists(
        st.builds(
            FieldRule,
            field=st.sampled_from(["a", "b", "a.b"]),
            ignore=st.booleans(),
            ignore_case=st.booleans(),
            ignore_list_order=st.booleans(),
            tolerance=st.sampled_from([None, 1.0]),
        ),
        max_size=2,
    ).map(tuple),
)


@given(comparators, objects, objects)
def test_neither_side_is_the_right_one(comparator: Comparator, one: Any, other: Any) -> None:
    there, back = comparator.compare("t", one, other), comparator.compare("t", other, one)
    assert there.likeness == back.likeness
    assert {path for path, _ in there.differences} == {path for path, _ in back.differences}
    assert 0.0 <= there.likeness <= 1.0


@given(comparators, objects)
def test_everything_is_the_same_as_itself(comparator: Comparator, one: Any) -> None:
    assert comparator.compare("t", one, one).likeness == 1.0
