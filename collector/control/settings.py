"""The settings of the `control` extension, and what holds where none is declared."""

from __future__ import annotations

from pathlib import Path

from pydantic import Field, field_validator

from collector.config import Config
from collector.config.settings import ComponentSettings

# Linux allows 107 bytes, others less.
_MAX_PATH_BYTES = 100


class ControlSettings(ComponentSettings):
    """Answers `spanjudge explain` and `spanjudge reload` over a socket that only its own user can open.

    It is there without being declared.
    """

    socket: Path | None = Field(
        default=None,
        description="The socket, relative to the working directory. By default one with the process's number as its "
        "name in `$RUNTIME_DIRECTORY` (systemd), `$XDG_RUNTIME_DIR/spanjudge` or `/tmp/spanjudge-<user>`.",
    )
    show_content: bool = Field(
        default=False,
        description="Whether answers have explanations, which quote what agents said and did; else codes and ids only.",
    )

    @field_validator("socket")
    @classmethod
    def _short(cls, path: Path | None) -> Path | None:
        if path is not None and len(bytes(path)) > _MAX_PATH_BYTES:
            raise ValueError(f"has more than {_MAX_PATH_BYTES} bytes, which is too long for a socket; take another")
        return path


def control_settings_of(config: Config) -> ControlSettings:
    """The settings of the control endpoint, whether it was declared or not."""
    component = config.extension("control")
    return ControlSettings() if component is None else component.settings_as(ControlSettings)
