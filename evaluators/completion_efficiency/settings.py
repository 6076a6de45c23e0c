"""What this evaluator can be told: nothing beyond what all can, and no threshold."""

from __future__ import annotations

from pydantic import Field

from evaluators.computed import ComputedSettings


class CompletionEfficiencySettings(ComputedSettings):
    """A category has no score that could be held against a threshold; those of its sources decide."""

    threshold: None = Field(default=None, description="Always null: a category has no score.")
