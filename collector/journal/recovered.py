"""What was found in the journal's directory when it was opened."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from collector.journal.entries import Owed


@dataclass(frozen=True, slots=True)
class Damage:
    """Bytes of a file that are no record, from `offset` on; `torn`: the end of what was being written when it ended."""

    file: str
    offset: int
    size_bytes: int
    torn: bool = False


@dataclass(frozen=True, slots=True)
class Unconfigured:
    """A destination that something is owed to and that isn't configured any more."""

    destination: str
    items: int
    size_bytes: int
    oldest_wall_ns: int


@dataclass(frozen=True, slots=True)
class Recovered:
    """What is owed, and what there is to say about it.

    `owed`: in order of record numbers, read from the files as it is asked for.  `arrivals`, `parcels`, `size_bytes`:
    how many and how much is owed to destinations that are configured.
    """

    owed: Iterator[Owed]
    arrivals: int = 0
    parcels: int = 0
    size_bytes: int = 0
    damage: tuple[Damage, ...] = ()
    unconfigured: tuple[Unconfigured, ...] = field(default=())
