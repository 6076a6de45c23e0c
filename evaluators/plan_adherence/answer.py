"""What a judge answers about how a plan was followed: one entry for each of its steps."""

from __future__ import annotations

from enum import StrEnum
from functools import lru_cache
from typing import Annotated, Self

from pydantic import BaseModel, Field, create_model, model_validator


class StepOutcome(StrEnum):
    """What became of a planned step."""

    FOLLOWED = "followed"
    PARTLY = "partly"
    SKIPPED = "skipped"
    REORDERED = "reordered"
    NOT_DUE = "not_due"
    UNVERIFIED = "unverified"


class JudgedStep(BaseModel):
    """A step of the plan and what became of it."""

    step: int = Field(ge=1, description="Number of the step.")
    why: str = Field(description="One sentence: what the record shows of it.")
    evidence: list[str] = Field(description="Where it was done, or where it should have been.")
    outcome: StepOutcome


class AddedStep(BaseModel):
    """A call that no step of the plan covers."""

    call_id: str
    why: str = Field(description="One sentence: why neither plan nor results called for it.")
    evidence: list[str]


class PlanAdherenceAnswer(BaseModel):
    """The steps in order, then what was added."""

    steps: list[JudgedStep]
    added: list[AddedStep] = Field(max_length=30)
    explanation: str = Field(description="At most three sentences on how the plan was followed.")

    @model_validator(mode="after")
    def _names_each_step_once(self) -> Self:
        if [one.step for one in self.steps] != list(range(1, len(self.steps) + 1)):
            raise ValueError("steps has to hold every step of the plan once, in order")
        return self


@lru_cache(maxsize=64)
def answer_for(steps: int) -> type[PlanAdherenceAnswer]:
    """The type of an answer about a plan of so many steps: any other number of entries is no answer."""
    return create_model(
        "PlanAdherenceAnswer",
        __base__=PlanAdherenceAnswer,
        steps=(Annotated[list[JudgedStep], Field(min_length=steps, max_length=steps)], ...),
    )
