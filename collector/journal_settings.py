"""The settings of the `journal` extension: how surely what was acknowledged is kept."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from pydantic import Field, field_validator

from collector.config.settings import ComponentSettings


class JournalSettings(ComponentSettings):
    """How surely acknowledged telemetry is kept until it is delivered."""

    refused_keys: ClassVar[Mapping[str, str]] = {
        "directory": "nothing is kept on disk yet; take this key out",
        "max_size_mib": "nothing is kept on disk yet; memory is bounded by processors::assemble::limit_mib",
    }

    durability: str = Field(default="memory", description="`memory`: as long as the process lives.")

    @field_validator("durability")
    @classmethod
    def _exists(cls, value: str) -> str:
        if value in ("disk", "process"):
            raise ValueError(f"{value} doesn't exist yet: what is held is lost if the process is killed; set memory")
        if value != "memory":
            raise ValueError("is not a durability; set memory")
        return value
