"""kill -9 at any moment: nothing that was promised is lost, and what comes twice was in flight."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from collector.journal.entries import INDEX_MASK
from collector.records import PLACE_BITS
from tests.collector.journal.entries_made import A, B

ROOT = Path(__file__).parents[3]
KILLS = 20
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


@pytest.mark.parametrize("durability", ["process", "disk"])
def test_a_process_that_is_killed_again_and_again_loses_nothing(tmp_path: Path, durability: str) -> None:
    account = Account()
    repeats = promises = 0
    random.seed(durability)
    for _ in range(KILLS // 2 + 1):
        command = [sys.executable, "-m", "tests.collector.journal.killed_process", str(tmp_path), durability]
        with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            found: list[dict[str, Any]] = []
            for line in process.stdout:
                what = json.loads(line)
                if "ready" in what:
                    break
                found.append(what)
            else:
                pytest.fail("it ended by itself")
            repeats += account.check(found)
            account.take_over(found)
            # At no moment in particular, so that it is in the middle of something else each time.
            for _ in range(random.randint(1, 150)):
                account.hear(json.loads(process.stdout.readline()))
                promises += 1
            process.send_signal(signal.SIGKILL)
            for line in process.stdout:
                if line.endswith("\n"):
                    account.hear(json.loads(line))
                    promises += 1
    assert promises > KILLS
    assert repeats <= promises
