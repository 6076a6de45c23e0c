"""Arguments as instrumentations hand them over."""

from typing import Any

import pytest

from evaluators.cases import ToolCall
from evaluators.rules.raw_arguments import ArgumentState, may_be_mangled, read_arguments


@pytest.mark.parametrize(
    ("arguments", "value"),
    [
        ({"a": 1}, {"a": 1}),
        ('{"a": 1}', {"a": 1}),
        ('"{\\"a\\": 1}"', {"a": 1}),
        ("{'a': True, 'b': None}", {"a": True, "b": None}),
        ("", {}),
        ("null", {}),
        ("  {}  ", {}),
    ],
)
def test_an_object_is_read_however_it_is_written(arguments: Any, value: Any) -> None:
    read = read_arguments(ToolCall(id="1", name="f", arguments=arguments))
    assert (read.state, dict(read.value)) == (ArgumentState.OBJECT, value)


@pytest.mark.parametrize(
    ("arguments", "state"),
    [
        (None, ArgumentState.NOT_CAPTURED),
        ('{"city": "Lima", "unit": ', ArgumentState.NOT_JSON),
        ("Lima", ArgumentState.NOT_JSON),
        ("{1, 2}", ArgumentState.NOT_JSON),
        ("[1]", ArgumentState.NOT_AN_OBJECT),
        ("5", ArgumentState.NOT_AN_OBJECT),
        ("[" * 100_000, ArgumentState.NOT_JSON),
    ],
)
def test_what_is_no_object_has_a_state_of_its_own(arguments: Any, state: ArgumentState) -> None:
    assert read_arguments(ToolCall(id="1", name="f", arguments=arguments)).state is state


@pytest.mark.parametrize(
    ("text", "mangled"),
    [
        ('{"city": "Rome"}{"city": "Oslo"}', True),
        ('{"text": "' + "long " * 30, True),
        ('{"city": "Rome"', False),
        ('{"city": Rome}', False),
        ("{" * 2_000, True),
        ("[" * 100, False),
    ],
)
def test_what_an_instrumentation_may_have_spoilt_is_told_from_what_the_model_wrote(text: str, mangled: bool) -> None:
    assert may_be_mangled(text) is mangled
