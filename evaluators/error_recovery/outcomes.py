"""What can become of a tool error, and what that is worth."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from evaluators.issues import IssueCode
from evaluators.rules.repetition import Step


class Outcome(StrEnum):
    """What became of an error. The first two are right, the others faults."""

    RECOVERED = "recovered"
    JUSTIFIED_GIVE_UP = "justified_give_up"
    FUTILE = "futile"
    HIDDEN = "hidden"
    FABRICATED = "fabricated"
    UNRESOLVED = "unresolved"


FAULTS: dict[Outcome, IssueCode] = {
    Outcome.FUTILE: IssueCode.FUTILE_RECOVERY,
    Outcome.HIDDEN: IssueCode.ERROR_HIDDEN,
    Outcome.FABRICATED: IssueCode.FABRICATED_AFTER_FAILURE,
    Outcome.UNRESOLVED: IssueCode.RUN_ABORTED,
}


@dataclass(frozen=True, slots=True)
class Fate:
    """What became of the error of `step`, and why one says so.

    `outcome` None: code can't tell; `suspected` is what it looks like then.  `by` is the step that made good for it.
    `retried` is False where an error that may pass was given up on at once.
    """

    step: Step
    outcome: Outcome | None
    why: str
    suspected: Outcome | None = None
    by: Step | None = None
    retried: bool = True

    @property
    def worth(self) -> float:
        """1 for what is right, 0 for a fault."""
        return 0.0 if self.outcome in FAULTS else 1.0
