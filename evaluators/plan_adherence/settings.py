"""What the plan adherence evaluator can be told."""

from __future__ import annotations

from pydantic import Field

from evaluators.run_settings import PlanSettings


class PlanAdherenceSettings(PlanSettings):
    """Threshold, sub-agents, and whether recorded reasoning counts."""

    threshold: float | None = Field(default=0.5, ge=0.0, le=1.0, description="Lowest score that passes.")
