"""What a judge answers about the goal of a run: one finding per condition, never a score."""

from __future__ import annotations

from functools import lru_cache
from typing import Literal

from pydantic import BaseModel, Field, create_model

Met = Literal["yes", "no", "unknown"]


class Finding(BaseModel):
    """Whether one thing that was expected has come about."""

    shown: str = Field(description="What the record shows of it, in one sentence.")
    evidence: list[str] = Field(description="Where in the run that is shown.")
    met: Met


class Condition(Finding):
    """One condition of the goal, in the user's words."""

    quote: str = Field(description="The user's own words that ask for it, copied exactly.")
    shown: str = Field(description="What the record shows of it, in one sentence.")
    evidence: list[str] = Field(description="Where in the run that is shown.")
    met: Met


class GoalAnswer(BaseModel):
    """The conditions that the user's words contain."""

    conditions: list[Condition] = Field(min_length=1, max_length=20)
    explanation: str = Field(description="At most three sentences on what was and wasn't reached.")


class ReferenceAnswer(BaseModel):
    """One finding per expectation of the reference; subclasses have a field for each, under its name."""

    explanation: str = Field(description="At most three sentences on what was and wasn't reached.")

    def finding(self, name: str) -> Finding:
        """The finding on one expectation."""
        found = getattr(self, name)
        assert isinstance(found, Finding)
        return found


@lru_cache(maxsize=64)
def reference_answer(names: tuple[str, ...]) -> type[ReferenceAnswer]:
    """The answer type for expectations of these names, so that none can be left out or added."""
    fields = {name: (Finding, Field()) for name in names}
    made: type[ReferenceAnswer] = create_model(  # type: ignore[call-overload]
        "ReferenceAnswer", __base__=ReferenceAnswer, **fields
    )
    return made
