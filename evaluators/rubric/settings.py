"""What a rubric can be told: the threshold, the judge, and for a user's own the file."""

from __future__ import annotations

from pathlib import Path

from pydantic import Field, PrivateAttr, model_validator

from evaluators.evaluator import EvaluatorSettings
from evaluators.rubric.files import read_rubric
from evaluators.rubric.model import Rubric


class ShippedRubricSettings(EvaluatorSettings):
    """Settings of the rubrics that come along."""

    threshold: float | None = Field(default=0.7, ge=0.0, le=1.0, description="Lowest score that passes.")


class RubricSettings(EvaluatorSettings):
    """Settings of a rubric in a file. The file is read when they are checked, and only then."""

    file: Path = Field(description="The rubric, in YAML (`.yaml`, `.yml`) or Markdown (`.md`).")
    threshold: float | None = Field(
        default=None, ge=0.0, le=1.0, description="Lowest score that passes; by default the rubric's own."
    )

    _rubric: Rubric = PrivateAttr()

    @model_validator(mode="after")
    def _reads_the_file(self) -> RubricSettings:
        self._rubric = read_rubric(self.file)
        return self

    @property
    def rubric(self) -> Rubric:
        """What stands in the file."""
        return self._rubric
