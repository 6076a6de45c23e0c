"""Blanks that mean nothing aren't shown."""

from __future__ import annotations

import ast
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluators.judge.showing.blanks import without_blanks

_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=12,
)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ('{"a": "b  c", "d": [1, 2.50]}', '{"a":"b  c","d":[1,2.50]}'),
        ('{\n  "a": 1,\n  "b": 2\n}', '{\n"a":1,\n"b":2\n}'),
        ('{"a": "cut o, f', '{"a":"cut o, f'),
        ("{'a': \"it's  so\", 'b': None}", "{'a':\"it's  so\",'b':None}"),
        ("[1 2]", "[1 2]"),
        ("[1, 2] and more", "[1, 2] and more"),
        ("[note] it is, or isn't", "[note] it is, or isn't"),
        ("plain text, with: signs", "plain text, with: signs"),
        ("{'a': <object at 0x1>}", "{'a': <object at 0x1>}"),
    ],
)
def test_only_blanks_between_values_go(text: str, shown: str) -> None:
    assert without_blanks(text) == shown


@given(_VALUES, st.sampled_from([None, 2]))
def test_json_means_the_same_afterwards(value: Any, indent: int | None) -> None:
    assert json.loads(without_blanks(json.dumps(value, indent=indent, ensure_ascii=False))) == value


@given(_VALUES)
def test_what_python_writes_means_the_same_afterwards(value: Any) -> None:
    assert ast.literal_eval(without_blanks(repr(value))) == value


@given(st.text(alphabet="{}[](),: \n\t\"'\\aNone1.-"))
def test_nothing_but_blanks_ever_goes(text: str) -> None:
    assert without_blanks(text).replace(" ", "").replace("\t", "") == text.replace(" ", "").replace("\t", "")
