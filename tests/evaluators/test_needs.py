"""What has to be judged of a run before a verdict can be derived: the run itself and its steps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from evaluators.cases import CallsCase, CaseKind, DecisionCase, ResponseCase, RunCase, Tool, Turn
from evaluators.evaluation import Item
from evaluators.evaluator import Evaluator
from evaluators.needs import cases_of, needed_items
from evaluators.registry import EVALUATORS
from tests.evaluators.runs import call, run_of

FIRST, SECOND = call("find", {}, [1], id="c1"), call("pay", {}, error="no", id="c2")


def two_steps() -> RunCase:
    case = run_of(FIRST, SECOND)
    before, pays, last = case.run.turns
    turns = (before, replace(pays, answers=("c1",)), replace(last, answers=("c2",)))
    return RunCase(run=replace(case.run, turns=turns))


def test_turns_that_call_are_decisions_and_calls() -> None:
    case = two_steps()
    assert [one.turn.index for one in cases_of(case, CaseKind.DECISION) if isinstance(one, DecisionCase)] == [0, 1]
    assert [one.calls for one in cases_of(case, CaseKind.CALLS) if isinstance(one, CallsCase)] == [(FIRST,), (SECOND,)]


def test_turns_that_see_results_are_responses_with_what_followed_up_to_the_next_word_of_the_user() -> None:
    case = two_steps()
    thanks = Turn(index=3, text="You're welcome.", user_turn=1)
    longer = RunCase(run=replace(case.run, turns=(*case.run.turns, thanks)))
    found = [one for one in cases_of(longer, CaseKind.RESPONSE) if isinstance(one, ResponseCase)]
    assert [(one.calls, one.turn and one.turn.index, [t.index for t in one.later]) for one in found] == [
        ((FIRST,), 1, [2]),
        ((SECOND,), 2, []),
    ]


def test_a_first_answer_without_calls_is_a_decision_where_tools_were_offered() -> None:
    said = Turn(index=0, text="Hello", tools=(Tool(name="find"),))
    case = RunCase(run=replace(run_of().run, turns=(said, replace(said, index=1))))
    assert [one.turn.index for one in cases_of(case, CaseKind.DECISION) if isinstance(one, DecisionCase)] == [0]


def test_a_run_is_its_own_case_and_no_session() -> None:
    case = two_steps()
    assert list(cases_of(case, CaseKind.RUN)) == [case]
    assert list(cases_of(case, CaseKind.SESSION)) == []


@pytest.mark.parametrize("name", [name for name, entry in EVALUATORS.items() if entry.evaluator_type.needs])
def test_all_that_a_shipped_evaluator_needs_is_shipped_and_not_itself_derived(name: str) -> None:
    needs = EVALUATORS[name].evaluator_type.needs
    assert all(needed in EVALUATORS and not EVALUATORS[needed].evaluator_type.needs for needed in needs)
    evaluators: Mapping[str, Evaluator[Any]] = {one: entry.create() for one, entry in EVALUATORS.items()}
    items = needed_items(Item(evaluators[name], two_steps()), evaluators, lambda one: None)
    assert {item.evaluator.name for item in items} == set(needs)
