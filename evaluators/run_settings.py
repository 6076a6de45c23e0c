"""What evaluators of whole runs can be told besides threshold and judge."""

from __future__ import annotations

from pydantic import Field

from evaluators.evaluator import EvaluatorSettings


class RunSettings(EvaluatorSettings):
    """For evaluators that can judge the work of sub-agents as runs of their own."""

    per_agent: bool = Field(
        default=False,
        description="Judge the work of every agent that another one asked as a run of its own too, "
        "by the task it was given; the verdict stands on the agent's span.",
    )


class PlanSettings(RunSettings):
    """For evaluators of plans."""

    use_reasoning: bool = Field(
        default=False,
        description="Also take plans from a model's recorded reasoning; else only what the agent put down for others.",
    )
