"""Output quality: is a travel plan complete, honest about what was verified, and in the form that was asked for?

In goes a run whose agent puts out a plan with the records of its verification, out come 100 points less what is
missing, unmarked, invented or malformed.  All of it is data: `rubric.yaml`.
"""

from __future__ import annotations

from evaluators.cases import CaseKind
from evaluators.rubric import RubricEvaluator, ShippedRubricSettings, shipped_rubric
from evaluators.verdict import Level


class OutputQuality(RubricEvaluator):
    """The plan that a travel planner puts out, by rules where text and records show it, and by a judge elsewhere."""

    name = "output_quality"
    judges = CaseKind.RUN
    level = Level.TRACE

    def __init__(self, settings: ShippedRubricSettings | None = None) -> None:
        super().__init__(shipped_rubric(__name__), settings or ShippedRubricSettings())


__all__ = ["OutputQuality"]
