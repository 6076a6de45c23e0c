"""What a judge answers about the outcome of a run."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, Field

from evaluators.issues import CODE_ALIASES, IssueCode

Problem = Literal[
    IssueCode.MISSING_REQUIREMENT,
    IssueCode.WRONG_ANSWER,
    IssueCode.TOOL_RESULT_IGNORED,
    IssueCode.ASKED_INSTEAD_OF_ACTING,
    IssueCode.UNSUPPORTED_CLAIM,
    IssueCode.GAVE_UP,
    IssueCode.POLICY_VIOLATION,
]


def _own_name(code: object) -> object:
    return CODE_ALIASES.get(code, code) if isinstance(code, str) else code


class SubGoal(BaseModel):
    """One thing the user wanted, and how far it was reached."""

    goal: str = Field(description="What had to be achieved, in a few words.")
    outcome: str = Field(description="What the record shows of it, in one sentence.")
    evidence: list[str] = Field(description="Where in the run that is shown.")
    state: Literal["done", "partly", "not", "unverified"]


class TaskCompletionAnswer(BaseModel):
    """Sub-goals first, then what went wrong."""

    sub_goals: list[SubGoal] = Field(min_length=1, max_length=20)
    problems: list[Annotated[Problem, BeforeValidator(_own_name)]]
    explanation: str = Field(description="At most three sentences on what was and wasn't achieved.")
