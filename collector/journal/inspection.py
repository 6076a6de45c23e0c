"""How a journal stands, read from its files alone: whether or not a sidecar is using it. Changes nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from collector.journal.directory import Directory, unusable
from collector.journal.recovery import Found, read_directory
from collector.journal.stats import OwedTo
from collector.start_error import StartError

# While a sidecar works, segments go; each time that happens it is read again.
_ATTEMPTS = 5


@dataclass(frozen=True, slots=True)
class Inspection:
    """What is in a journal's directory.

    `used_by`: the process that holds it, as it calls itself; None if none does.  `damaged`: places in its files that
    are no records.  `quarantined`: pieces that were put aside, and their bytes.
    """

    path: Path
    used_by: str | None
    segments: int
    size_bytes: int
    owed: Mapping[str, OwedTo]
    damaged: int
    quarantined: tuple[int, int]


def inspect(path: Path) -> Inspection:
    """Read a journal.

    Raises:
        StartError: there is none, it is a newer version's, or it can't be read.
    """
    directory = Directory(path)
    if not path.is_dir():
        raise StartError(f"{path}: there is no such directory; name a journal's (extensions::journal::directory)")
    directory.require_format()
    try:
        used_by = directory.used_by()
        found = _read(directory)
        return Inspection(
            path=path,
            used_by=used_by,
            segments=len(found.sizes),
            size_bytes=sum(found.sizes.values()),
            owed=found.claims.owed(),
            # What a sidecar is just writing looks like a torn end.
            damaged=sum(1 for one in found.damaged if not (one.gap.torn and used_by)),
            quarantined=directory.quarantined(),
        )
    except OSError as error:
        raise StartError(f"{path}: {unusable(error)}") from error


def left_over(path: Path) -> Mapping[str, OwedTo]:
    """What a journal that nobody uses still owes, by destination; nothing if it isn't there or can't be read."""
    if not path.is_dir():
        return {}
    try:
        found = inspect(path)
    except StartError:
        return {}
    return {} if found.used_by else {name: debt for name, debt in found.owed.items() if debt.items}


def _read(directory: Directory) -> Found:
    for _ in range(_ATTEMPTS - 1):
        try:
            return read_directory(directory.listing())
        except FileNotFoundError:
            continue
    return read_directory(directory.listing())
