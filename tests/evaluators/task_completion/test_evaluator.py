"""Outcome against task: what rules know of it, and the arithmetic on what a judge finds."""

from typing import Any

import pytest
from pydantic import ValidationError

from evaluators.cases import Reference, RunCase, Turn
from evaluators.issues import IssueCode
from evaluators.judge.question import JudgeAnswer
from evaluators.task_completion import TaskCompletion, TaskCompletionSettings
from evaluators.task_completion.answer import TaskCompletionAnswer
from evaluators.verdict import Method, Status, Verdict
from tests.evaluators.runs import call, run_of

EVALUATOR = TaskCompletion()


def by_rules(case: RunCase) -> Verdict:
    return EVALUATOR.conclude_by_rules(EVALUATOR.screen(case))


@pytest.mark.parametrize(
    "case",
    [
        pytest.param(run_of(answer=None, aborted=True, abort_reason="500 from the model"), id="crashed"),
        pytest.param(run_of(answer=None, answered=False), id="closed without an answer"),
        pytest.param(run_of(answer="", aborted=True), id="crashed with an empty answer"),
    ],
)
def test_a_run_that_ended_without_an_answer_fails_by_rule(case: RunCase) -> None:
    verdict = by_rules(case)
    assert (verdict.status, verdict.score, verdict.label, verdict.method) == (Status.OK, 0.0, "fail", Method.RULE)
    assert [(one.code, one.ref) for one in verdict.issues] == [(IssueCode.RUN_ABORTED, "run")]


@pytest.mark.parametrize(
    ("case", "status"),
    [
        pytest.param(run_of(), Status.NEEDS_JUDGE, id="everything is there"),
        pytest.param(run_of(aborted=True), Status.NEEDS_JUDGE, id="crashed after the answer"),
        pytest.param(run_of(answer=None, answered=None), Status.MISSING_INPUT, id="answer not captured"),
        pytest.param(run_of(user_inputs=None), Status.MISSING_INPUT, id="task not captured"),
        pytest.param(run_of(partial=True), Status.MISSING_INPUT, id="part of the trace missing"),
        pytest.param(run_of(answer=None, aborted=True, partial=True), Status.MISSING_INPUT, id="partial and aborted"),
        pytest.param(run_of(call("pay", awaiting_approval=True), answer=None), Status.NOT_APPLICABLE, id="approval"),
    ],
)
def test_everything_else_has_no_score_without_a_judge(case: RunCase, status: Status) -> None:
    verdict = by_rules(case)
    assert (verdict.status, verdict.score, verdict.label) == (status, None, None)


def test_a_cancelled_stream_is_no_crash() -> None:
    case = run_of(answer=None, turns=(Turn(index=0, text="It is", partial=True),))
    assert by_rules(case).status is Status.MISSING_INPUT


def concluded(states: list[str], problems: tuple[str, ...] = (), *, shown: bool = True, **settings: Any) -> Verdict:
    evaluator = TaskCompletion(TaskCompletionSettings(**settings))
    content = TaskCompletionAnswer.model_validate(
        {
            "sub_goals": [
                {"goal": f"g{n}", "outcome": "so", "evidence": [f"t{n}"] if shown else [], "state": state}
                for n, state in enumerate(states)
            ],
            "problems": list(problems),
            "explanation": "So it went.",
        }
    )
    case = run_of()
    return evaluator.conclude(case, evaluator.screen(case), JudgeAnswer(content=content, model="m"))


@pytest.mark.parametrize(
    ("states", "score", "label"),
    [
        (["done"], 1.0, "pass"),
        (["done", "done", "not"], 0.6667, "pass"),
        (["done", "partly"], 0.75, "pass"),
        (["partly"], 0.5, "pass"),
        (["partly", "not"], 0.25, "fail"),
        (["not"], 0.0, "fail"),
        (["done", "unverified"], 1.0, "pass"),
        (["not", "unverified"], 0.0, "fail"),
    ],
)
def test_the_score_is_the_mean_of_the_sub_goals_that_could_be_verified(
    states: list[str], score: float, label: str
) -> None:
    verdict = concluded(states)
    assert (verdict.score, verdict.label) == (score, label)


