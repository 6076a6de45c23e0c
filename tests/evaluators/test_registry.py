"""The evaluators there are, and what makes one."""

from __future__ import annotations

import re

import pytest
from pydantic import ValidationError

from evaluators.computed import ComputedEvaluator
from evaluators.registry import EVALUATORS, Entry
from evaluators.tool_invocation import ToolInvocationSettings
from evaluators.tool_selection import ToolSelectionSettings

CATEGORIES = ("failure_attribution", "completion_efficiency")


def test_every_evaluator_is_known_by_its_own_name() -> None:
    assert {name: entry.name for name, entry in EVALUATORS.items()} == {name: name for name in EVALUATORS}
    assert all(re.fullmatch(r"[a-z][a-z0-9_]*", name) for name in EVALUATORS)


@pytest.mark.parametrize("entry", EVALUATORS.values(), ids=list(EVALUATORS))
def test_an_evaluator_is_made_with_its_defaults_or_with_settings_of_its_own(entry: Entry) -> None:
    made = entry.create()
    assert made.settings == entry.settings()
    assert made.criteria().strip() or isinstance(made, ComputedEvaluator)
    if entry.name in CATEGORIES:
        return  # a category has no score to hold against a threshold
    strict = entry.create(entry.settings(threshold=0.25))
    assert strict.settings.threshold == 0.25
    assert strict.revision() != made.revision()


@pytest.mark.parametrize("entry", EVALUATORS.values(), ids=list(EVALUATORS))
def test_an_evaluator_takes_a_judge_if_it_has_anything_to_ask(entry: Entry) -> None:
    if entry.create().criteria():
        assert entry.settings(judge="judge/x").judge == "judge/x"
    else:
        with pytest.raises(ValidationError, match="judge"):
            entry.settings.model_validate({"judge": "judge/x"})


@pytest.mark.parametrize("name", CATEGORIES)
def test_a_category_has_no_threshold(name: str) -> None:
    with pytest.raises(ValidationError, match="threshold"):
        EVALUATORS[name].settings.model_validate({"threshold": 0.5})


def test_settings_of_another_evaluator_are_refused() -> None:
    with pytest.raises(TypeError, match="tool_selection"):
        EVALUATORS["tool_selection"].create(ToolInvocationSettings())
    assert EVALUATORS["tool_selection"].create(ToolSelectionSettings()).name == "tool_selection"


def test_the_revision_changes_with_the_model_and_not_with_the_judge_s_name() -> None:
    entry = EVALUATORS["tool_selection"]
    assert entry.create().revision("a") != entry.create().revision("b")
    named = entry.create(ToolSelectionSettings(judge="judge/x"))
    assert named.revision() == entry.create().revision()
