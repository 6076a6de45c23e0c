"""What evaluators of steps can be told about a run's roll-up: which tools matter most.

These settings change no verdict on a step, and so no revision: only what the steps of a run are summed up to.
"""

from __future__ import annotations

from typing import Annotated, ClassVar

from pydantic import Field

from evaluators.evaluator import EvaluatorSettings

Weight = Annotated[float, Field(gt=0, le=1_000, allow_inf_nan=False)]


class StepSettings(EvaluatorSettings):
    """Settings of the evaluators that judge calls of tools step by step."""

    without_effect: ClassVar[frozenset[str]] = EvaluatorSettings.without_effect | {"critical_tools", "tool_weights"}

    critical_tools: tuple[str, ...] = Field(
        default=(),
        description="Tools (names or patterns with *) whose steps must all pass for `run.critical_passed` to be true.",
    )
    tool_weights: dict[str, Weight] = Field(
        default_factory=dict,
        description=(
            "By tool (name or pattern with *; the first that fits) what a step counts in the mean over a run, else 1. "
            "Say more for tools that do business than for look-ups, and less for those that only observe."
        ),
    )
