"""Workflow compliance: did a travel-planning agent take its seven steps, in order, and each of them well?

In goes a session (or a run, whose history tells what was said before), out come the states of the steps and 100 points
less what was skipped, done poorly or out of order.  All of it is data: `rubric.yaml`.
"""

from __future__ import annotations

from evaluators.cases import CaseKind
from evaluators.rubric import RubricEvaluator, ShippedRubricSettings, shipped_rubric
from evaluators.verdict import Level


class WorkflowCompliance(RubricEvaluator):
    """The seven steps of a travel planner, by rules where calls and fields show them, and by a judge elsewhere."""

    name = "workflow_compliance"
    judges = CaseKind.SESSION
    level = Level.SESSION

    def __init__(self, settings: ShippedRubricSettings | None = None) -> None:
        super().__init__(shipped_rubric(__name__), settings or ShippedRubricSettings())


__all__ = ["WorkflowCompliance"]
