"""What each step of a run was worth: needed, helpful, or one of the ways to waste a step.

In go the steps of a run in order, out comes one label per step with the reason.  A step is called wasted only when its
arguments, its outcome and everything between it and its twin are known; what is not known is never waste.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence

from evaluators.rules.effects import Effect
from evaluators.rules.repetition import Step
from evaluators.step_efficiency.changes import Changes, waiting_steps
from evaluators.step_efficiency.repeats import of_repeat
from evaluators.step_efficiency.worth import Label, StepType


def label_steps(steps: Sequence[Step], user_inputs: Sequence[str], used: Sequence[bool | None]) -> list[Label]:
    """One label per step.

    Args:
        steps: the run's tool calls in order.
        user_inputs: what the user said, one per message.
        used: per step whether its result was used later; None when that isn't known.
    """
    earlier: dict[tuple[str, str], list[Step]] = defaultdict(list)
    last_of_tool: dict[tuple[str, str | None], Step] = {}
    changes = Changes(steps)
    waiting = waiting_steps(steps, changes)
    labels: list[Label] = []
    for step in steps:
        twins = [] if step.arguments is None else earlier[step.call.name, step.arguments]
        if twins:
            label = of_repeat(step, twins, changes, user_inputs, waits=step.index in waiting)
        else:
            label = _of_new(step, last_of_tool.get((step.call.name, step.agent)), used[step.index])
        twins.append(step)
        last_of_tool[step.call.name, step.agent] = step
        labels.append(label)
    return labels


def _of_new(step: Step, before: Step | None, used: bool | None) -> Label:
    if before is not None and before.succeeded is False:
        return Label(StepType.JUSTIFIED_RETRY, "The arguments were changed after the failure.", certain=True)
    if before is not None and before.succeeded and step.effect is Effect.READ and _SEARCHES.search(step.call.name):
        return Label(StepType.PROGRESSIVE_SEARCH, "The search went on with other arguments.")
    if step.effect is Effect.WRITE:
        return Label(StepType.REQUIRED, "It changed something that was asked for.")
    if used:
        return Label(StepType.REQUIRED, "Its result was used.")
    return Label(StepType.HELPFUL, "Whether its result was needed can't be told by rule.")


_SEARCHES = re.compile(r"search|find|query|list|grep|glob|browse|look|retrieve|fetch", re.IGNORECASE)
