"""The evaluators of sessions: those of runs, given all runs of a session as one, and told so."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from pydantic import Field

from evaluators.cases import CaseKind, Run, RunCase, SessionCase
from evaluators.criteria import load_criteria
from evaluators.evaluator import Evaluator, EvaluatorSettings, Screening
from evaluators.goal_accuracy import GoalAccuracy, GoalAccuracySettings
from evaluators.judge.question import JudgeAnswer, Question
from evaluators.status import Status
from evaluators.task_completion import TaskCompletion, TaskCompletionSettings
from evaluators.verdict import Level, Verdict


class SessionTaskCompletionSettings(EvaluatorSettings):
    """Threshold and strictness."""

    threshold: float = Field(default=0.5, ge=0.0, le=1.0, description="Lowest score that passes.")
    strict: bool = Field(default=False, description="Score 0 unless every sub-goal is done.")


class SessionGoalAccuracySettings(EvaluatorSettings):
    """Threshold."""


class _OfSession(Evaluator[SessionCase]):
    """Asks the evaluator of runs about a session as if it were one run."""

    judges = CaseKind.SESSION
    level = Level.SESSION
    good_label = "pass"
    bad_label = "fail"

    def __init__(self, settings: EvaluatorSettings, of_runs: Evaluator[RunCase]) -> None:
        super().__init__(settings)
        self._of_runs = of_runs
        self.code_version = f"1+{of_runs.code_version}"

    def criteria(self) -> str:
        """The prompt text: that of the evaluator of runs, and what is different for sessions."""
        return f"{self._of_runs.criteria()}\n\n{load_criteria(__package__ or '')}"

    def screen(self, case: SessionCase) -> Screening:
        """What rules say of every run alike, they say of the session: one that broke off is not the end of it."""
        screened = [self._of_runs.screen(self._as_run(case, run)) for run in case.runs]
        if any(one.status is Status.NEEDS_JUDGE for one in screened):
            return Screening(status=Status.NEEDS_JUDGE, reason="What came of the session needs a judge.")
        return screened[-1]

    def question(self, case: SessionCase, screening: Screening) -> Question:
        """That of the evaluator of runs, about all of them."""
        asked = self._of_runs.question(self._as_run(case, case.run), screening)
        subject = asked.subject.replace("The whole run.", "The whole session.", 1)
        return replace(asked, evaluator=self.name, criteria=self.criteria(), subject=subject)

    def conclude(self, case: SessionCase, screening: Screening, answer: JudgeAnswer) -> Verdict:
        """The verdict of the evaluator of runs, as one on the session."""
        verdict = self._of_runs.conclude(self._as_run(case, case.run), screening, answer)
        return replace(verdict, evaluator=self.name, level=self.level, revision=self.revision())

    def _as_run(self, case: SessionCase, run: Run) -> RunCase:
        return RunCase(run=run, reference=case.reference)


class SessionTaskCompletion(_OfSession):
    """`task_completion` over all runs of a session: mean of sub-goals, done 1, partly 0.5."""

    name = "session_task_completion"

    def __init__(self, settings: SessionTaskCompletionSettings | None = None) -> None:
        chosen = settings or SessionTaskCompletionSettings()
        super().__init__(chosen, TaskCompletion(TaskCompletionSettings(**_common(chosen, "strict"))))


class SessionGoalAccuracy(_OfSession):
    """`goal_accuracy` over all runs of a session: 1 if every condition of the goal is met in the end, else 0."""

    name = "session_goal_accuracy"

    def __init__(self, settings: SessionGoalAccuracySettings | None = None) -> None:
        chosen = settings or SessionGoalAccuracySettings()
        super().__init__(chosen, GoalAccuracy(GoalAccuracySettings(**_common(chosen))))


def _common(settings: EvaluatorSettings, *more: str) -> dict[str, Any]:
    return {name: getattr(settings, name) for name in ("threshold", *more)}
