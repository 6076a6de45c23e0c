"""What each step of a run was worth: needed, helpful, or one of the ways to waste a step.

In go the steps of a run in order, out comes one label per step with the reason.  A step is called wasted only when its
arguments, its outcome and everything between it and its twin are known; what is not known is never waste.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from evaluators.issues import IssueCode
from evaluators.rules.effects import Effect
from evaluators.rules.errors import ErrorClass
from evaluators.rules.repetition import Step
from evaluators.rules.structured import structured

FREE_RETRIES = 2
_WAITED_S = 1.0
_STALE_AFTER_S = 300.0
_MAX_BETWEEN = 50
_FEWEST_FIELDS = 4
_SAME_FIELDS = 0.8
_CHANGING = (Effect.WRITE, Effect.UNKNOWN)


class StepType(StrEnum):
    """The worth of a step. The last five are waste."""

    REQUIRED = "required"
    HELPFUL = "helpful"
    JUSTIFIED_RETRY = "justified_retry"
    PROGRESSIVE_SEARCH = "progressive_search"
    REDUNDANT = "redundant"
    UNJUSTIFIED_RETRY = "unjustified_retry"
    DETOUR = "detour"
    DEAD_LOOP = "dead_loop"
    HARMFUL = "harmful"


WASTE: dict[StepType, IssueCode] = {
    StepType.REDUNDANT: IssueCode.REDUNDANT_CALL,
    StepType.UNJUSTIFIED_RETRY: IssueCode.UNJUSTIFIED_RETRY,
    StepType.DETOUR: IssueCode.DETOUR,
    StepType.DEAD_LOOP: IssueCode.DEAD_LOOP,
    StepType.HARMFUL: IssueCode.DUPLICATE_WRITE,
}


@dataclass(frozen=True, slots=True)
class Label:
    """The type of a step and why. `certain` is False where only a model could tell whether it was needed."""

    type: StepType
    why: str
    certain: bool = False

    @property
    def wasted(self) -> bool:
        """Whether the step counts as waste."""
        return self.type in WASTE


def label_steps(steps: Sequence[Step], user_inputs: Sequence[str], used: Sequence[bool | None]) -> list[Label]:
    """One label per step.

    Args:
        steps: the run's tool calls in order.
        user_inputs: what the user said, one per message.
        used: per step whether its result was used later; None when that isn't known.
    """
    earlier: dict[tuple[str, str], list[Step]] = defaultdict(list)
    last_of_tool: dict[tuple[str, str | None], Step] = {}
    changes = _Changes(steps)
    labels: list[Label] = []
    for step in steps:
        label = None
        if step.arguments is not None:
            twins = earlier[step.call.name, step.arguments]
            if twins:
                label = _of_repeat(step, twins, changes, user_inputs)
            twins.append(step)
        if label is None:
            label = _of_new(step, last_of_tool.get((step.call.name, step.agent)), used[step.index])
        last_of_tool[step.call.name, step.agent] = step
        labels.append(label)
    return labels


class _Changes:
    """Where in the run something may have changed that a later call could see."""

    def __init__(self, steps: Sequence[Step]) -> None:
        self._steps = steps
        # how many calls up to each place may have changed something
        self._count = [0]
        for step in steps:
            may_change = step.effect in _CHANGING and step.succeeded is not False
            self._count.append(self._count[-1] + may_change)

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
        changing = [step for step in between if step.effect in _CHANGING and step.succeeded is not False]
        return not all(step.effect is Effect.WRITE and _returned_record(step, other) for step in changing)


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


def _of_repeat(step: Step, twins: list[Step], changes: _Changes, user_inputs: Sequence[str]) -> Label | None:
    last = twins[-1]
    if last.succeeded is None or step.effect is Effect.WAIT:
        return Label(StepType.HELPFUL, "What came of the same call before isn't known.")
    if last.succeeded is False:
        return _of_retry(step, twins, changes)
    if step.effect is Effect.WRITE:
        return _of_repeated_write(step, last, changes, user_inputs)
    return _of_repeated_read(step, twins, changes, user_inputs)


def _of_retry(step: Step, twins: list[Step], changes: _Changes) -> Label:
    last = twins[-1]
    failure = last.error.kind if last.error is not None else ErrorClass.OPAQUE
    if step.succeeded:
        return Label(StepType.JUSTIFIED_RETRY, "The retry succeeded.", certain=True)
    if changes.between(last, step):
        return Label(StepType.JUSTIFIED_RETRY, "Something was done in between that could have helped.", certain=True)
    if step.user_turn != last.user_turn:
        return Label(StepType.JUSTIFIED_RETRY, "The user had spoken in between.", certain=True)
    retries = 0
    for twin in reversed(twins):
        if retries >= _MAX_BETWEEN or twin.succeeded is not False or changes.between(twin, step):
            break
        retries += 1
    if failure is ErrorClass.PERMANENT:
        if retries > FREE_RETRIES:
            return Label(StepType.DEAD_LOOP, f"The same call had failed {retries} times in the same way.", certain=True)
        return Label(
            StepType.UNJUSTIFIED_RETRY,
            "The same call had failed with an error that repeating can't cure.",
            certain=True,
        )
    waited_s = _pause_s(last, step)
    if retries <= FREE_RETRIES or (waited_s is not None and waited_s >= _WAITED_S):
        return Label(StepType.JUSTIFIED_RETRY, "The failure could pass by itself.", certain=True)
    if failure is ErrorClass.TRANSIENT and waited_s is None:
        return Label(StepType.JUSTIFIED_RETRY, "The failure could pass by itself.")
    return Label(
        StepType.UNJUSTIFIED_RETRY, f"The same call had failed {retries} times, and was repeated at once.", certain=True
    )


def _of_repeated_write(step: Step, last: Step, changes: _Changes, user_inputs: Sequence[str]) -> Label | None:
    if not step.succeeded:
        return Label(StepType.HELPFUL, "Whether the second one took effect isn't known.")
    if changes.between(last, step) or step.user_turn != last.user_turn:
        return Label(StepType.HELPFUL, "Something had happened since the same call before.")
    if any(_SEVERAL.search(text[:20_000]) for text in user_inputs):
        return Label(StepType.HELPFUL, "The user may have asked for several.")
    return Label(StepType.HARMFUL, "The same change had already been made.", certain=True)


def _of_repeated_read(step: Step, twins: list[Step], changes: _Changes, user_inputs: Sequence[str]) -> Label | None:
    last = twins[-1]
    if step.outcome is None or last.outcome is None:
        return Label(StepType.HELPFUL, "Whether the answer was the same isn't known.")
    if step.outcome != last.outcome:
        return Label(StepType.HELPFUL, "The answer had changed since the same call before.", certain=True)
    if changes.unseen(last, step):
        return Label(StepType.HELPFUL, "Something was changed since the same call before.", certain=True)
    if step.agent != last.agent:
        return Label(StepType.HELPFUL, "Another agent had made the same call.")
    if step.user_turn != last.user_turn and _asked_again(step, user_inputs):
        return Label(StepType.HELPFUL, "The user asked to look again.", certain=True)
    waited_s = _pause_s(last, step)
    if waited_s is not None and waited_s >= _STALE_AFTER_S:
        return Label(StepType.HELPFUL, "The same call before was long ago.", certain=True)
    if step.effect is Effect.UNKNOWN:
        # it may do something that its answer doesn't tell, so only a stretch of nothing else is a loop
        same = _same_in_a_row(step, twins)
        if same < FREE_RETRIES or not _tells_something(step):
            return Label(StepType.HELPFUL, "Whether the tool changes something isn't known.")
    else:
        same = _same_since_a_change(step, twins, changes)
    if same > FREE_RETRIES:
        return Label(StepType.DEAD_LOOP, f"The same call had given the same answer {same} times.", certain=True)
    return Label(StepType.REDUNDANT, "The same call had already given the same answer.", certain=True)


def _same_since_a_change(step: Step, twins: list[Step], changes: _Changes) -> int:
    """How often the same call had given the same answer since anything may have changed; counted up to 50."""
    same = 0
    for twin in reversed(twins[-_MAX_BETWEEN:]):
        if twin.outcome != step.outcome or changes.unseen(twin, step):
            break
        same += 1
    return same


def _same_in_a_row(step: Step, twins: list[Step]) -> int:
    """How often the same call had given the same answer with no other call in between; counted up to 50."""
    same = 0
    for twin in reversed(twins[-_MAX_BETWEEN:]):
        if twin.outcome != step.outcome or twin.index != step.index - same - 1:
            break
        same += 1
    return same


def _asked_again(step: Step, user_inputs: Sequence[str]) -> bool:
    at = step.user_turn
    if at is None or at >= len(user_inputs):
        return True
    return _AGAIN.search(user_inputs[at][:20_000]) is not None


def _pause_s(one: Step, other: Step) -> float | None:
    """Seconds between the end of one call and the start of the other; None when they weren't measured."""
    first, second = one.call.result, other.call.result
    if first is None or second is None or first.started_s is None or second.started_s is None:
        return None
    return second.started_s - first.started_s - (first.duration_s or 0.0)


