"""What of a tool's text is structured, and where its scalars stand."""

from typing import Any

import pytest

from evaluators.rules.structured import leaves, list_lengths, structured


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a": 1}', {"a": 1}),
        ("[1, 2]", [1, 2]),
        ('"{\\"a\\": 1}"', {"a": 1}),
        ("{'a': 1, 'b': None, 'c': True}", {"a": 1, "b": None, "c": True}),
        ('[{"type": "text", "text": "{\\"a\\": 1}"}]', {"a": 1}),
        ('{"content": [{"type": "text", "text": "[1]"}]}', [1]),
        ('[{"type": "text", "text": "plain words"}]', [{"type": "text", "text": "plain words"}]),
        ("plain words", None),
        ('"quoted words"', None),
        ("{not json", None),
        ("5", None),
        ("", None),
        (None, None),
        ("{1, 2}", None),
        ("[" * 100_000, None),
        ("{" + "'a':{" * 5_000, None),
    ],
)
def test_text_is_unwrapped_to_the_object_or_list_that_it_is(text: str | None, value: Any) -> None:
    assert structured(text) == value


def test_leaves_tell_field_column_and_list() -> None:
    value = {"orders": [{"items": [{"price": 5}, {"price": 6}]}, {"items": [{"price": 7}]}], "note": None}
    found = list(leaves(value))
    assert [leaf.value for leaf in found] == [5, 6, 7]
    assert {leaf.key for leaf in found} == {"price"}
    assert len({leaf.column for leaf in found}) == 1
    assert found[0].place == found[1].place != found[2].place


def test_records_under_ids_are_a_list_with_names_for_positions() -> None:
    found = list(leaves({"variants": {"1001": {"price": 5}, "1002": {"price": 6}}}))
    assert len({leaf.column for leaf in found}) == 1


def test_lengths_of_lists_and_objects_can_be_counted() -> None:
    assert list_lengths({"a": [1, 2, 3], "b": {}}) == {2, 3, 0}


def test_hostile_sizes_are_cut() -> None:
    assert sum(1 for _ in leaves(list(range(200_000)))) == 50_000
    deep: Any = 1
    for _ in range(500):
        deep = [deep]
    assert list(leaves(deep)) == []
