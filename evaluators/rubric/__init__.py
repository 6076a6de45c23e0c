"""Rubrics: evaluators that are data.

In goes a rubric (checks with codes, severities and prices) and a run or session; out comes what was violated, by rules
where the trace can show it and by a judge elsewhere, each with a quote that stands in the run, and points that code
works out from it.  A judge never gives points, and a finding without a true quote is none.
"""

from evaluators.rubric.evaluator import RubricEvaluator, own_rubric
from evaluators.rubric.files import read_rubric, shipped_rubric
from evaluators.rubric.model import Rubric
from evaluators.rubric.settings import RubricSettings, ShippedRubricSettings

__all__ = [
    "Rubric",
    "RubricEvaluator",
    "RubricSettings",
    "ShippedRubricSettings",
    "own_rubric",
    "read_rubric",
    "shipped_rubric",
]
