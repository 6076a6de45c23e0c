"""Whether a run has a plan that can be judged, for all evaluators of plans."""

from __future__ import annotations

from collections.abc import Sequence

from evaluators.cases import Plan, RunCase
from evaluators.evaluator import Screening
from evaluators.rules.inputs import has_user_input
from evaluators.verdict import Status

FEWEST_STEPS = 2


def why_no_plan(case: RunCase, plans: Sequence[Plan]) -> Screening | None:
    """Why there is nothing to judge; None when there is a plan of several steps and a task.

    Where nothing of what the agent said was captured, nobody knows whether it had a plan.
    """
    run = case.run
    task = case.reference.task if case.reference is not None else None
    if not task and not has_user_input(run, run.turns[0] if run.turns else None):
        return Screening(status=Status.MISSING_INPUT, reason="What the user asked for was not captured.")
    if not plans:
        if run.turns and all(turn.text is None and not turn.calls for turn in run.turns):
            return Screening(status=Status.MISSING_INPUT, reason="What the agent said was not captured.")
        return Screening(status=Status.NOT_APPLICABLE, reason="The agent made no plan that can be seen.")
    if all(len(plan.steps) < FEWEST_STEPS for plan in plans):
        return Screening(status=Status.NOT_APPLICABLE, reason="The plan has a single step.")
    return None
