"""The journal as the collector uses it. Belongs to the event loop; nothing in it blocks but `open`, and reading.

In: arrivals before they are acknowledged, parcels before their first export, and who is done with what.  Out: their
bytes again, and after a restart everything that is still owed.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TypeVar

from collector.journal.bits import all_but, bits_by_number
from collector.journal.claimed import Location
from collector.journal.coding import (
    UnreadableBodyError,
    decode_arrival,
    decode_arrival_head,
    decode_parcel,
    decode_parcel_head,
    encode_arrival,
    encode_parcel,
)
from collector.journal.directory import Directory
from collector.journal.entries import ArrivalEntry, ParcelEntry
from collector.journal.errors import DamagedRecordError, JournalFullError, JournalWriteError
from collector.journal.framing import Kind, Record
from collector.journal.fullness import Fullness
from collector.journal.opening import Opened, open_directory
from collector.journal.owed import Backlog
from collector.journal.recovered import Recovered
from collector.journal.settings import JournalSettings
from collector.journal.stats import JournalStats
from collector.journal.storage import Append, Closed, Outcome, segment_bytes_for
from collector.journal.upkeep import Upkeep
from collector.journal.writer import Writer
from collector.logs import RateLimited
from collector.records import Signal

T = TypeVar("T")
_log = logging.getLogger(__name__)
_often = RateLimited(_log)

_MIB = 1 << 20


@dataclass(frozen=True, slots=True)
class _Running:
    """What there is between start and stop."""

    loop: asyncio.AbstractEventLoop
    writer: Writer
    upkeep: Upkeep


@dataclass(slots=True)
class _Keeping:
    """An arrival that is being written."""

    entry: ArrivalEntry
    destinations: tuple[str, ...]
    size_bytes: int
    written: asyncio.Future[None]


@dataclass(slots=True)
class _Freezing:
    """A parcel that isn't written. `written`: what awaits it; None once that has failed."""

    entry: ParcelEntry
    written: asyncio.Future[None] | None


