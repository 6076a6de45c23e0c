"""Several cases on one span become one verdict."""

from __future__ import annotations

from evaluators.issues import IssueCode
from evaluators.verdict import CallVerdict, Level, Method, Status, Usage, Verdict, issue
from processors.combine import combine


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


def test_cases_without_a_score_do_not_count() -> None:
    assert combine([unscored(Status.MISSING_INPUT), scored(1.0)]).score == 1.0


def test_without_any_score_the_first_reason_stands() -> None:
    assert combine([unscored(Status.NEEDS_JUDGE), unscored(Status.MISSING_INPUT)]).status is Status.NEEDS_JUDGE


def test_confidence_is_that_of_the_least_sure_and_a_judge_is_never_hidden() -> None:
    both = combine([scored(1.0, confidence=1.0), scored(1.0, confidence=0.6, method=Method.JUDGE, model="m")])
    assert (both.confidence, both.method, both.model) == (0.6, Method.JUDGE, "m")


def test_costs_add_up_and_unreported_tokens_stay_unreported() -> None:
    both = combine([scored(1.0, usage=Usage(requests=1, prompt_chars=10)), scored(1.0, usage=Usage(requests=1))])
    assert both.usage == Usage(requests=2, prompt_chars=10)


def test_issues_of_all_cases_are_kept() -> None:
    found = [scored(0.0, issues=(issue(code, "x"),)) for code in (IssueCode.WRONG_TYPE, IssueCode.PATTERN)]
    assert [one.code for one in combine(found).issues] == [IssueCode.WRONG_TYPE, IssueCode.PATTERN]
