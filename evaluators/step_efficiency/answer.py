"""What a judge answers about the economy of a run."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, Field


class Relabelled(BaseModel):
    """One step whose worth is another than the rules found."""

    call_id: str
    why: str = Field(description="One sentence: what makes this step needed or not.")
    evidence: list[str] = Field(description="Where in the run this can be seen.")
    type: Literal["required", "helpful", "progressive_search", "detour", "redundant"]


class StepEfficiencyAnswer(BaseModel):
    """The steps to relabel; none when the rules' labels hold."""

    explanation: str = Field(description="At most three sentences on how economically the run went about its task.")
    relabelled: list[Relabelled]
