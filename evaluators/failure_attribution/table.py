"""Whose fault it was, by the quality of the plan, how it was followed, and what came of it.

| plan | followed | task | label |
|---|---|---|---|
| good | well, or not applicable | done | none |
| good | badly | done | none, and the execution deviated |
| good | | failed | execution |
| poor | well, or not applicable | failed | planning |
| poor | badly | failed | both |
| poor | | done | lucky |
| none to be seen | | failed | execution if a verdict on a tool failed, else not applicable |

A run that did its task without a visible plan has nothing to attribute either: none.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from evaluators.status import Status


class Fault(StrEnum):
    """What a run's failure is put down to."""

    NONE = "none"
    EXECUTION = "execution"
    PLANNING = "planning"
    BOTH = "both"
    LUCKY = "lucky"


@dataclass(frozen=True, slots=True)
class Seen:
    """What is known of one thing: `good` is None if there is nothing to grade, or nobody could (`status` says why)."""

    good: bool | None
    status: Status = Status.OK

    @property
    def is_unknown(self) -> bool:
        """Whether there was something to grade and nobody did."""
        return self.good is None and self.status is not Status.NOT_APPLICABLE


@dataclass(frozen=True, slots=True)
class Attribution:
    """A fault, or the status in its place with the name of what would have to be known."""

    fault: Fault | None
    status: Status = Status.OK
    lacks: str = ""


def attribute(plan: Seen, followed: Seen, done: Seen, tools: Seen) -> Attribution:
    """The row of the table. What would decide between two rows and isn't known leaves it open."""
    if done.good is None:
        return Attribution(None, done.status, "task_completion")
    if plan.is_unknown:
        return Attribution(None, plan.status, "plan_quality")
    if done.good:
        return Attribution(Fault.LUCKY if plan.good is False else Fault.NONE)
    if plan.good:
        return Attribution(Fault.EXECUTION)
    if plan.good is False:
        if followed.is_unknown:
            return Attribution(None, followed.status, "plan_adherence")
        return Attribution(Fault.BOTH if followed.good is False else Fault.PLANNING)
    if tools.good is False:
        return Attribution(Fault.EXECUTION)
    return Attribution(None, tools.status if tools.is_unknown else Status.NOT_APPLICABLE, "tools")


ADVICE = {
    Fault.NONE: "",
    Fault.EXECUTION: "Work on tool schemas and descriptions, on checks of arguments, and on what follows an error.",
    Fault.PLANNING: "Work on what the agent plans from: its prompt, its skills, and worked examples.",
    Fault.BOTH: (
        "Work on what the agent plans from (prompt, skills, worked examples) first, then on execution: tool schemas, "
        "checks of arguments, and what follows an error."
    ),
    Fault.LUCKY: "Don't take this run for an example: its plan was poor. Work on prompt, skills and worked examples.",
}
