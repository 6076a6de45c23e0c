"""The settings of the `references` processor: where it is known from what should have come of runs.

The file is read when the settings are checked, and what it said goes along with them, so that the judging process
judges by the same references.
"""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, PrivateAttr, model_validator

from evaluators.reference.file import Entry, read_references


class ReferencesSettings(BaseModel):
    """Where references are from. Those of the file count before those of attributes."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    file: Path | None = Field(
        default=None,
        description="File with references, YAML or JSON lines (.jsonl); a relative path starts from the working "
        "directory.",
    )
    from_attributes: bool = Field(
        default=False,
        description="Also take the attributes eval.reference.{task,outcome,tool_calls,required_outputs} of a run's "
        "span or of one around it. Whoever is judged writes these; verdicts say where their reference was from.",
    )
    _entries: tuple[Entry, ...] = PrivateAttr(default=())

    @property
    def entries(self) -> tuple[Entry, ...]:
        """What the file said."""
        return self._entries

    @model_validator(mode="after")
    def _read_file(self) -> ReferencesSettings:
        if self.file is None and not self.from_attributes:
            raise ValueError("names no source of references; give a file, or from_attributes: true")
        if self.file is not None:
            self._entries = read_references(self.file)
        return self
