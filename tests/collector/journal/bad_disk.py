"""The journal on a disk that is full, read-only or broken: run by the tests in a process with mounts of its own.

    python -m tests.collector.journal.bad_disk NAME FOLDER

prints what happened as JSON. FOLDER is an empty file system of its own.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import resource
import shutil
import sys
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

from collector.journal import Journal, JournalWriteError, place_of
from collector.start_error import StartError
from tests.collector.journal.entries_made import A, B, arrival, by_reference, whole
from tests.collector.journal.running import freeze, keep, make, owed, settled

REQUEST = b"r" * 200_000
Seen = dict[str, Any]


async def keep_until_refused(journal: Journal) -> tuple[list[int], str]:
    kept: list[int] = []
    while True:
        try:
            kept.append(await keep(journal, arrival(REQUEST)))
        except JournalWriteError as error:
            assert error.retry_after_s > 0
            return kept, str(error)


async def keep_when_possible(journal: Journal) -> int:
    """Try as a sender does, again and again."""
    while True:
        try:
            return await keep(journal, arrival(REQUEST))
        except JournalWriteError:
            await asyncio.sleep(0.1)


def deliver(journal: Journal, numbers: list[int]) -> None:
    for number in numbers:
        journal.done(A, number)
        journal.done(B, number)


async def fills_up(folder: Path) -> Seen:
    """The disk fills up while it runs; deliveries make room again."""
    path = folder / "journal"
    journal = make(path, "disk", 64)
    journal.open()
    await journal.start()
    kept, refusal = await keep_until_refused(journal)
    frozen = [await freeze(journal, by_reference(number, [0])) for number in kept]
    more, _ = await keep_until_refused(journal)
    errors = journal.stats().write_errors
    await asyncio.sleep(1.5)
    errors = journal.stats().write_errors - errors
    deliver(journal, frozen)
    journal.dropped(place_of(number, index) for number in kept[:-1] for index in (1, 2))
    await settled(journal)
    later = await keep_when_possible(journal)
    await journal.stop()
    journal = make(path, "disk", 64)
    found = owed(journal.open())
    await journal.stop()
    return {
        "kept": len(kept),
        "refusal": refusal,
        "frozen": len(frozen),
        "more": len(more),
        "errors": errors,
        "lost": sorted({kept[-1], *more, later} - set(found)),
        "left": len(found) - len({kept[-1], *more, later}),
    }


async def parcels_fail(folder: Path) -> Seen:
    """Whole parcels can't be written any more: until they are delivered, the requests they are of are needed."""
    path = folder / "journal"
    journal = make(path, "disk", 64)
    journal.open()
    await journal.start()
    kept, _ = await keep_until_refused(journal)
    for number in kept:
        parcel = journal.reserve()
        entry = whole(REQUEST * 3, [place_of(number, index) for index in range(3)])
        try:
            await journal.freeze(parcel, entry)
        except JournalWriteError as error:
            refusal = str(error)
            break
    await settled(journal)
    crashed = folder.parent / f"{folder.name} after a crash"
    shutil.copytree(path, crashed)
    readable = journal.read_arrival(number) == arrival(REQUEST) and journal.read_parcel(parcel) == entry
    deliver(journal, [parcel])
    await settled(journal)
    await journal.stop()
    journal = make(path, "disk", 64)
    found = owed(journal.open())
    delivered = number not in found and parcel not in found
    await journal.stop()
    journal = make(crashed, "disk", 64)
    again = owed(journal.open())[number]
    await journal.stop()
    return {"refusal": refusal, "readable": readable, "delivered": delivered, "again": again}


def fill(folder: Path) -> None:
    with (folder / "filler").open("wb", buffering=0) as file, contextlib.suppress(OSError):
        while file.write(bytes(4096)):
            pass


async def starts_full(folder: Path) -> Seen:
    """A backlog on a disk that others have filled since."""
    path = folder / "journal"
    journal = make(path, "disk", 64)
    journal.open()
    await journal.start()
    kept = [await keep(journal, arrival(REQUEST)) for _ in range(30)]
    await journal.stop()
    fill(folder)
    journal = make(path, "disk", 64)
    found = owed(journal.open())
    await journal.start()
    _, refusal = await keep_until_refused(journal)
    readable = all(journal.read_arrival(number) == arrival(REQUEST) for number in kept)
    deliver(journal, kept)
    await settled(journal)
    later = await keep_when_possible(journal)
    await journal.stop()
    journal = make(path, "disk", 64)
    left = list(owed(journal.open()))
    await journal.stop()
    return {"lost": sorted(set(kept) - set(found)), "readable": readable, "refusal": refusal, "left": left == [later]}


async def begins(folder: Path) -> Seen:
    """A first start."""
    try:
        make(folder / "journal", "disk", 64).open()
    except StartError as error:
        return {"refusal": str(error)}
    return {}


async def write_fails(folder: Path) -> Seen:
    """One write fails half-way: what it was of is refused and never seen again."""
    path = folder / "journal"
    journal = make(path, "disk", 64)
    journal.open()
    await journal.start()
    kept = [await keep(journal, arrival(REQUEST))]
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(REQUEST) * 3 // 2, resource.RLIM_INFINITY))
    _, refusal = await keep_until_refused(journal)
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    kept.append(await keep_when_possible(journal))
    await settled(journal)
    open_files = len([one for one in Path("/proc/self/fd").iterdir() if "segment-" in str(one.resolve())])
    await journal.stop()
    journal = make(path, "disk", 64)
    recovered = journal.open()
    found = owed(recovered)
    await journal.stop()
    return {
        "refusal": refusal,
        "found": sorted(found) == kept,
        "damage": len(recovered.damage),
        "open_files": open_files,
    }


async def breaks(folder: Path) -> Seen:
    """Writing begins to fail while it runs: what was acknowledged before is kept, and nothing after it is."""
    path = folder / "journal"
    journal = make(path, "disk", 64)
    journal.open()
    await journal.start()
    kept, refusal = await keep_until_refused(journal)
    again, _ = await keep_until_refused(journal)
    readable = all(journal.read_arrival(number) == arrival(REQUEST) for number in kept)
    errors = journal.stats().write_errors
    await journal.stop()
    return {"kept": len(kept), "refusal": refusal, "readable": readable, "errors": errors, "again": len(again)}


SCENES: dict[str, Callable[[Path], Coroutine[Any, Any, Seen]]] = {
    one.__name__: one for one in (fills_up, starts_full, parcels_fail, begins, write_fails, breaks)
}

if __name__ == "__main__":
    name, where = sys.argv[1:]
    print(json.dumps(asyncio.run(SCENES[name](Path(where)))))
