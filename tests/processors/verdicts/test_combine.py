"""Several cases on one span become one verdict."""

from __future__ import annotations

from dataclasses import replace

import pytest

from evaluators.issues import IssueCode
from evaluators.verdict import CallVerdict, Level, Method, Status, Usage, Verdict, issue
from processors.verdicts.combine import combine


def scored(score: float, *, calls: int = 1, method: Method = Method.RULE, **more: object) -> Verdict:
    passed = score == 1.0
    return Verdict(
        evaluator="tool_invocation",
        level=Level.SPAN,
        status=Status.OK,
        score=score,
        passed=passed,
        label="correct" if passed else "incorrect",
        calls=tuple(CallVerdict(call_id=f"c{n}", label="correct") for n in range(calls)),
        method=method,
        **more,  # type: ignore[arg-type]
    )


def unscored(status: Status) -> Verdict:
    return Verdict(evaluator="tool_invocation", level=Level.SPAN, status=status)


def test_a_single_verdict_stays_as_it_is() -> None:
    only = scored(1.0)
    assert combine([only]) is only


def test_the_score_is_weighted_by_judged_calls() -> None:
    assert combine([scored(1.0, calls=3), scored(0.0)]).score == 0.75


def test_one_failure_fails_the_whole_and_explains_it() -> None:
    both = combine([scored(1.0, explanation="fine"), scored(0.0, explanation="wrong unit")])
    assert (both.passed, both.label, both.explanation) == (False, "incorrect", "wrong unit")


def test_that_nothing_checked_a_part_is_true_of_the_whole() -> None:
    both = combine([scored(0.0, details={"steps": 1}), scored(1.0, details={"control": "not_checked"})])
    assert both.details == {"steps": 1, "control": "not_checked"}


def test_cases_to_which_it_does_not_apply_do_not_count() -> None:
    both = combine([unscored(Status.NOT_APPLICABLE), scored(1.0, confidence=0.9, explanation="fine")])
    assert (both.score, both.confidence, both.explanation) == (1.0, 0.9, "fine")


def test_what_was_judged_stands_less_surely_beside_what_was_not_captured() -> None:
    both = combine([unscored(Status.MISSING_INPUT), scored(1.0, confidence=0.9, explanation="fine.")])
    assert (both.score, both.passed, both.confidence) == (1.0, True, 0.7)
    assert both.explanation == "fine. 1 of the 2 parts of this span could not be judged (missing_input)."


NOT_DECIDED = (
    Status.JUDGE_ERROR,
    Status.TIMED_OUT,
    Status.OVER_BUDGET,
    Status.TOO_LARGE,
    Status.NEEDS_JUDGE,
    Status.SAMPLED_OUT,
)


@pytest.mark.parametrize("status", NOT_DECIDED)
def test_a_part_that_no_judge_decided_keeps_the_whole_from_passing(status: Status) -> None:
    suspected = replace(
        unscored(status), explanation="No answer.", issues=(issue(IssueCode.WRONG_VALUE, "odd", conclusive=False),)
    )
    both = combine([scored(1.0), suspected])
    assert (both.status, both.score, both.passed) == (status, None, None)
    assert both.explanation == f"No answer. 1 of the 2 parts of this span could not be judged ({status})."
    assert [found.code for found in both.issues] == [IssueCode.WRONG_VALUE]


@pytest.mark.parametrize("status", NOT_DECIDED)
def test_a_failure_stands_whatever_would_have_come_of_the_rest_and_says_what_was_not_judged(status: Status) -> None:
    both = combine([unscored(status), scored(0.0, explanation="Wrong unit."), scored(1.0)])
    assert (both.status, both.passed, both.score) == (Status.OK, False, 0.5)
    assert both.explanation == f"Wrong unit. 1 of the 3 parts of this span could not be judged ({status})."


def test_of_several_reasons_the_one_that_an_operator_has_to_know_speaks() -> None:
    parts = [unscored(Status.NEEDS_JUDGE), scored(1.0), unscored(Status.JUDGE_ERROR), unscored(Status.MISSING_INPUT)]
    assert combine(parts).status is Status.JUDGE_ERROR


def test_without_any_score_what_could_have_been_judged_speaks() -> None:
    assert combine([unscored(Status.MISSING_INPUT), unscored(Status.NEEDS_JUDGE)]).status is Status.NEEDS_JUDGE
    assert combine([unscored(Status.NOT_APPLICABLE), unscored(Status.MISSING_INPUT)]).status is Status.MISSING_INPUT


def test_confidence_is_that_of_the_least_sure_and_a_judge_is_never_hidden() -> None:
    both = combine([scored(1.0, confidence=1.0), scored(1.0, confidence=0.6, method=Method.JUDGE, model="m")])
    assert (both.confidence, both.method, both.model) == (0.6, Method.JUDGE, "m")


def test_costs_add_up_and_unreported_tokens_stay_unreported() -> None:
    both = combine([scored(1.0, usage=Usage(requests=1, prompt_chars=10)), scored(1.0, usage=Usage(requests=1))])
    assert both.usage == Usage(requests=2, prompt_chars=10)


def test_issues_of_all_cases_are_kept() -> None:
    found = [scored(0.0, issues=(issue(code, "x"),)) for code in (IssueCode.WRONG_TYPE, IssueCode.PATTERN)]
    assert [one.code for one in combine(found).issues] == [IssueCode.WRONG_TYPE, IssueCode.PATTERN]
