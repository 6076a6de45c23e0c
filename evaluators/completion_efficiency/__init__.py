"""Completion and efficiency of a run, side by side: was the task done, and was it done leanly?

In go the verdicts on outcome and steps of one run, out comes one of four labels.  It is no grade, and neither verdict
makes up for the other.
"""

from evaluators.completion_efficiency.evaluator import CompletionEfficiency
from evaluators.completion_efficiency.settings import CompletionEfficiencySettings

__all__ = ["CompletionEfficiency", "CompletionEfficiencySettings"]
