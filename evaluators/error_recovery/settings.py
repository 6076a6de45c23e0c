"""What the error recovery evaluator can be told."""

from __future__ import annotations

from pydantic import Field

from evaluators.run_settings import RunSettings


class ErrorRecoverySettings(RunSettings):
    """Threshold, and which tools change something."""

    read_tools: tuple[str, ...] = Field(
        default=(), description="Tools (names or patterns with *) that change nothing, whatever their name suggests."
    )
    write_tools: tuple[str, ...] = Field(
        default=(), description="Tools (names or patterns with *) that change something, whatever their name suggests."
    )
