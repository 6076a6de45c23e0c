"""What counts as more of a case, and what counts as another verdict."""

from __future__ import annotations

from dataclasses import replace

import pytest

from evaluators.cases import (
    CallsCase,
    Case,
    DecisionCase,
    Delegation,
    Message,
    Plan,
    PlanSource,
    PlanStep,
    Reference,
    ResponseCase,
    Role,
    Run,
    RunCase,
    Tool,
    Turn,
)
from evaluators.issues import IssueCode
from evaluators.verdict import Level, Status, Verdict, issue
from processors.verdicts.marks import inputs_of, outcome_of
from tests.processors.steps import call, turn

CALLED = call("a", tool_span=2)
RETURNED = call("a", tool_span=2, result="x")
ASKED = Run(user_inputs=("q",))
SPECIFIED = Tool(name="look_up", parameters={"type": "object"})
PLAN = Plan(steps=(PlanStep(text="Look it up."),), source=PlanSource.TEXT, turn=0)


def on(decided: Turn, run: Run = ASKED) -> Case:
    return DecisionCase(run=run, turn=decided)


@pytest.mark.parametrize(
    ("less", "more"),
    [
        (on(turn(0, 1, CALLED)), on(turn(0, 1, RETURNED))),
        (on(turn(0, 1)), on(turn(0, 1, CALLED))),
        (on(turn(0, 1)), on(turn(0, 1, tools=[Tool(name="look_up")]))),
        (on(turn(0, 1)), on(Turn(index=0, context=(Message(role=Role.USER, text="q"),)))),
        (on(turn(0, 1), Run()), on(turn(0, 1))),
        (CallsCase(run=ASKED, calls=(CALLED,)), CallsCase(run=ASKED, calls=(RETURNED,))),
        (CallsCase(run=ASKED, calls=(CALLED,)), CallsCase(run=ASKED, calls=(CALLED,), turn=turn(0, 1, CALLED))),
        (
            ResponseCase(run=ASKED, calls=(RETURNED,), turn=None),
            ResponseCase(run=ASKED, calls=(RETURNED, RETURNED), turn=None),
        ),
        (RunCase(run=ASKED), RunCase(run=Run(user_inputs=("q", "r")))),
        (RunCase(run=ASKED), RunCase(run=Run(user_inputs=("q",), final_answer="a", answered=True))),
        (RunCase(run=ASKED), RunCase(run=Run(user_inputs=("q",), loose_calls=(RETURNED,)))),
        (RunCase(run=ASKED), RunCase(run=Run(user_inputs=("q",), partial=True))),
        (RunCase(run=ASKED), RunCase(run=replace(ASKED, plans=(PLAN,)))),
        (RunCase(run=ASKED), RunCase(run=replace(ASKED, delegations=(Delegation(turns=(0,)),)))),
        (on(turn(0, 1, tools=[Tool(name="look_up")])), on(turn(0, 1, tools=[SPECIFIED]))),
        (
            CallsCase(run=ASKED, calls=(replace(CALLED, offered=(Tool(name="look_up"),)),)),
            CallsCase(run=ASKED, calls=(replace(CALLED, offered=(SPECIFIED,)),)),
        ),
    ],
)
def test_more_of_a_case_is_seen(less: Case, more: Case) -> None:
    assert inputs_of(less) != inputs_of(more)
    assert inputs_of(less) == inputs_of(less)


def test_a_step_does_not_change_because_the_run_goes_on() -> None:
    longer = Run(user_inputs=("q", "r"), turns=(turn(0, 1, RETURNED), turn(1, 4)), partial=True)
    assert inputs_of(on(turn(0, 1, RETURNED))) == inputs_of(on(turn(0, 1, RETURNED), longer))
    handled = ResponseCase(run=ASKED, calls=(RETURNED,), turn=turn(1, 3))
    assert inputs_of(handled) == inputs_of(
        ResponseCase(run=longer, calls=(RETURNED,), turn=turn(1, 3), later=(turn(2, 4),))
    )


def test_what_should_have_come_of_a_run_is_part_of_what_its_verdict_rests_on() -> None:
    inputs = [inputs_of(RunCase(run=Run(), reference=one)) for one in (None, Reference(), Reference(outcome="x"))]
    assert len(set(inputs)) == 3


def verdict(**changed: object) -> Verdict:
    fields: dict[str, object] = {
        "evaluator": "e",
        "level": Level.SPAN,
        "status": Status.OK,
        "score": 0.0,
        "passed": False,
        "label": "incorrect",
    }
    return Verdict(**{**fields, **changed})  # type: ignore[arg-type]


def test_another_wording_is_the_same_outcome() -> None:
    assert outcome_of(verdict(explanation="one way")) == outcome_of(verdict(explanation="another way"))


def test_another_score_or_another_issue_is_another_outcome() -> None:
    outcomes = {
        outcome_of(verdict()),
        outcome_of(verdict(score=0.5)),
        outcome_of(verdict(score=1.0, passed=True, label="correct")),
        outcome_of(verdict(issues=(issue(IssueCode.LEAK, "x"),))),
        outcome_of(Verdict(evaluator="e", level=Level.SPAN, status=Status.NEEDS_JUDGE)),
    }
    assert len(outcomes) == 5
