"""Judges what an agent delivered: text, code, designs, data, against its task, with red lines, grades and a report."""

from evaluators.qa_judge.evaluator import QaJudge
from evaluators.qa_judge.protocol import Judgment
from evaluators.qa_judge.settings import QaJudgeSettings

__all__ = ["Judgment", "QaJudge", "QaJudgeSettings"]
