"""What a `prompt/<name>` processor can be told: the file, and what is to be different from what it says.

The file is read when the settings are checked, and what it said goes along with them, so that all processes judge by
the same words.
"""

from __future__ import annotations

from pathlib import Path

from pydantic import Field, PrivateAttr, model_validator

from evaluators.definition_file import read_definition
from evaluators.evaluator import EvaluatorSettings
from evaluators.prompt_file.definition import PromptDefinition, check_threshold


class PromptSettings(EvaluatorSettings):
    """An evaluator that a prompt file defines."""

    file: Path = Field(description="The prompt file; a relative path starts from the working directory.")
    threshold: float | None = Field(
        default=None, ge=0.0, le=1.0, description="Lowest score that passes; the file's own if not given."
    )
    judge: str | None = Field(
        default=None, description="Id of the judge extension that is asked; the one that the file names if not given."
    )
    _definition: PromptDefinition = PrivateAttr()

    @property
    def definition(self) -> PromptDefinition:
        """What the file said."""
        return self._definition

    @model_validator(mode="before")
    @classmethod
    def _names_the_file_s_judge(cls, value: object) -> object:
        """Puts the judge that the file names where the configuration looks for it, unless it has one already."""
        if (
            not isinstance(value, dict)
            or value.get("judge") is not None
            or not isinstance(value.get("file"), str | Path)
        ):
            return value
        return {**value, "judge": _read(Path(value["file"])).judge}

    @model_validator(mode="after")
    def _read_file(self) -> PromptSettings:
        definition = _read(self.file)
        if self.threshold is not None:
            check_threshold(definition.labels, self.threshold)
        self._definition = definition
        return self


def _read(path: Path) -> PromptDefinition:
    return read_definition(path, PromptDefinition, body="criteria")
