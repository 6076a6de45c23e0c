"""What the task completion evaluator can be told."""

from __future__ import annotations

from pydantic import Field

from evaluators.run_settings import RunSettings


class TaskCompletionSettings(RunSettings):
    """Threshold, strictness, and a task that is the same for every run."""

    threshold: float = Field(default=0.5, ge=0.0, le=1.0, description="Lowest score that passes.")
    strict: bool = Field(default=False, description="Score 0 unless every sub-goal is done.")
    task: str | None = Field(
        default=None, description="The task of every run, when it isn't what the user says (an agent on a schedule)."
    )
