"""What a step can be worth, and which of that is waste."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from evaluators.issues import IssueCode


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
    """The type of a step and why.

    `certain` is False where only a model could tell whether it was needed; `doubtful` says that it repeats an earlier
    look-up, and whether that brought anything new was not captured.
    """

    type: StepType
    why: str
    certain: bool = False
    doubtful: bool = False

    @property
    def wasted(self) -> bool:
        """Whether the step counts as waste."""
        return self.type in WASTE
