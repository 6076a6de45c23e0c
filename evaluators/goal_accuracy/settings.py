"""What the goal accuracy evaluator can be told."""

from __future__ import annotations

from pydantic import Field

from evaluators.run_settings import RunSettings


class GoalAccuracySettings(RunSettings):
    """Threshold, and a task that is the same for every run."""

    task: str | None = Field(
        default=None, description="The task of every run, when it isn't what the user says (an agent on a schedule)."
    )
