"""A process that writes to a journal until it is killed: run by the tests.

    python -m tests.collector.journal.killed_process DIRECTORY DURABILITY

It first says what it found, then each thing that it was promised, one JSON line a time.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import random
import sys
from pathlib import Path
from unittest import mock

from collector.journal import Journal, OwedArrival, place_of
from tests.collector.journal.entries_made import A, B, arrival, by_reference, whole
from tests.collector.journal.running import freeze, make

SEGMENT_BYTES = 20_000


def say(**what: object) -> None:
    os.write(sys.stdout.fileno(), (json.dumps(what) + "\n").encode())


def request_of(number: int) -> bytes:
    return random.Random(number).randbytes(number * 37 % 3000)


async def send(journal: Journal) -> None:
    """What a sidecar does with a request: keep it, freeze some of it, deliver what there is."""
    for turn in itertools.count():
        number = journal.reserve()
        await journal.keep(number, arrival(request_of(number)))
        say(kept=number)
        match turn % 4:
            case 0:
                say(doing=number)
                journal.done(A, number)
                journal.done(B, number)
            case 1:
                parcel = await freeze(journal, by_reference(number, [0, 1]))
                say(frozen=parcel, of=number, indexes=[0, 1])
                say(doing=parcel)
                journal.done(A, parcel)
                journal.done(B, parcel)
            case 2:
                parcel = await freeze(journal, whole(b"whole", [place_of(number, 2)]))
                say(frozen=parcel, of=number, indexes=[2])
            case _:
                pass


async def run(path: Path, durability: str) -> None:
    journal = make(path, durability, 256)
    recovered = journal.open()
    await journal.start()
    for one in recovered.owed:
        if isinstance(one, OwedArrival):
            assert journal.read_arrival(one.number) == arrival(request_of(one.number))
            say(owed=one.number, remaining={name: list(indexes) for name, indexes in one.remaining.items()})
        elif one.untouched:
            assert journal.read_arrival(one.number) == arrival(request_of(one.number))
            say(owed=one.number, untouched=True, to=one.destinations)
        else:
            say(owed=one.number, to=one.destinations, places=list(journal.read_parcel(one.number).places))
    say(ready=True, damage=[(one.file, one.torn) for one in recovered.damage])
    await asyncio.gather(*(send(journal) for _ in range(6)))


if __name__ == "__main__":
    where, how = sys.argv[1:]
    with mock.patch("collector.journal.journal.segment_bytes_for", lambda limit_bytes: SEGMENT_BYTES):
        asyncio.run(run(Path(where), how))
