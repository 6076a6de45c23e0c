"""Which of a run's plans are judged: those of its own agents, and of these the ones that hold in the end."""

from __future__ import annotations

from evaluators.cases import Plan, PlanSource, Run


def judged_plans(run: Run, *, use_reasoning: bool) -> list[Plan]:
    """The plans of the run's own agents in order; those of agents that were asked for help are their own affair."""
    theirs = {turn for delegation in run.delegations for turn in delegation.turns}
    return [
        plan
        for plan in run.plans
        if plan.turn not in theirs and (use_reasoning or plan.source is not PlanSource.REASONING)
    ]


def standing_plans(run: Run, *, use_reasoning: bool) -> list[Plan]:
    """Of the judged plans those that were to be followed to the end: not revised later, and no mere delegations."""
    standing: list[Plan] = []
    for plan in judged_plans(run, use_reasoning=use_reasoning):
        if plan.source is PlanSource.DELEGATION:
            continue
        if plan.revises:
            at = max((at for at, earlier in enumerate(standing) if earlier.agent == plan.agent), default=None)
            if at is not None:
                del standing[at]
        standing.append(plan)
    return standing