class Journal:
    """See the module's text.

    Args:
        settings: where, how surely, how much.
        destinations: per signal the ids of its pipeline's exporters; what arrives is owed to all of them.
        wrote: told, in the writing thread, how many seconds each group of records took.
    """

    def __init__(
        self,
        settings: JournalSettings,
        destinations: Mapping[Signal, Sequence[str]],
        wrote: Callable[[float], None] = lambda _: None,
    ) -> None:
        self._wrote = wrote
        self._directory = Directory(Path(settings.directory))
        self._durable = settings.durability == "disk"
        self._limit_bytes = settings.max_size_mib * _MIB
        self._destinations = {signal: tuple(names) for signal, names in destinations.items()}
        self._opened: Opened | None = None
        self._full: Fullness
        self._running: _Running | None = None
        self._keeping: dict[int, _Keeping] = {}
        self._freezing: dict[int, _Freezing] = {}
        self._keeping_bytes = 0

    # -- life --------------------------------------------------------------------------------------------------------

    def open(self) -> Recovered:
        """Lock the directory and read what is in it. Blocks; called once, before `start`.

        Raises:
            collector.start_error.StartError: the directory can't be used: by this process, or by this version.
        """
        segment_bytes = segment_bytes_for(self._limit_bytes)
        opened = self._opened = open_directory(self._directory, segment_bytes, durable=self._durable)
        self._full = Fullness(self._directory.path, self._limit_bytes, opened.claims)
        backlog = Backlog(
            opened.claims,
            {name for names in self._destinations.values() for name in names},
            opened.crashed,
            partial(self._decoded, decode=decode_arrival_head),
            partial(self._decoded, decode=decode_parcel_head),
        )
        recovered = backlog.recovered(opened.damage)
        for one in recovered.unconfigured:
            _log.warning(
                "%s: %d items (%d bytes) since %s are for %s, which is not configured; they are kept until it is "
                "again, or until spanjudge journal forget %s",
                self._directory.path,
                one.items,
                one.size_bytes,
                time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(one.oldest_wall_ns / 1e9)),
                one.destination,
                one.destination,
            )
        return recovered

    async def start(self) -> None:
        """Begin to take records."""
        opened = self._ready
        writer = Writer(opened.storage, self._told, self._wrote)
        upkeep = Upkeep(
            self._directory.path,
            opened.claims,
            writer,
            unwritten=lambda: [*self._keeping, *self._freezing],
            room_is_short=lambda: self._full.is_half(self._size_bytes()),
        )
        self._running = _Running(asyncio.get_running_loop(), writer, upkeep)
        writer.start()

    async def stop(self) -> None:
        """Write and sync everything, and give the directory free. Nothing may be kept or read afterwards."""
        running, self._running = self._running, None
        if running is not None:
            # From here on nobody does what is submitted.
            running.upkeep.end()
            await running.writer.stop()
            await asyncio.to_thread(running.upkeep.last_note(), self._ready.storage)
        if self._opened is not None:
            opened, self._opened = self._opened, None
            await asyncio.to_thread(opened.storage.close)
            opened.taking.close()
        self._directory.give_free()

    def destinations_changed(self, destinations: Mapping[Signal, Sequence[str]]) -> None:
        """Owe what arrives from now on to these. What is owed already stays so."""
        self._destinations = {signal: tuple(names) for signal, names in destinations.items()}

    @property
    def _ready(self) -> Opened:
        assert self._opened is not None, "the journal isn't open"
        return self._opened

    # -- records -----------------------------------------------------------------------------------------------------

    def reserve(self) -> int:
        """A number for a record; each is given once, also over restarts. Whether it is used doesn't matter."""
        return self._ready.numbers.take()

    def keep(self, number: int, arrival: ArrivalEntry) -> asyncio.Future[None]:
        """Write an arrival. When it is as durable as the settings say, the future is done, and it is owed.

        A future that is cancelled doesn't take it back.

        Raises (in the future):
            JournalFullError: there is no room for it.
            JournalWriteError: it couldn't be written. The number must not be used again.
        """
        running = self._running
        if running is None:
            return _refused(JournalWriteError("the journal is closed; try again later"))
        destinations = self._destinations.get(arrival.signal, ())
        append = Append(Kind.ARRIVAL, number, encode_arrival(arrival, destinations), may_wait=True)
        size_bytes = append.size_bytes
        used_bytes = self._size_bytes()
        if not self._full.has_room(used_bytes, size_bytes):
            waiting = self._ready.claims.most_owed_to() or ""
            return _refused(JournalFullError(f"{self._full.describe(used_bytes)}; try again later", waiting))
        written: asyncio.Future[None] = running.loop.create_future()
        self._keeping[number] = _Keeping(arrival, destinations, size_bytes, written)
        self._keeping_bytes += size_bytes
        running.writer.submit(append)
        return written

    def freeze(self, number: int, parcel: ParcelEntry) -> asyncio.Future[None]:
        """Write a parcel. From this call on its items are owed to its destinations in this form and no other.

        It may be written once more, as a whole one; and whether it can be written or not, `done` may be said of it.

        Raises (in the future):
            JournalWriteError: it couldn't be written: after a crash its items are owed anew, from their arrivals. May
                be tried again with the same number and parcel.
        """
        running = self._running
        if running is None:
            return _refused(JournalWriteError("the journal is closed"))
        claims = self._ready.claims
        if number not in claims.parcels:
            # Until it is on the disk it needs its arrivals there, even if it is whole.
            taken = bits_by_number(parcel.places)
            claims.add_parcel(number, None, parcel, taken, parcel.destinations, time.time_ns(), whole=False)
        written: asyncio.Future[None] = running.loop.create_future()
        self._freezing[number] = _Freezing(parcel, written)
        running.writer.submit(Append(Kind.PARCEL, number, encode_parcel(parcel), may_wait=False))
        return written

    def done(self, destination: str, number: int) -> None:
        """Note that a destination has all of a parcel, or of an arrival that went as it came.

        After `stop` it isn't noted any more, and the destination gets it once more.
        """
        running = self._running
        if running is None:
            return
        claims = self._ready.claims
        unwritten = self._freezing.get(number)
        if unwritten is not None:
            # There may never be a record of it, so this is said of its items.
            running.upkeep.news.add_settled((destination,), unwritten.entry.places)
        running.upkeep.news.add_done(destination, number)
        claims.done(destination, number)
        if unwritten is not None and unwritten.written is None and number not in claims.parcels:
            del self._freezing[number]
        running.upkeep.note_soon()

    def dropped(self, places: Iterable[int]) -> None:
        """Note that these items are owed to nobody: they were byte-equal repeats."""
        running = self._running
        if running is None:
            return
        dropped = array("Q", places)
        running.upkeep.news.add_settled((), dropped)
        self._ready.claims.settle((), dropped)
        running.upkeep.note_soon()

    @contextlib.contextmanager
    def taking(self, number: int) -> Iterator[None]:
        """Around taking an arrival again after a restart, which must not await: if the process dies in it, the next
        start knows by which arrival. Writes a few bytes to a file, without syncing."""
        taking = self._ready.taking
        try:
            taking.begin(number)
        except OSError as error:
            _often.warning("%s: can't note what is being taken (%s)", self._directory.path, error.strerror)
        try:
            yield
        finally:
            with contextlib.suppress(OSError):
                taking.end()

    # -- reading -----------------------------------------------------------------------------------------------------

    def read_arrival(self, number: int) -> ArrivalEntry:
        """An arrival that is still needed: owed to somebody, or part of a parcel that is. May be called in a thread.

        Raises:
            DamagedRecordError: its bytes are damaged or gone.
        """
        keeping = self._keeping.get(number)
        return keeping.entry if keeping is not None else self._decoded(number, decode_arrival)

    def read_parcel(self, number: int) -> ParcelEntry:
        """A parcel that is still owed to somebody. May be called in a thread.

        On DamagedRecordError don't say that it is done: at the next start, what is in it is owed anew, from its
        arrivals.

        Raises:
            DamagedRecordError: its bytes are damaged or gone.
        """
        freezing = self._freezing.get(number)
        return freezing.entry if freezing is not None else self._decoded(number, decode_parcel)

    def _decoded(self, number: int, decode: Callable[[memoryview], T]) -> T:
        record = self._record(number)
        try:
            return decode(record.body)
        except UnreadableBodyError as error:
            raise DamagedRecordError(f"{self._directory.path}: record {number} is another one's ({error})") from error

    def _record(self, number: int) -> Record:
        location = self._ready.claims.location_of(number)
        if location is None:
            raise DamagedRecordError(f"{self._directory.path}: record {number} is not in the journal")
        return self._ready.storage.read(number, location)

    # -- what the writer tells ---------------------------------------------------------------------------------------

    def _told(self, dealt_with: Sequence[tuple[Append, Outcome]], closed: Sequence[Closed]) -> None:
        for append, outcome in dealt_with:
            if append.kind is Kind.ARRIVAL:
                self._arrival_told(append.number, outcome)
            else:
                self._parcel_told(append.number, outcome)
        for sequence, size_bytes in closed:
            self._ready.claims.close(sequence, size_bytes)
        self._full.look(self._size_bytes())
        if self._running is not None:
            self._running.upkeep.tidy_soon()

    def _arrival_told(self, number: int, outcome: Outcome) -> None:
        keeping = self._keeping.pop(number)
        self._keeping_bytes -= keeping.size_bytes
        if isinstance(outcome, Location):
            entry = keeping.entry
            accepted = all_but(entry.items + len(entry.rejected), entry.rejected)
            remaining = [accepted] * len(keeping.destinations)
            claims = self._ready.claims
            claims.add_arrival(number, outcome, keeping.destinations, remaining, entry.arrived_wall_ns)
        _tell(keeping.written, outcome)

    def _parcel_told(self, number: int, outcome: Outcome) -> None:
        freezing = self._freezing[number]
        claims = self._ready.claims
        if isinstance(outcome, Location):
            del self._freezing[number]
            claims.moved(number, outcome)
            if freezing.entry.request:
                claims.became_whole(number)
        elif number in claims.parcels:
            self._freezing[number] = _Freezing(freezing.entry, None)
        else:
            del self._freezing[number]
        if freezing.written is not None:
            _tell(freezing.written, outcome)

    def _size_bytes(self) -> int:
        return self._ready.storage.size_bytes + self._keeping_bytes

    def pressed_by(self) -> str | None:
        """Past nine tenths of its size: the destination that what has waited longest waits for. Else None."""
        return self._full.pressed_by(self._size_bytes())

    # -- how it stands -----------------------------------------------------------------------------------------------

    def stats(self) -> JournalStats:
        """How it stands now."""
        opened = self._ready
        storage = opened.storage
        size_bytes = self._size_bytes()
        return JournalStats(
            size_bytes=size_bytes,
            limit_bytes=self._limit_bytes,
            segments=storage.segment_count,
            owed=opened.claims.owed(),
            syncs=storage.syncs,
            write_errors=storage.write_errors + storage.progress.write_errors,
            quarantined=len(opened.damage),
            alarm_percent=self._full.mark(size_bytes),
        )


def _tell(written: asyncio.Future[None], outcome: Outcome) -> None:
    if written.done():
        return
    if isinstance(outcome, JournalWriteError):
        written.set_exception(outcome)
    else:
        written.set_result(None)


def _refused(error: JournalFullError | JournalWriteError) -> asyncio.Future[None]:
    written: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    written.set_exception(error)
    return written