def test_nothing_verified_is_a_missing_input_and_no_score() -> None:
    verdict = concluded(["unverified", "unverified"])
    assert (verdict.status, verdict.score, verdict.passed) == (Status.MISSING_INPUT, None, None)


def test_what_could_not_be_verified_lowers_the_confidence() -> None:
    sure, less = concluded(["done"]).confidence, concluded(["done", "unverified"]).confidence
    assert sure is not None and less is not None and less < sure


@pytest.mark.parametrize(("states", "score"), [(["done", "done"], 1.0), (["done", "partly"], 0.0)])
def test_strict_is_all_or_nothing(states: list[str], score: float) -> None:
    assert concluded(states, strict=True).score == score


def test_strict_says_nothing_where_a_sub_goal_could_not_be_verified() -> None:
    assert concluded(["done", "unverified"], strict=True).status is Status.MISSING_INPUT
    assert concluded(["not", "unverified"], strict=True).score == 0.0


def test_what_is_said_to_be_reached_and_shown_nowhere_makes_less_sure() -> None:
    shown, claimed = concluded(["done", "not"]).confidence, concluded(["done", "not"], shown=False).confidence
    assert shown is not None and claimed is not None and claimed < shown


def test_what_was_missed_is_an_issue_with_its_place_though_no_problem_was_named() -> None:
    (found,) = concluded(["done", "not"]).issues
    assert (found.code, found.ref) == (IssueCode.MISSING_REQUIREMENT, "t1")


def test_problems_become_issues_and_a_broken_policy_fails_the_run() -> None:
    verdict = concluded(["done"], ("policy_violation",))
    assert (verdict.score, verdict.passed) == (1.0, False)
    assert [one.code for one in concluded(["partly"], ("missing_requirement",)).issues] == [
        IssueCode.MISSING_REQUIREMENT
    ]


def test_problems_may_come_under_the_names_of_other_vocabularies() -> None:
    verdict = concluded(["partly"], ("missing_key_requirement", "wrong_final_answer", "asked_user_when_should_act"))
    assert [one.code for one in verdict.issues] == [
        IssueCode.MISSING_REQUIREMENT,
        IssueCode.WRONG_ANSWER,
        IssueCode.ASKED_INSTEAD_OF_ACTING,
    ]


def test_evidence_and_sub_goals_are_kept() -> None:
    verdict = concluded(["done", "not"])
    assert verdict.evidence == ("t0", "t1")
    assert verdict.details["sub_goals"] == [
        {"goal": "g0", "outcome": "so", "state": "done", "evidence": ["t0"]},
        {"goal": "g1", "outcome": "so", "state": "not", "evidence": ["t1"]},
    ]


@pytest.mark.parametrize(
    "change", [{"sub_goals": []}, {"problems": ["ugly"]}, {"sub_goals": [{"goal": "g", "state": "great"}]}]
)
def test_an_answer_outside_the_fixed_words_is_junk(change: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        TaskCompletionAnswer.model_validate({"sub_goals": [], "problems": [], "explanation": ""} | change)


def test_a_reference_and_a_configured_task_go_into_the_question() -> None:
    reference = Reference(task="Cancel W1.", outcome="W1 is cancelled.", required_outputs=("$50",))
    case = RunCase(run=run_of().run, reference=reference)
    subject = EVALUATOR.question(case, EVALUATOR.screen(case)).subject
    assert all(part in subject for part in ("Cancel W1.", "W1 is cancelled.", "$50"))
    scheduled = TaskCompletion(TaskCompletionSettings(task="Write the nightly report."))
    alone = run_of(user_inputs=None)
    assert scheduled.screen(alone).status is Status.NEEDS_JUDGE
    assert "nightly report" in scheduled.question(alone, scheduled.screen(alone)).subject


def test_another_prompt_threshold_or_model_is_another_revision() -> None:
    strict = TaskCompletion(TaskCompletionSettings(strict=True))
    revisions = {EVALUATOR.revision(), EVALUATOR.revision("m"), strict.revision()}
    assert len(revisions) == 3
