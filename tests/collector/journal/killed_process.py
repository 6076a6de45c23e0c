"""A process that writes to a journal until it is killed, again and again: run by the tests.

    python -m tests.collector.journal.killed_process DIRECTORY DURABILITY TIMES

Each process is forked off this one. It says what it found, then each thing that it was promised, as lines of JSON;
this one compares, kills it at no moment in particular, and prints what there was.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import random
import signal
import sys
from pathlib import Path
from typing import Any, TextIO
from unittest import mock

from collector.journal import Journal, OwedArrival, place_of
from collector.journal.entries import INDEX_MASK
from collector.records import PLACE_BITS
from tests.collector.journal.entries_made import A, B, arrival, by_reference, whole
from tests.collector.journal.running import freeze, make

SEGMENT_BYTES = 20_000
SAYING = 9


def say(**what: object) -> None:
    os.write(SAYING, (json.dumps(what) + "\n").encode())


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


BOTH = {A, B}
Items = dict[int, dict[int, set[str]]]


class Account:
    """What a process said it was promised, until it was killed."""

    def __init__(self) -> None:
        # Per request, item by item, who is owed it directly; per parcel, who is owed it.
        self.items: Items = {}
        self.parcels: dict[int, set[str]] = {}
        self.done: set[int] = set()

    def hear(self, what: dict[str, Any]) -> None:
        if "kept" in what:
            self.items[what["kept"]] = {index: set(BOTH) for index in range(3)}
        elif "frozen" in what:
            self.parcels[what["frozen"]] = set(BOTH)
            for index in what["indexes"]:
                self.items[what["of"]][index].clear()
        elif "doing" in what:
            self.done.add(what["doing"])

    def check(self, found: list[dict[str, Any]]) -> int:
        """Everything owed is found; how many records came back of which a destination was said to be done."""
        owed = {one["owed"]: one for one in found}
        # A parcel may be there of which there was no time to say so.
        in_parcels = {
            (place >> PLACE_BITS, place & INDEX_MASK, name)
            for one in found
            for place in one.get("places", ())
            for name in one["to"]
        }
        for number, items in self.items.items():
            remaining = owed.get(number, {}).get("remaining", {})
            for index, names in items.items():
                lost = {
                    name
                    for name in names
                    if index not in remaining.get(name, ()) and (number, index, name) not in in_parcels
                }
                assert number in self.done or not lost, f"item {index} of {number}"
        for number, names in self.parcels.items():
            assert number in self.done or names <= set(owed.get(number, {}).get("to", ())), f"parcel {number}"
        return len(self.done & set(owed))

    def take_over(self, found: list[dict[str, Any]]) -> None:
        """From now on is owed what was found, and no more."""
        self.items, self.parcels, self.done = {}, {}, set()
        for one in found:
            if "remaining" in one:
                self.items[one["owed"]] = {
                    index: {name for name, indexes in one["remaining"].items() if index in indexes}
                    for index in range(3)
                }
            elif "places" in one:
                self.parcels[one["owed"]] = set(one["to"])


def begin(path: Path, durability: str) -> tuple[int, TextIO]:
    """A process, and what it says."""
    listening, saying = os.pipe()
    process = os.fork()
    if process:
        os.close(saying)
        return process, os.fdopen(listening)
    os.dup2(saying, SAYING)
    with mock.patch("collector.journal.journal.segment_bytes_for", lambda limit_bytes: SEGMENT_BYTES):
        asyncio.run(run(path, durability))
    os._exit(1)


def kill_again_and_again(path: Path, durability: str, times: int) -> dict[str, int]:
    account = Account()
    repeats = promises = 0
    for _ in range(times):
        process, said = begin(path, durability)
        with said:
            found: list[dict[str, Any]] = []
            while "ready" not in (what := json.loads(said.readline())):
                found.append(what)
            repeats += account.check(found)
            account.take_over(found)
            for _ in range(random.randint(1, 150)):
                account.hear(json.loads(said.readline()))
                promises += 1
            os.kill(process, signal.SIGKILL)
            for line in said:
                if line.endswith("\n"):
                    account.hear(json.loads(line))
                    promises += 1
        os.waitpid(process, 0)
    return {"promises": promises, "repeats": repeats}


if __name__ == "__main__":
    where, how, how_often = sys.argv[1:]
    print(json.dumps(kill_again_and_again(Path(where), how, int(how_often))))
