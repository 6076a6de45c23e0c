"""What a judge answers about the errors that rules left open, one answer per failed call."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, Field


class FailedCall(BaseModel):
    """What became of one failed call."""

    call_id: str
    reasoning: str = Field(description="What followed the error, and what the user was told of it, in two sentences.")
    outcome: Literal["recovered", "justified_give_up", "futile", "hidden", "fabricated"]


class ErrorRecoveryAnswer(BaseModel):
    """One entry per failed call that was asked about."""

    calls: list[FailedCall]
    explanation: str = Field(description="At most three sentences for the person who reads the score.")
