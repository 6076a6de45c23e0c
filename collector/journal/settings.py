"""The settings of the `journal` extension: how surely what was acknowledged is kept, where, and how much of it."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from collector.config.settings import ComponentSettings


class JournalSettings(ComponentSettings):
    """How surely acknowledged telemetry is kept until it is delivered."""

    directory: str = Field(
        default="./journal", min_length=1, description="Where it is kept. One directory for each running sidecar."
    )
    durability: Literal["disk", "process", "memory"] = Field(
        default="disk",
        description="What survives. `disk`: a loss of power too, as everything is synced before it is acknowledged. "
        "`process`: that this process or its container is killed. `memory`: nothing; no file is written.",
    )
    max_size_mib: int = Field(
        default=1024, ge=16, description="Past this size new requests are refused, with an answer to try again later."
    )
