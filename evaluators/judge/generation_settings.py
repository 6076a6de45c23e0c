"""What a judge's model is told about writing its answer: parameters that are sent only where they are accepted.

In: a part of the mapping of a `judge/<name>` extension.  Out: checked settings.
"""

from __future__ import annotations

from pydantic import BaseModel, Field


class GenerationSettings(BaseModel):
    """Parameters of generation. One that the endpoint refuses is left out from then on."""

    temperature: float | None = Field(
        default=None, ge=0.0, le=2.0, description="Sent only if set; left out once the model has refused it."
    )
    seed: int | None = Field(default=None, ge=0, description="Sent only if set; left out once it has been refused.")
    reasoning_effort: str | None = Field(
        default=None,
        min_length=1,
        max_length=20,
        description="How much a reasoning model thinks, such as `low`; sent only if set, left out once refused.",
    )
    max_output_tokens: int | None = Field(
        default=None,
        ge=16,
        description="Most tokens of an answer, reasoning included. Default: as many as the answer asked for can need, "
        "and no limit for models that reason.",
    )
