"""The journal against a simple account, through restarts in order and crashes at any moment.

What was kept and isn't done is owed after any of them.  After a stop in order nothing else is; after a crash, what was
done lately may be owed once more, and what was being written and never acknowledged may be there or not.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import tempfile
import threading
from array import array
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, initialize, invariant, rule

from collector.journal import Journal, JournalSettings, OwedArrival, OwedParcel, ParcelEntry, Recovered, place_of
from collector.journal.directory import Directory
from collector.journal.entries import INDEX_MASK, ArrivalEntry
from collector.journal.framing import Record, scan
from collector.journal.journal import _Running
from collector.journal.storage import Storage
from collector.records import PLACE_BITS, Signal
from tests.collector.journal.entries_made import TO, A, B, arrival, whole
from tests.collector.journal.power import SyncedDisk

SEGMENT_BYTES = 700
SIZES = (0, 10, 300, 2000)
NAMES = (A, B)
Item = tuple[str, str, int]
"""Something owed: an item by itself or a parcel, to a destination, by its place or number."""


@pytest.fixture(autouse=True, scope="module")
def small_segments() -> Iterator[None]:
    with mock.patch("collector.journal.journal.segment_bytes_for", lambda limit_bytes: SEGMENT_BYTES):
        yield


@dataclass
class Frozen:
    entry: ParcelEntry
    owed: set[str]


class JournalMachine(RuleBasedStateMachine):
    """See the module's text."""

    kept: Bundle[int] = Bundle("kept")
    frozen: Bundle[int] = Bundle("frozen")

    def __init__(self) -> None:
        super().__init__()
        fast = Path("/dev/shm")
        self.root = Path(tempfile.mkdtemp(dir=fast if fast.is_dir() else None))
        self.copies = 0
        self.disk = SyncedDisk()
        self.watching = self.disk.watching()
        self.watching.__enter__()
        self.loop = asyncio.new_event_loop()
        self.arrivals: dict[int, ArrivalEntry] = {}
        self.owed: dict[int, dict[str, set[int]]] = {}
        self.untouched: set[int] = set()
        self.parcels: dict[int, Frozen] = {}

    def path(self) -> Path:
        return self.root / str(self.copies)

    def make(self) -> Journal:
        return Journal(JournalSettings(directory=str(self.path()), durability="disk", max_size_mib=16), TO)

    async def start(self) -> Recovered:
        self.journal = self.make()
        recovered = self.journal.open()
        await self.journal.start()
        return recovered

    @initialize()
    def begin(self) -> None:
        assert list(self.loop.run_until_complete(self.start()).owed) == []

    def teardown(self) -> None:
        self.loop.run_until_complete(self.journal.stop())
        self.loop.run_until_complete(self.loop.shutdown_default_executor())
        self.loop.close()
        shutil.rmtree(self.root)
        self.watching.__exit__(None, None, None)

    # -- what the collector does -------------------------------------------------------------------------------------

    async def keep(self, sizes: Sequence[int], rejected: bool) -> list[int]:
        numbers = [self.journal.reserve() for _ in sizes]
        entries = [
            arrival(bytes([n % 251]) * size, rejected=[1] if rejected else [])
            for n, size in zip(numbers, sizes, strict=True)
        ]
        await asyncio.gather(*(self.journal.keep(n, one) for n, one in zip(numbers, entries, strict=True)))
        for number, entry in zip(numbers, entries, strict=True):
            self.arrivals[number] = entry
            indexes = {0, 1, 2, 3} - {1} if rejected else {0, 1, 2}
            self.owed[number] = {name: set(indexes) for name in TO[Signal.TRACES]}
        return numbers

    @rule(target=kept, size=st.sampled_from(SIZES), rejected=st.booleans())
    def keep_one(self, size: int, rejected: bool) -> int:
        return self.loop.run_until_complete(self.keep([size], rejected))[0]

    @rule(sizes=st.lists(st.sampled_from(SIZES), min_size=2, max_size=6))
    def keep_many_and_deliver_them(self, sizes: list[int]) -> None:
        for number in self.loop.run_until_complete(self.keep(sizes, False)):
            for name in NAMES:
                self.deliver_arrival(number, name)

    def deliver_arrival(self, number: int, name: str) -> None:
        self.journal.done(name, number)
        self.owed[number][name].clear()
        self.untouched.add(number)

    @rule(number=kept, name=st.sampled_from(NAMES))
    def an_arrival_went_as_it_came(self, number: int, name: str) -> None:
        whole_to = [one for one in NAMES if len(self.owed[number][one]) == self.arrivals[number].items]
        if name in whole_to and (number in self.untouched or len(whole_to) == len(NAMES)):
            self.deliver_arrival(number, name)

    @rule(
        target=frozen,
        picks=st.lists(st.tuples(kept, st.integers(0, 3)), min_size=1, max_size=5),
        to=st.sampled_from([(A,), (B,), (A, B)]),
        in_full=st.booleans(),
    )
    def freeze(self, picks: list[tuple[int, int]], to: tuple[str, ...], in_full: bool) -> int:
        places = sorted(
            {
                place_of(number, index)
                for number, index in picks
                if number not in self.untouched and all(index in self.owed[number][name] for name in to)
            }
        )
        number = self.journal.reserve()
        if in_full or not places:
            entry = whole(b"whole %d" % number, places, to)
        else:
            tails = [b"tail %d" % at for at in range(len(places))]
            entry = ParcelEntry(Signal.TRACES, (), to, len(places), 100, array("Q", places), tails)
        self.loop.run_until_complete(self.journal.freeze(number, entry))
        self.parcels[number] = Frozen(entry, set(to))
        for place in places:
            for name in to:
                self.owed[place >> PLACE_BITS][name].discard(place & INDEX_MASK)
        return number

    @rule(number=frozen)
    def freeze_again_as_a_whole(self, number: int) -> None:
        old = self.parcels[number]
        if not old.owed:
            return
        entry = whole(b"now whole %d" % number, old.entry.places, old.entry.destinations)
        self.loop.run_until_complete(self.journal.freeze(number, entry))
        old.entry = entry

    @rule(number=frozen, name=st.sampled_from(NAMES))
    def a_parcel_was_delivered(self, number: int, name: str) -> None:
        if name in self.parcels[number].owed:
            self.journal.done(name, number)
            self.parcels[number].owed.discard(name)

    @rule(number=consumes(frozen))
    def a_parcel_was_delivered_everywhere(self, number: int) -> None:
        for name in tuple(self.parcels[number].owed):
            self.journal.done(name, number)
        self.parcels[number].owed.clear()

    @rule(number=kept, index=st.integers(0, 3))
    def an_item_was_a_repeat(self, number: int, index: int) -> None:
        if number not in self.untouched:
            self.journal.dropped([place_of(number, index)])
            for name in NAMES:
                self.owed[number][name].discard(index)

    # -- restarts ----------------------------------------------------------------------------------------------------

    @rule()
    def stop_and_start(self) -> None:
        live: list[set[int]] = []

        async def restart() -> Recovered:
            live.append(self.live())
            await self.journal.stop()
            recovered = await self.start()
            live.append(self.live())
            return recovered

        assert self.owed_after(self.loop.run_until_complete(restart())) == self.account()
        # What was known at the end is what is read at the start.
        assert live[0] == live[1]

    @rule(
        unanswered=st.lists(st.sampled_from(SIZES), max_size=3),
        cut=st.integers(0, 60),
        noted=st.booleans(),
        without_power=st.booleans(),
    )
    def crash(self, unanswered: list[int], cut: int, noted: bool, without_power: bool) -> None:
        """The directory as it is at this moment is all that is left; its last write may be torn.

        Or the power went, and only what was synced is left.
        """

        async def crash() -> Recovered:
            numbers = [self.journal.reserve() for _ in unanswered]
            waiting = [self.journal.keep(n, arrival(bytes(size))) for n, size in zip(numbers, unanswered, strict=True)]
            if noted:
                self.running().upkeep.note()
            old = self.path()
            with self.writer_held():
                self.copies += 1
                if without_power:
                    self.disk.lose_power(old, self.path())
                else:
                    shutil.copytree(old, self.path())
                    self.tear(numbers, cut)
                self.disk.adopt(self.path())
            await asyncio.gather(*waiting)
            await self.journal.stop()
            shutil.rmtree(old)
            return await self.start()

        account = self.account()
        found = self.owed_after(self.loop.run_until_complete(crash()))
        assert account <= found
        self.take_over(found - account)

    def live(self) -> set[int]:
        claims = self.journal._ready.claims
        return {*claims.arrivals, *claims.parcels}

    @contextmanager
    def writer_held(self) -> Iterator[None]:
        """Nothing more is written until the end of this; what was submitted before is."""
        held, go_on = threading.Event(), threading.Event()

        def hold(storage: Storage) -> Callable[[], None]:
            held.set()
            go_on.wait()
            return lambda: None

        self.running().writer.submit(hold)
        held.wait()
        try:
            yield
        finally:
            go_on.set()

    def running(self) -> _Running:
        assert self.journal._running is not None
        return self.journal._running

    def tear(self, numbers: Sequence[int], cut: int) -> None:
        """Cut into those records at the end of a file that were never acknowledged."""
        for file in Directory(self.path()).listing().segments:
            records = [one for one in scan(file.path.read_bytes(), file.marker) if isinstance(one, Record)]
            safe = max((one.end for one in records if one.number not in numbers), default=0)
            end = max((one.end for one in records), default=0)
            if end > safe:
                os.truncate(file.path, max(safe, end - cut))

    def take_over(self, more: set[Item]) -> None:
        """What came back after a crash is owed from now on."""
        for kind, name, place in more:
            if kind == "parcel":
                self.parcels[place].owed.add(name)
                continue
            number = place >> PLACE_BITS
            if number not in self.arrivals:
                self.arrivals[number] = self.journal.read_arrival(number)
                self.owed[number] = {name: set() for name in NAMES}
            self.owed[number][name].add(place & INDEX_MASK)

    # -- comparing ---------------------------------------------------------------------------------------------------

    def account(self) -> set[Item]:
        direct = {
            ("item", name, place_of(number, index))
            for number, owed in self.owed.items()
            for name, indexes in owed.items()
            for index in indexes
        }
        return direct | {("parcel", name, number) for number, one in self.parcels.items() for name in one.owed}

    def owed_after(self, recovered: Recovered) -> set[Item]:
        """What is owed, having looked whether all of it can be read."""
        items: set[Item] = set()
        last = 0
        for owed in recovered.owed:
            assert owed.number > last
            last = owed.number
            if isinstance(owed, OwedParcel) and not owed.untouched:
                self.look_at_parcel(owed)
                items |= {("parcel", name, owed.number) for name in owed.destinations}
                continue
            entry = self.journal.read_arrival(owed.number)
            assert self.arrivals.get(owed.number, entry) == entry
            assert owed.size_bytes == len(entry.request)
            if isinstance(owed, OwedArrival):
                self.untouched.discard(owed.number)
                remaining = {name: set(indexes) for name, indexes in owed.remaining.items()}
            else:
                accepted = set(range(owed.items + len(entry.rejected))) - set(entry.rejected)
                remaining = dict.fromkeys(owed.destinations, accepted)
            items |= {
                ("item", name, place_of(owed.number, index)) for name, indexes in remaining.items() for index in indexes
            }
        return items

    def look_at_parcel(self, owed: OwedParcel) -> None:
        parcel = self.journal.read_parcel(owed.number)
        known = self.parcels[owed.number].entry
        assert (parcel.places, list(parcel.tails), parcel.request) == (known.places, list(known.tails), known.request)
        if not parcel.request:
            for place in parcel.places:
                assert self.journal.read_arrival(place >> PLACE_BITS) == self.arrivals[place >> PLACE_BITS]

    @invariant()
    def what_is_owed_can_be_read(self) -> None:
        for number, owed in list(self.owed.items())[-3:]:
            if any(owed.values()):
                assert self.journal.read_arrival(number) == self.arrivals[number]
        for number, parcel in list(self.parcels.items())[-3:]:
            if parcel.owed:
                assert self.journal.read_parcel(number).request == parcel.entry.request


TestJournal = JournalMachine.TestCase
TestJournal.settings = settings(max_examples=40, stateful_step_count=40)
