"""The task completion evaluator: aborted runs by rule, outcomes by a judge, the score by arithmetic."""

from __future__ import annotations

import json
from collections.abc import Sequence

from evaluators.cases import CaseKind, JsonValue, Reference, Run, RunCase
from evaluators.criteria import load_criteria
from evaluators.evaluator import Evaluator, Screening
from evaluators.issues import IssueCode
from evaluators.judge.question import JudgeAnswer, Question
from evaluators.rules.inputs import has_places
from evaluators.run_ends import without_outcome
from evaluators.task_completion.answer import SubGoal, TaskCompletionAnswer
from evaluators.task_completion.settings import TaskCompletionSettings
from evaluators.verdict import Issue, Level, Method, Status, Verdict, issue

_WORTH = {"done": 1.0, "partly": 0.5, "not": 0.0}
_BY_JUDGE, _LESS_WHEN_CUT, _LESS_PER_UNVERIFIED, _LESS_PER_UNSHOWN = 0.8, 0.2, 0.3, 0.2
_MAX_REFERENCE_CHARS = 6_000


class TaskCompletion(Evaluator[RunCase]):
    """DeepEval's TaskCompletion with the arithmetic taken from the model: mean of sub-goals, done 1, partly 0.5."""

    name = "task_completion"
    judges = CaseKind.RUN
    level = Level.TRACE
    good_label = "pass"
    bad_label = "fail"
    code_version = "2"

    def __init__(self, settings: TaskCompletionSettings | None = None) -> None:
        super().__init__(settings or TaskCompletionSettings())
        self._task = (settings or TaskCompletionSettings()).task
        self._strict = (settings or TaskCompletionSettings()).strict

    def criteria(self) -> str:
        """The prompt text."""
        return load_criteria(__package__ or "")

    def screen(self, case: RunCase) -> Screening:
        """Fail a run that is known to have ended without an answer; everything else needs a judge."""
        broken_off = without_outcome(case.run, task_known=bool(self._given_task(case)))
        return broken_off or Screening(status=Status.NEEDS_JUDGE, reason="Whether the task was done needs a judge.")

    def question(self, case: RunCase, screening: Screening) -> Question:
        """Sub-goals and their outcomes."""
        task = self._given_task(case)
        parts = ["The whole run."]
        if task:
            parts.append(f"The task, as given from outside the run: {task}")
        if case.reference is not None:
            parts += _of_reference(case.reference)
        return Question(
            evaluator=self.name, criteria=self.criteria(), subject="\n".join(parts), answer_type=TaskCompletionAnswer
        )

    def conclude(self, case: RunCase, screening: Screening, answer: JudgeAnswer) -> Verdict:
        """The mean of the sub-goals that could be verified; no score when none could."""
        content = answer.content
        if not isinstance(content, TaskCompletionAnswer):
            raise TypeError(f"{self.name}: the answer is a {type(content).__name__}")
        known = [goal for goal in content.sub_goals if goal.state != "unverified"]
        told: dict[str, JsonValue] = {"sub_goals": [_told(goal) for goal in content.sub_goals]}
        if case.reference is not None:
            told["reference"] = case.reference.source
        evidence = tuple(
            dict.fromkeys((*(ref for goal in content.sub_goals for ref in goal.evidence), *answer.evidence))
        )
        if not known:
            empty = Screening(status=Status.MISSING_INPUT, evidence=evidence, details=told)
            return self.unscored(empty, Status.MISSING_INPUT, f"No outcome could be verified: {content.explanation}")
        if self._strict and len(known) < len(content.sub_goals) and task_score(known, strict=True) == 1.0:
            empty = Screening(status=Status.MISSING_INPUT, evidence=evidence, details=told)
            said = "Not every sub-goal could be verified, as strict asks"
            return self.unscored(empty, Status.MISSING_INPUT, f"{said}: {content.explanation}")
        score = task_score(known, strict=self._strict)
        screened = Screening(
            status=Status.OK,
            issues=tuple(_issues(content)),
            evidence=evidence,
            details=told,
        )
        confidence = _BY_JUDGE - _LESS_PER_UNVERIFIED * (1 - len(known) / len(content.sub_goals))
        confidence -= _LESS_PER_UNSHOWN * _share_unshown(case.run, known)
        if answer.input_cut or case.run.truncated:
            confidence -= _LESS_WHEN_CUT
        return self.scored(screened, score, confidence, method=Method.JUDGE, explanation=content.explanation)

    def _given_task(self, case: RunCase) -> str | None:
        """The task from the reference or the configuration; None when it is what the user says in the run."""
        if case.reference is not None and case.reference.task:
            return case.reference.task[:_MAX_REFERENCE_CHARS]
        given = case.options.get("task")
        return given if isinstance(given, str) and given.strip() else self._task


def task_score(goals: Sequence[SubGoal], *, strict: bool) -> float:
    """Mean worth of verified sub-goals (done 1, partly 0.5, not 0); with `strict` 0 unless all are done."""
    score = sum(_WORTH[goal.state] for goal in goals) / len(goals)
    return score if not strict or score == 1.0 else 0.0


def _issues(content: TaskCompletionAnswer) -> list[Issue]:
    """The problems that were named; where none was, what wasn't reached is a requirement that is missing."""
    missed = [goal for goal in content.sub_goals if goal.state in ("partly", "not")]
    detail = "; ".join(f"{goal.goal}: {goal.outcome}" for goal in missed[:3]) or content.explanation
    ref = next((ref for goal in missed for ref in goal.evidence), None)
    codes = dict.fromkeys(IssueCode(code) for code in content.problems)
    if missed and not codes:
        codes = {IssueCode.MISSING_REQUIREMENT: None}
    return [issue(code, detail, ref=ref) for code in codes]


def _share_unshown(run: Run, known: Sequence[SubGoal]) -> float:
    """The share of sub-goals said to be reached of which no place of the run shows it, where it has any."""
    reached = [goal for goal in known if goal.state != "not"]
    if not reached or not has_places(run):
        return 0.0
    return sum(not goal.evidence for goal in reached) / len(reached)


def _told(goal: SubGoal) -> JsonValue:
    return {"goal": goal.goal, "outcome": goal.outcome, "state": goal.state, "evidence": list(goal.evidence)}


def _of_reference(reference: Reference) -> list[str]:
    """What a reference says of the outcome; its task is told apart."""
    told: list[str] = []
    if reference.outcome:
        told.append(f"What should come out, as given from outside the run: {reference.outcome[:_MAX_REFERENCE_CHARS]}")
    calls = [
        {"name": call.name, "arguments": None if call.arguments is None else dict(call.arguments)}
        for call in reference.tool_calls or ()
    ]
    for said, listed in (
        ("Calls that a successful run would have made (others may lead to the same outcome)", calls),
        ("What the answers to the user must have contained", list(reference.required_outputs or ())),
    ):
        if listed:
            told.append(f"{said}: {json.dumps(listed, ensure_ascii=False)[:_MAX_REFERENCE_CHARS]}")
    return told
