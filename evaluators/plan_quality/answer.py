"""What a judge answers about plans."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, Field

from evaluators.issues import IssueCode

Fault = Literal[
    IssueCode.MISSING_CONSTRAINT,
    IssueCode.MISSING_STEP,
    IssueCode.WRONG_DECOMPOSITION,
    IssueCode.UNAVAILABLE_TOOL,
    IssueCode.OVERCOMPLICATED,
    IssueCode.UNCHECKED_PRECONDITION,
    IssueCode.NO_VERIFICATION,
    IssueCode.NO_ERROR_PATH,
    IssueCode.NO_CONFIRMATION_OR_ROLLBACK,
    IssueCode.WRONG_DELEGATE,
    IssueCode.UNCLEAR_OWNERSHIP,
    IssueCode.NO_INTEGRATION,
    IssueCode.SERIAL_INSTEAD_OF_PARALLEL,
]


class PlanFault(BaseModel):
    """One fault of a plan."""

    plan: int = Field(ge=1, description="Number of the plan.")
    step: int | None = Field(ge=1, description="Number of the step at fault; null when the plan as a whole is.")
    why: str = Field(description="One sentence: what is wrong, and what it would have led to.")
    evidence: list[str] = Field(description="Where the task or the record shows that.")
    fault: Fault


class PlanQualityAnswer(BaseModel):
    """The task's size first, then the faults; an empty list for a sound plan."""

    task: Literal["one_step", "several_steps"]
    faults: list[PlanFault] = Field(max_length=30)
    explanation: str = Field(description="At most three sentences on whether the plan would do the task.")
