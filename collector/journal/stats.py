"""How the journal stands, for metrics and health."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class OwedTo:
    """What one destination is owed: items, bytes of the records they are in, and the oldest one's arrival."""

    items: int
    size_bytes: int
    oldest_wall_ns: int | None


@dataclass(frozen=True, slots=True)
class JournalStats:
    """Numbers of one moment; `syncs`, `write_errors`, `quarantined` count since the start.

    `size_bytes`: of all segments; `limit_bytes`: `max_size_mib`.  `alarm_percent`: the highest of 0, 50, 80, 100 that
    is reached.
    """

    size_bytes: int
    limit_bytes: int
    segments: int
    owed: Mapping[str, OwedTo]
    syncs: int
    write_errors: int
    quarantined: int
    alarm_percent: int
