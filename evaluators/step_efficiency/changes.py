"""What could have changed between two equal calls: by the agent's own doing, or in the world while it waited."""

from __future__ import annotations

from collections.abc import Sequence

from evaluators.plans.kept import keeps_own_plan
from evaluators.rules.effects import Effect
from evaluators.rules.reading import reading_of
from evaluators.rules.repetition import Step

_MAX_BETWEEN = 50
_FEWEST_FIELDS = 4
_SAME_FIELDS = 0.8
# while the agent waits the world goes on
_CHANGING = (Effect.WRITE, Effect.UNKNOWN, Effect.WAIT)


class Changes:
    """Where in the run something may have changed that a later call could see."""

    def __init__(self, steps: Sequence[Step]) -> None:
        self._steps = steps
        # how many calls up to each place may have changed something
        self._count = [0]
        for step in steps:
            self._count.append(self._count[-1] + _may_change(step))

    def between(self, one: Step, other: Step) -> bool:
        """Whether a call strictly between the two may have changed something."""
        return self._count[other.index] - self._count[one.index + 1] > 0

    def unseen(self, one: Step, other: Step) -> bool:
        """Whether a call between the two may have changed something without showing the new state itself.

        A write that answers with the whole record leaves nothing to look up.
        """
        if not self.between(one, other):
            return False
        between = self._steps[one.index + 1 : other.index][-_MAX_BETWEEN:]
        changing = [step for step in between if _may_change(step)]
        return not all(step.effect is Effect.WRITE and _returned_record(step, other) for step in changing)


def _may_change(step: Step) -> bool:
    """Whether a call may have changed something that another one could see; an agent's own notes of its plan don't."""
    return step.effect in _CHANGING and step.succeeded is not False and not keeps_own_plan(step.call)


def waiting_steps(steps: Sequence[Step], changes: Changes) -> set[int]:
    """Steps whose call was made again later and then gave another answer, though the agent had changed nothing."""
    following: dict[tuple[str, str], Step] = {}
    waiting: set[int] = set()
    for step in reversed(steps):
        if step.arguments is None or step.outcome is None:
            continue
        key = (step.call.name, step.arguments)
        later = following.get(key)
        following[key] = step
        if later is None or changes.between(step, later):
            continue
        if later.outcome != step.outcome or later.index in waiting:
            waiting.add(step.index)
    return waiting


def _returned_record(write: Step, read: Step) -> bool:
    """Whether the write answered with the record that the read looks up."""
    returned, looked_up = (reading_of(_content(step)).value for step in (write, read))
    if not isinstance(returned, dict) or not isinstance(looked_up, dict) or len(looked_up) < _FEWEST_FIELDS:
        return False
    return len(looked_up.keys() & returned.keys()) >= _SAME_FIELDS * len(looked_up)


def _content(step: Step) -> str:
    return (step.call.result.content if step.call.result is not None else None) or ""
