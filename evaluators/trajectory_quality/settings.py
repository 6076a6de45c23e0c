"""What the trajectory quality evaluator can be told."""

from __future__ import annotations

from pydantic import Field

from evaluators.computed import ComputedSettings


class TrajectoryQualitySettings(ComputedSettings):
    """Threshold, and what no run can do without."""

    threshold: float = Field(default=0.5, ge=0.0, le=1.0, description="Lowest score that passes.")
    key_actions: tuple[str, ...] = Field(
        default=(),
        description="Tools (names or patterns with *) that every good run calls; where a reference names some, those.",
    )
