"""A journal in use, as tests drive it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

from collector.journal import ArrivalEntry, Journal, JournalSettings, OwedParcel, ParcelEntry, Recovered
from collector.journal.directory import Directory, JournalFile
from collector.journal.journal import _Running
from collector.journal.storage import Storage
from tests.collector.journal.entries_made import TO


def make(path: Path, durability: str = "process", limit_mib: int = 16) -> Journal:
    settings = JournalSettings.model_validate(
        {"directory": str(path), "durability": durability, "max_size_mib": limit_mib}
    )
    return Journal(settings, TO)


@asynccontextmanager
async def opened(
    path: Path, durability: str = "process", limit_mib: int = 16
) -> AsyncIterator[tuple[Journal, Recovered]]:
    """A journal from its opening to its stop, and what it found."""
    journal = make(path, durability, limit_mib)
    recovered = journal.open()
    await journal.start()
    try:
        yield journal, recovered
    finally:
        await journal.stop()


async def keep(journal: Journal, entry: ArrivalEntry) -> int:
    number = journal.reserve()
    await journal.keep(number, entry)
    return number


async def freeze(journal: Journal, entry: ParcelEntry) -> int:
    number = journal.reserve()
    await journal.freeze(number, entry)
    return number


def running(journal: Journal) -> _Running:
    assert journal._running is not None
    return journal._running


async def settled(journal: Journal) -> None:
    """Until everything that follows from what was told has been done."""
    for _ in range(4):
        done = asyncio.Event()
        running(journal).upkeep.note()
        running(journal).writer.submit(partial(_then, done.set))
        await done.wait()


def _then(told: Callable[[], None], storage: Storage) -> Callable[[], None]:
    return told


def segments(path: Path) -> tuple[JournalFile, ...]:
    return Directory(path).listing().segments


def owed(recovered: Recovered) -> dict[int, object]:
    """Per record what is owed of it: the destinations of a parcel, or the indexes per destination."""
    return {
        one.number: set(one.destinations)
        if isinstance(one, OwedParcel)
        else {name: list(indexes) for name, indexes in one.remaining.items()}
        for one in recovered.owed
    }
