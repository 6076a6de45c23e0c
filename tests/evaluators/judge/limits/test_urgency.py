"""What failed is asked about first, then what rules suspect."""

from __future__ import annotations

from dataclasses import replace

from evaluators.judge.limits.line import Urgency
from evaluators.judge.limits.urgency import most_urgent
from tests.evaluators.judge_cases import CALLS, choice, goals, invocation, six_steps

_RUN = six_steps()
_CLEAN = replace(_RUN, turns=tuple(replace(turn, calls=(), answers=()) for turn in _RUN.turns))


def test_a_question_about_a_failed_call_goes_first() -> None:
    assert most_urgent(_RUN, [invocation(CALLS[0])]) is Urgency.FAILURE


def test_a_question_about_another_call_of_that_run_does_not() -> None:
    assert most_urgent(_RUN, [replace(invocation(CALLS[1]), findings=())]) is Urgency.SAMPLE


def test_a_question_about_a_run_in_which_something_failed_goes_first() -> None:
    assert most_urgent(_RUN, [goals()]) is Urgency.FAILURE
    assert most_urgent(replace(_CLEAN, aborted=True), [goals()]) is Urgency.FAILURE
    assert most_urgent(_CLEAN, [goals()]) is Urgency.SAMPLE


def test_a_suspicion_goes_before_what_nothing_is_known_of() -> None:
    suspected = replace(choice(1), findings=("the date is unusual",))
    assert most_urgent(_CLEAN, [choice(0), suspected]) is Urgency.SUSPICION
    assert most_urgent(_CLEAN, [choice(0)]) is Urgency.SAMPLE
    assert most_urgent(_CLEAN, []) is Urgency.SAMPLE
