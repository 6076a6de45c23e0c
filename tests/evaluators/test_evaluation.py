"""Rules first, then a judge: what is asked, and what becomes of answers that don't fit the question."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from evaluators.cases import Run
from evaluators.evaluation import Item, evaluate
from evaluators.judge.cache.case_key import manner_of
from evaluators.judge.question import Answer, JudgeAnswer, Question
from evaluators.judge.settings import JudgeSettings
from evaluators.tool_response_handling import ToolResponseHandling
from evaluators.tool_response_handling.answer import ToolResponseHandlingAnswer
from evaluators.verdict import Status, Verdict
from tests.evaluators.runs import call, response


class _Says:
    """A judge that gives one answer, whatever it is asked."""

    model = "m"

    def __init__(self, *call_ids: str) -> None:
        self._call_ids = call_ids

    async def ask(self, run: Run, questions: Sequence[Question]) -> list[Answer]:
        calls: list[Any] = [
            {"call_id": one, "explanation": "so", "label": "correct", "issues": []} for one in self._call_ids
        ]
        content = ToolResponseHandlingAnswer.model_validate({"calls": calls})
        return [JudgeAnswer(content=content, model=self.model) for _ in questions]


def verdict(*answered: str) -> Verdict:
    case = response("It is 9.", call("get_time", {}, {"hour": 9}), call("get_date", {}, {"day": 3}, id="c2"))
    (found,) = asyncio.run(evaluate([Item(ToolResponseHandling(), case, _Says(*answered))]))
    return found


def test_an_answer_about_every_call_is_taken() -> None:
    assert verdict("c2", "c1").score == 1.0


@pytest.mark.parametrize("answered", [(), ("c1",), ("c1", "c1"), ("c1", "c2", "c3"), ("c1", "c1", "c2")])
def test_an_answer_that_leaves_calls_out_or_adds_some_is_an_error_and_no_score(answered: tuple[str, ...]) -> None:
    found = verdict(*answered)
    assert (found.status, found.score) == (Status.JUDGE_ERROR, None)


class _AskedAnotherWay(_Says):
    """The same judge, told other instructions."""

    async def ask(self, run: Run, questions: Sequence[Question]) -> list[Answer]:
        return [replace(one, manner="b") for one in await super().ask(run, questions) if isinstance(one, JudgeAnswer)]


def test_the_revision_changes_with_the_way_in_which_a_judge_is_asked() -> None:
    case = response("It is 9.", call("get_time", {}, {"hour": 9}))
    items = [Item(ToolResponseHandling(), case, judge("c1")) for judge in (_Says, _AskedAnotherWay)]
    one, other = [asyncio.run(evaluate([item]))[0] for item in items]
    assert (one.score, one.model) == (other.score, other.model)
    assert one.revision != other.revision


@pytest.mark.parametrize(
    ("settings", "same"),
    [
        ({}, True),
        ({"api_key": "other", "timeout": "9s", "base_url": "http://other/v1", "max_retries": 0}, True),
        ({"temperature": 0.5}, False),
        ({"control_statements": False}, False),
    ],
)
def test_what_shapes_an_answer_is_another_way_of_asking_and_how_hard_a_judge_is_worked_is_not(
    settings: dict[str, Any], same: bool
) -> None:
    usual = JudgeSettings.model_validate({"model": "m", "api_key": "k", "control_statements": True})
    other = JudgeSettings.model_validate({"model": "m", "api_key": "k", "control_statements": True, **settings})
    assert (manner_of(usual) == manner_of(other)) is same
