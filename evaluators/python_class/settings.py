"""What a `python/<name>` processor can be told: which class, and that class's own settings.

The settings are only checked against the class where it is loaded: by `spanjudge validate` and in the judging process,
never in the process that receives telemetry.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from pydantic import ConfigDict, Field, SerializerFunctionWrapHandler, field_validator, model_serializer

from evaluators.evaluator import EvaluatorSettings

_CLASS = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*:[^\W\d]\w*(?:\.[^\W\d]\w*)*")


def is_class_path(path: str) -> bool:
    """Whether it has the form `package.module:Class`."""
    return _CLASS.fullmatch(path) is not None


class PythonSettings(EvaluatorSettings):
    """An evaluator that is a Python class. Further keys are settings of that class."""

    model_config = ConfigDict(extra="allow", frozen=True)

    class_path: str | None = Field(
        default=None,
        alias="class",
        description="The class as `package.module:Class`; if not given, the one that an installed package offers "
        "under this name (entry points `spanjudge.evaluators`). Further keys are settings of the class.",
    )
    threshold: float | None = Field(
        default=None, ge=0.0, le=1.0, description="Lowest score that passes; the class's own if not given."
    )

    @field_validator("class_path")
    @classmethod
    def _is_a_path(cls, value: str | None) -> str | None:
        if value is not None and not is_class_path(value):
            raise ValueError("is no class; write package.module:Class")
        return value

    @model_serializer(mode="wrap")
    def _as_written(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """The keys as a configuration has them."""
        written: dict[str, Any] = write(self)
        return {"class" if key == "class_path" else key: value for key, value in written.items()}

    @property
    def given(self) -> Mapping[str, Any]:
        """What the class is told: the keys that were given, but for its own name."""
        common = {key: getattr(self, key) for key in self.model_fields_set & EvaluatorSettings.model_fields.keys()}
        return {**common, **(self.model_extra or {})}
