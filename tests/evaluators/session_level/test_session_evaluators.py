"""Sessions: judged as a whole, by what the user wanted over all of their runs."""

from __future__ import annotations

import pytest

from evaluators.cases import Reference, Run, Turn
from evaluators.evaluation import Item, evaluate, judge_by_rules
from evaluators.goal_accuracy.answer import GoalAnswer
from evaluators.judge.client import OpenAIJudge
from evaluators.judge.question import JudgeAnswer
from evaluators.judge.settings import JudgeSettings
from evaluators.session_level import (
    SessionGoalAccuracy,
    SessionTaskCompletion,
    SessionTaskCompletionSettings,
)
from evaluators.sessions import session_case
from evaluators.task_completion import TaskCompletion
from evaluators.task_completion.answer import TaskCompletionAnswer
from evaluators.verdict import Level, Method, Status
from tests.evaluators.judge_server import JudgeServer


def run(number: int, *, answer: str | None = "There you are.", aborted: bool = False, asked: bool = True) -> Run:
    return Run(
        turns=(Turn(index=0, text=answer, ref=f"t{number}", context=()),),
        user_inputs=(f"wish {number}",) if asked else None,
        final_answer=answer,
        answered=answer is not None,
        aborted=aborted,
        ref=f"r{number}",
    )


def completion(*states: str) -> JudgeAnswer:
    goals = [{"goal": "g", "outcome": "o", "evidence": [], "state": state} for state in states]
    content = TaskCompletionAnswer.model_validate({"sub_goals": goals, "problems": [], "explanation": "Half of it."})
    return JudgeAnswer(content=content, model="m")


def test_the_session_needs_a_judge_and_is_asked_about_as_a_session() -> None:
    evaluator, case = SessionTaskCompletion(), session_case([run(1), run(2)])
    screening = evaluator.screen(case)
    assert screening.status is Status.NEEDS_JUDGE
    question = evaluator.question(case, screening)
    assert question.evaluator == "session_task_completion"
    assert question.subject.startswith("The whole session.")
    assert "whole session" in question.criteria and "sub-goals" in question.criteria


def test_the_score_is_the_mean_over_the_sub_goals_of_all_runs() -> None:
    evaluator, case = SessionTaskCompletion(), session_case([run(1), run(2)])
    verdict = evaluator.conclude(case, evaluator.screen(case), completion("done", "not", "partly"))
    assert (verdict.evaluator, verdict.level) == ("session_task_completion", Level.SESSION)
    assert (verdict.score, verdict.label, verdict.passed) == (0.5, "pass", True)


def test_threshold_and_strictness_are_those_of_the_session() -> None:
    evaluator = SessionTaskCompletion(SessionTaskCompletionSettings(strict=True, threshold=0.9))
    case = session_case([run(1)])
    verdict = evaluator.conclude(case, evaluator.screen(case), completion("done", "partly"))
    assert (verdict.score, verdict.label) == (0.0, "fail")


@pytest.mark.parametrize(
    ("runs", "status", "label"),
    [
        ([run(1, answer=None, aborted=True)], Status.OK, "fail"),
        ([run(1, answer=None, aborted=True), run(2, answer=None, aborted=True)], Status.OK, "fail"),
        ([run(1, answer=None, aborted=True), run(2)], Status.NEEDS_JUDGE, None),
        ([run(1), run(2, answer=None, aborted=True)], Status.NEEDS_JUDGE, None),
        ([run(1, asked=False)], Status.MISSING_INPUT, None),
        ([run(1, asked=False), run(2)], Status.NEEDS_JUDGE, None),
    ],
)
def test_rules_decide_only_what_is_true_of_every_run(runs: list[Run], status: Status, label: str | None) -> None:
    for evaluator in (SessionTaskCompletion(), SessionGoalAccuracy()):
        verdict = judge_by_rules(evaluator, session_case(runs))
        assert (verdict.evaluator, verdict.status, verdict.label) == (evaluator.name, status, label)


def test_a_reference_of_the_session_is_what_it_is_held_against() -> None:
    evaluator = SessionGoalAccuracy()
    case = session_case([run(1), run(2)], Reference(outcome="Both wishes are granted."))
    question = evaluator.question(case, evaluator.screen(case))
    assert "Both wishes are granted." in question.subject
    assert question.answer_type is not GoalAnswer


def test_a_change_of_the_evaluator_of_runs_changes_the_revision_of_that_of_sessions() -> None:
    evaluator = SessionTaskCompletion()
    assert evaluator.code_version.endswith(TaskCompletion.code_version)
    assert evaluator.revision() != SessionGoalAccuracy().revision()
    assert evaluator.revision() != SessionTaskCompletion(SessionTaskCompletionSettings(strict=True)).revision()


async def test_both_evaluators_of_a_session_share_one_request() -> None:
    case = session_case([run(1), run(2)])
    async with JudgeServer() as server:
        judge = OpenAIJudge(JudgeSettings(model="m", base_url=server.base_url))
        verdicts = await evaluate(
            [Item(SessionTaskCompletion(), case, judge), Item(SessionGoalAccuracy(), case, judge)]
        )
        await judge.close()
    assert len(server.received) == 1
    assert {verdict.level for verdict in verdicts} == {Level.SESSION}
    assert all(verdict.method is Method.JUDGE or verdict.status is Status.MISSING_INPUT for verdict in verdicts)
    for words in ("wish 1", "wish 2"):
        assert server.received[0].user.count(words) >= 1
