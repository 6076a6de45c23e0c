"""What the tool response handling evaluator can be told."""

from __future__ import annotations

from pydantic import Field

from evaluators.step_settings import StepSettings


class ToolResponseHandlingSettings(StepSettings):
    """Threshold, hosts that users may see, and which tools change something."""

    internal_hosts: tuple[str, ...] = Field(
        default=(), description="Internal hosts (names or patterns with *) that may be shown to users all the same."
    )
    read_tools: tuple[str, ...] = Field(
        default=(), description="Tools (names or patterns with *) that change nothing, whatever their name suggests."
    )
    write_tools: tuple[str, ...] = Field(
        default=(), description="Tools (names or patterns with *) that change something, whatever their name suggests."
    )