def _returned_record(write: Step, read: Step) -> bool:
    """Whether the write answered with the record that the read looks up."""
    records = [structured(step.call.result.content) if step.call.result is not None else None for step in (write, read)]
    returned, looked_up = records
    if not isinstance(returned, dict) or not isinstance(looked_up, dict) or len(looked_up) < _FEWEST_FIELDS:
        return False
    return len(looked_up.keys() & returned.keys()) >= _SAME_FIELDS * len(looked_up)


def _tells_something(step: Step) -> bool:
    """Whether the answer is more than an acknowledgement."""
    content = step.call.result.content if step.call.result is not None else None
    return content is not None and len(content) >= 40


_SEARCHES = re.compile(r"search|find|query|list|grep|glob|browse|look|retrieve|fetch", re.IGNORECASE)
_SEVERAL = re.compile(
    r"\b(?:two|three|four|five|six|seven|eight|nine|ten|twice|both|each|every|another|again|several|multiple|more|"
    r"[2-9]|1\d)\b(?![-/:.,]\d)|\bx ?\d|×|再|又|两|三|几|每|多|都",
    re.IGNORECASE,
)
_AGAIN = re.compile(
    r"\bagain\b|re-?check|refresh|re-?load|re-?try|right now|latest|current|\bstill\b|double.?check|verify|once more|"
    r"any (?:change|news|update)|meanwhile|by now|再|重新|刷新|现在|最新|还是|确认|noch ?mal|erneut|encore|à nouveau|"
    r"otra vez|de nuevo",
    re.IGNORECASE,
)
