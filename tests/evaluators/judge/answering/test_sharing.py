"""A schema is written as short as it can be and demands the same."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from evaluators.judge.answering.sharing import written_once
from evaluators.judge.strict_schema import Schema, reference, strict_object

_WORDS: Schema = {"type": "string", "enum": ["correct", "incorrect"]}


def _resolved(value: Any, definitions: dict[str, Any]) -> Any:
    if isinstance(value, list):
        return [_resolved(inner, definitions) for inner in value]
    if not isinstance(value, dict):
        return value
    if "$ref" in value:
        return _resolved(definitions[value["$ref"].rpartition("/")[2]], definitions)
    return {key: _resolved(inner, definitions) for key, inner in value.items() if key != "$defs"}


def _length(schema: Any) -> int:
    return len(json.dumps(schema, separators=(",", ":")))


def test_what_stands_once_stands_in_its_place() -> None:
    assert written_once(strict_object({"q": reference("Label")}), {"Label": _WORDS}) == strict_object({"q": _WORDS})


def test_what_is_equal_stands_once_even_if_nobody_gave_it_a_name() -> None:
    schema = written_once(strict_object({"a": _WORDS, "b": _WORDS, "c": _WORDS}), {})
    assert schema["properties"] == {"a": reference("d1"), "b": reference("d1"), "c": reference("d1")}
    assert schema["$defs"] == {"d1": _WORDS}


def test_what_is_as_short_as_a_reference_is_left_alone() -> None:
    plain = strict_object({"a": {"type": "string"}, "b": {"type": "string"}})
    assert written_once(plain, {}) == plain


def test_what_refers_to_itself_stays_a_definition() -> None:
    node = strict_object({"next": {"anyOf": [reference("Node"), {"type": "null"}]}})
    schema = written_once(strict_object({"q": reference("Node")}), {"Node": node})
    assert schema["properties"] == {"q": reference("d1")}
    assert schema["$defs"] == {"d1": strict_object({"next": {"anyOf": [reference("d1"), {"type": "null"}]}})}


_LEAVES = st.sampled_from([_WORDS, {"type": "string"}, {"type": "number"}, reference("Outer"), reference("Inner")])
_SCHEMAS = st.recursive(
    _LEAVES,
    lambda inner: (
        st.builds(strict_object, st.dictionaries(st.sampled_from("abcd"), inner, min_size=1))
        | st.builds(lambda items: {"type": "array", "items": items}, inner)
        | st.builds(lambda choices: {"anyOf": choices}, st.lists(inner, min_size=1, max_size=3))
    ),
    max_leaves=10,
)


@given(st.dictionaries(st.sampled_from("abcdef"), _SCHEMAS, min_size=1))
def test_it_demands_the_same_and_is_never_longer(properties: dict[str, Any]) -> None:
    definitions = {
        "Outer": strict_object({"x": _WORDS, "y": reference("Inner")}),
        "Inner": strict_object({"z": _WORDS}),
    }
    whole = strict_object(properties)
    short = written_once(whole, definitions)
    assert _resolved(short, short.get("$defs", {})) == _resolved(whole, definitions)  # type: ignore[arg-type]
    assert _length(short) <= _length(whole | {"$defs": definitions})
