"""Plans in the words of a question to a judge."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from evaluators.cases import Plan, PlanSource, PlanStep
from evaluators.judge.question import call_name, turn_name

_WHERE = {
    PlanSource.TEXT: "announced",
    PlanSource.LIST: "put down as a list",
    PlanSource.SPAN: "made in a planning step",
    PlanSource.DELEGATION: "handed out as tasks",
    PlanSource.REASONING: "thought, not said,",
}


def plans_told(plans: Sequence[Plan], *, through: bool = False) -> str:
    """Numbered plans with numbered steps, and when each was made.

    Steps are numbered within each plan; `through` counts them through all plans.
    """
    lines: list[str] = []
    first = 1
    for number, plan in enumerate(plans, 1):
        lines += _plan(number, plan, first)
        first = first + len(plan.steps) if through else 1
    return "\n".join(lines)


def _plan(number: int, plan: Plan, first: int) -> Iterable[str]:
    when = "before the first turn" if plan.turn < 0 else f"at {turn_name(plan.turn)}"
    change = ", in place of the one before" if plan.revises else ""
    yield f"Plan {number}, {_WHERE[plan.source]} {when}{change}:"
    yield from (f"{at}. {_step(step)}" for at, step in enumerate(plan.steps, first))


def _step(step: PlanStep) -> str:
    owner = f" (for {step.owner})" if step.owner else ""
    by = f" ({call_name(step.call_id)})" if step.call_id else ""
    return f"{step.text}{owner}{by}"
