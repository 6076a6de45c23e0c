"""Appends requests to a file in the format of the Collector's file exporter: one OTLP JSON request a line."""

from __future__ import annotations

import asyncio
import glob
import time
from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar, Literal

from pydantic import Field

from collector.config.settings import ComponentSettings
from collector.exporters.appending import append_whole
from collector.exporters.json_encoding import UnreadableRequestError, to_json
from collector.exporters.sender import MisconfiguredError, RejectedDataError, RetryableError, Taken
from collector.exporters.settings import MIB, ExporterSettings
from collector.records import Signal
from collector.start_error import StartError


class RotationSettings(ComponentSettings):
    """When a new file is begun. The full one gets the time in its name."""

    refused_keys: ClassVar[Mapping[str, str]] = {
        "max_days": "files are kept by number, not by age; use max_backups",
        "localtime": "names of full files have the time in UTC; take this key out",
    }

    max_megabytes: int = Field(default=100, ge=1, description="Size at which a new file is begun.")
    max_backups: int = Field(default=100, ge=0, description="How many full files are kept; 0: all.")


class FileSettings(ExporterSettings):
    """Appends everything to a file, one OTLP JSON request a line, as the Collector's file exporter does."""

    refused_keys: ClassVar[Mapping[str, str]] = {
        "compression": "lines are written as text; compress full files, see rotation",
        "flush_interval": "every request is written at once; take this key out",
        "create_directory": "missing directories are always created; take this key out",
        "group_by": "there is one file; use several file exporters",
        "encoding": "encoding extensions don't exist here; take this key out",
    }

    path: Path = Field(
        default=Path("spanjudge-traces.jsonl"), description="The file; relative to the working directory."
    )
    format: Literal["json"] = Field(default="json", description="Format of a line.")
    append: Literal[True] = Field(
        default=True, description="What is in the file stays; the Collector would begin it anew by default."
    )
    rotation: RotationSettings | None = Field(default=None, description="Begin a new file when one is full.")


class FileSender:
    """One file.

    Args:
        name: id of the exporter, for messages.
        settings: its settings.
    """

    def __init__(self, name: str, settings: FileSettings) -> None:
        self._name = name
        self._settings = settings
        self._one_at_a_time = asyncio.Lock()

    async def start(self) -> None:
        """See that the file can be written; raises StartError when it can't."""
        await asyncio.to_thread(self._try)

    async def send(self, signal: Signal, request: bytes, headers: Mapping[str, str]) -> Taken:
        """Write one line; see `collector.exporters.sender.Sender`."""
        async with self._one_at_a_time:
            # Shielded, so that a cancelled delivery doesn't leave a thread behind that still writes.
            await asyncio.shield(asyncio.to_thread(self._write, signal, request))
        return Taken()

    async def stop(self) -> None:
        """Nothing is open."""

    def _try(self) -> None:
        path = self._settings.path
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            append_whole(path, b"")
        except OSError as error:
            raise StartError(
                f"can't write to {path}: {error.strerror}; correct exporters::{self._name}::path, or the permissions"
            ) from None

    def _write(self, signal: Signal, request: bytes) -> None:
        path = self._settings.path
        try:
            line = to_json(signal, request) + b"\n"
        except UnreadableRequestError as error:
            raise RejectedDataError(str(error)) from None
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._rotate(len(line))
            append_whole(path, line)
        except (PermissionError, IsADirectoryError, NotADirectoryError, FileExistsError) as error:
            raise MisconfiguredError(f"can't write to {path}: {error.strerror}") from None
        except OSError as error:
            raise RetryableError(f"can't write to {path}: {error.strerror}") from None

    def _rotate(self, more_bytes: int) -> None:
        rotation, path = self._settings.rotation, self._settings.path
        if rotation is None or not path.exists():
            return
        size_bytes = path.stat().st_size
        if size_bytes == 0 or size_bytes + more_bytes <= rotation.max_megabytes * MIB:
            return
        path.rename(path.with_name(f"{path.stem}-{_time_in_name()}{path.suffix}"))
        if rotation.max_backups:
            for old in sorted(path.parent.glob(f"{glob.escape(path.stem)}-[0-9]*{glob.escape(path.suffix)}"))[
                : -rotation.max_backups
            ]:
                old.unlink()


def _time_in_name() -> str:
    nanoseconds = time.time_ns()
    seconds = time.strftime("%Y-%m-%dT%H-%M-%S", time.gmtime(nanoseconds // 1_000_000_000))
    return f"{seconds}.{nanoseconds % 1_000_000_000:09}"
