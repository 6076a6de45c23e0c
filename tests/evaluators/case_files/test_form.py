"""What a line may hold that a model emitted, whatever it is."""

from __future__ import annotations

import pytest

from evaluators.case_files.form import CallForm
from evaluators.cases import Arguments


@pytest.mark.parametrize(
    ("given", "taken"),
    [
        ({"city": "Lima"}, {"city": "Lima"}),
        ('{"city": "Lima"}', {"city": "Lima"}),
        ("Lima", "Lima"),
        (["Lima"], '["Lima"]'),
        (7, "7"),
        (None, None),
    ],
)
def test_arguments_that_are_no_object_are_taken_as_their_text(given: object, taken: Arguments) -> None:
    call = CallForm.model_validate({"id": "c1", "name": "get_weather", "arguments": given}).as_call({})
    assert call.arguments == taken
