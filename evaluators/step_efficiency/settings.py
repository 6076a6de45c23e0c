"""What the step efficiency evaluator can be told."""

from __future__ import annotations

from pydantic import Field

from evaluators.run_settings import RunSettings


class StepEfficiencySettings(RunSettings):
    """Threshold, and which tools change something."""

    threshold: float = Field(default=0.9, ge=0.0, le=1.0, description="Lowest score that passes.")
    read_tools: tuple[str, ...] = Field(
        default=(), description="Tools (names or patterns with *) that change nothing, whatever their name suggests."
    )
    write_tools: tuple[str, ...] = Field(
        default=(), description="Tools (names or patterns with *) that change something, whatever their name suggests."
    )
