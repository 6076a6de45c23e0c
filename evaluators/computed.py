"""Evaluators that never ask a judge: what code can't tell about a case, they don't tell at all.

Published metrics, comparisons with a reference and verdicts that are derived from other verdicts are of this kind.
"""

from __future__ import annotations

from pydantic import Field

from evaluators.evaluator import CaseT, Evaluator, EvaluatorSettings, Screening
from evaluators.judge.question import JudgeAnswer, Question
from evaluators.verdict import Verdict


class ComputedSettings(EvaluatorSettings):
    """What evaluators that ask no judge can be told."""

    judge: None = Field(default=None, description="Always null: no judge is asked.")


class ComputedEvaluator(Evaluator[CaseT]):
    """Base of evaluators that consist of `screen` alone.

    They have no judge to be open for.  One with `needs` may say `needs_judge` all the same, where a verdict that it
    needs is open.
    """

    def question(self, case: CaseT, screening: Screening) -> Question:
        """Never asked: raises TypeError."""
        raise TypeError(f"{self.name} asks no judge")

    def conclude(self, case: CaseT, screening: Screening, answer: JudgeAnswer) -> Verdict:
        """Never answered: raises TypeError."""
        raise TypeError(f"{self.name} asks no judge")

    def criteria(self) -> str:
        """Empty: there is no prompt."""
        return ""
