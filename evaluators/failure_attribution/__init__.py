"""Failure attribution: whether a run failed by its plan or by how the plan was carried out.

In go the verdicts on a run's plan, on how it was followed, on the outcome and on its tools, out comes a label with
advice.  It is no grade: there is no score.  It judges nothing itself and asks no judge.
"""

from evaluators.failure_attribution.evaluator import FailureAttribution
from evaluators.failure_attribution.settings import FailureAttributionSettings

__all__ = ["FailureAttribution", "FailureAttributionSettings"]
