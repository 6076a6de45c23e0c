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

from collector.journal.alarms import FillAlarm, mark_of
from collector.journal.bits import all_but, bits_by_number, indexes_of
from collector.journal.claims import ArrivalClaims, Location, ParcelClaims
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
from collector.journal.entries import ArrivalEntry, Owed, OwedArrival, OwedParcel, ParcelEntry
from collector.journal.errors import DamagedRecordError, JournalFullError, JournalWriteError
from collector.journal.forwarding import segment_to_empty
from collector.journal.framing import Kind, Record
from collector.journal.opening import UNTRUSTED_AFTER, Opened, open_directory
from collector.journal.progress import Progress
from collector.journal.recovered import Recovered, Unconfigured
from collector.journal.settings import JournalSettings
from collector.journal.stats import JournalStats, OwedTo
from collector.journal.storage import RETRY_S, Append, Closed, Outcome, Storage, segment_bytes_for
from collector.journal.writer import Writer
from collector.logs import RateLimited
from collector.records import Signal

T = TypeVar("T")
_log = logging.getLogger(__name__)
_often = RateLimited(_log)

_MIB = 1 << 20
# How long it may take until it is written down that something is done: what is done and not written is repeated.
_NOTE_S = 0.2
# How much is rewritten in one go, while records that wait for an answer have to wait.
_FORWARD_BYTES = 4 * _MIB
_PRESSED_PERCENT = 90
_PRESSED_FOR_S = 1.0


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
    """

    def __init__(self, settings: JournalSettings, destinations: Mapping[Signal, Sequence[str]]) -> None:
        self._directory = Directory(Path(settings.directory))
        self._durable = settings.durability == "disk"
        self._limit_bytes = settings.max_size_mib * _MIB
        self._destinations = {signal: tuple(names) for signal, names in destinations.items()}
        self._opened: Opened | None = None
        self._writer: Writer | None = None
        self._loop: asyncio.AbstractEventLoop
        self._keeping: dict[int, _Keeping] = {}
        self._freezing: dict[int, _Freezing] = {}
        self._keeping_bytes = 0
        self._news = Progress()
        self._noting: asyncio.TimerHandle | None = None
        self._forwarding = False
        self._alarm = FillAlarm()
        self._pressed_by: tuple[float, str | None] = (float("-inf"), None)

    # -- life --------------------------------------------------------------------------------------------------------

    def open(self) -> Recovered:
        """Lock the directory and read what is in it. Blocks; called once, before `start`.

        Raises:
            collector.start_error.StartError: the directory can't be used: by this process, or by this version.
        """
        segment_bytes = segment_bytes_for(self._limit_bytes)
        opened = self._opened = open_directory(self._directory, segment_bytes, durable=self._durable)
        claims = opened.claims
        configured = self._configured()
        owed = claims.owed()
        unconfigured = tuple(_unconfigured(name, one) for name, one in owed.items() if name not in configured)
        for one in unconfigured:
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
        numbers = array("Q", sorted([*claims.arrivals, *claims.parcels]))
        return Recovered(
            owed=self._owed(numbers),
            arrivals=sum(1 for one in claims.arrivals.values() if _remaining(one, configured)),
            parcels=sum(1 for one in claims.parcels.values() if configured.intersection(one.destinations)),
            size_bytes=sum(one.size_bytes for name, one in owed.items() if name in configured),
            damage=opened.damage,
            unconfigured=unconfigured,
        )

    async def start(self) -> None:
        """Begin to take records."""
        self._loop = asyncio.get_running_loop()
        self._writer = Writer(self._ready.storage, self._told)
        self._writer.start()

    async def stop(self) -> None:
        """Write and sync everything, and give the directory free. Nothing may be kept or read afterwards."""
        writer, self._writer = self._writer, None
        if self._noting is not None:
            self._noting.cancel()
        if writer is not None:
            await writer.stop()
        if self._opened is not None:
            last_note = self._note_task()
            opened, self._opened = self._opened, None
            await asyncio.to_thread(_close, opened, last_note)
        self._directory.give_free()

    def destinations_changed(self, destinations: Mapping[Signal, Sequence[str]]) -> None:
        """Owe what arrives from now on to these. What is owed already stays so."""
        self._destinations = {signal: tuple(names) for signal, names in destinations.items()}

    @property
    def _ready(self) -> Opened:
        assert self._opened is not None, "the journal isn't open"
        return self._opened

    def _configured(self) -> set[str]:
        return {name for names in self._destinations.values() for name in names}

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
        written: asyncio.Future[None] = self._loop.create_future()
        destinations = self._destinations.get(arrival.signal, ())
        append = Append(Kind.ARRIVAL, number, encode_arrival(arrival, destinations), may_wait=True)
        size_bytes = append.size_bytes
        used_bytes = self._size_bytes()
        # What is larger than half of the journal counts as half: else it might never be let in, however often it comes.
        if used_bytes + min(size_bytes, self._limit_bytes // 2) > self._limit_bytes:
            written.set_exception(JournalFullError(self._why_full(used_bytes)))
        elif self._writer is None:
            written.set_exception(JournalWriteError("the journal is closed; try again later"))
        else:
            self._keeping[number] = _Keeping(arrival, destinations, size_bytes, written)
            self._keeping_bytes += size_bytes
            self._writer.submit(append)
        return written

    def freeze(self, number: int, parcel: ParcelEntry) -> asyncio.Future[None]:
        """Write a parcel. From this call on its items are owed to its destinations in this form and no other.

        It may be written once more, as a whole one; and whether it can be written or not, `done` may be said of it.

        Raises (in the future):
            JournalWriteError: it couldn't be written: after a crash its items are owed anew, from their arrivals. May
                be tried again with the same number and parcel.
        """
        written: asyncio.Future[None] = self._loop.create_future()
        if self._writer is None:
            written.set_exception(JournalWriteError("the journal is closed"))
            return written
        claims = self._ready.claims
        if number not in claims.parcels:
            # Until it is on the disk it needs its arrivals there, even if it is whole.
            taken = bits_by_number(parcel.places)
            claims.add_parcel(number, None, parcel, taken, parcel.destinations, time.time_ns(), whole=False)
        self._freezing[number] = _Freezing(parcel, written)
        self._writer.submit(Append(Kind.PARCEL, number, encode_parcel(parcel), may_wait=False))
        return written

    def done(self, destination: str, number: int) -> None:
        """Note that a destination has all of a parcel, or of an arrival that went as it came.

        After `stop` it isn't noted any more, and the destination gets it once more.
        """
        if self._opened is None:
            return
        claims = self._opened.claims
        unwritten = self._freezing.get(number)
        if unwritten is not None:
            # There may never be a record of it, so this is said of its items.
            self._news.add_settled((destination,), unwritten.entry.places)
        self._news.add_done(destination, number)
        claims.done(destination, number)
        if unwritten is not None and unwritten.written is None and number not in claims.parcels:
            del self._freezing[number]
        self._note_soon()

    def dropped(self, places: Iterable[int]) -> None:
        """Note that these items are owed to nobody: they were byte-equal repeats."""
        if self._opened is None:
            return
        dropped = array("Q", places)
        self._news.add_settled((), dropped)
        self._opened.claims.settle((), dropped)
        self._note_soon()

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

    def _owed(self, numbers: Sequence[int]) -> Iterator[Owed]:
        claims = self._ready.claims
        configured = self._configured()
        for number in numbers:
            try:
                parcel = claims.parcels.get(number)
                if parcel is not None:
                    owed: Owed | None = self._owed_parcel(number, parcel, configured)
                else:
                    arrival = claims.arrivals.get(number)
                    owed = None if arrival is None else self._owed_arrival(number, arrival, configured)
            except DamagedRecordError as error:
                _log.error("can't be delivered: %s", error)
            else:
                if owed is not None:
                    yield owed

    def _owed_parcel(self, number: int, parcel: ParcelClaims, configured: set[str]) -> OwedParcel | None:
        to = tuple(name for name in parcel.destinations if name in configured)
        if not to:
            return None
        entry = self._decoded(number, decode_parcel_head).entry
        return OwedParcel(number, to, entry.signal, entry.headers, entry.items, entry.size_bytes)

    def _owed_arrival(self, number: int, arrival: ArrivalClaims, configured: set[str]) -> Owed | None:
        remaining = _remaining(arrival, configured)
        if not remaining:
            return None
        head = self._decoded(number, decode_arrival_head)
        entry = head.entry
        if arrival.untouched:
            to = tuple(remaining)
            return OwedParcel(number, to, entry.signal, entry.headers, entry.items, head.request_bytes, untouched=True)
        indexes = {bits: indexes_of(bits) for bits in set(remaining.values())}
        return OwedArrival(
            number,
            entry.signal,
            entry.receiver,
            entry.arrived_wall_ns,
            entry.headers,
            head.request_bytes,
            {name: indexes[bits] for name, bits in remaining.items()},
            trusted=self._ready.crashed.get(number, 0) < UNTRUSTED_AFTER,
        )

    # -- what the writer tells ---------------------------------------------------------------------------------------

    def _told(self, dealt_with: Sequence[tuple[Append, Outcome]], closed: Sequence[Closed]) -> None:
        for append, outcome in dealt_with:
            if append.kind is Kind.ARRIVAL:
                self._arrival_told(append.number, outcome)
            else:
                self._parcel_told(append.number, outcome)
        for sequence, size_bytes in closed:
            self._ready.claims.close(sequence, size_bytes)
        self._look_at_size()
        self._tidy()

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

    # -- progress ----------------------------------------------------------------------------------------------------

    def _note_soon(self, after_s: float = _NOTE_S) -> None:
        if self._noting is None and self._writer is not None:
            self._noting = self._loop.call_later(after_s, self._note)

    def _note(self) -> None:
        self._noting = None
        if self._writer is not None:
            if self._news:
                self._writer.submit(self._note_task())
            self._tidy()

    def _note_task(self) -> Callable[[Storage], Callable[[], None]]:
        news, self._news = self._news, Progress()
        segments = [(one.numbers[:], one.gone[:]) for one in self._ready.claims.segments.values()]
        unwritten = [*self._keeping, *self._freezing]

        def note(storage: Storage) -> Callable[[], None]:
            try:
                if storage.progress_is_full:
                    present = {number for numbers, _ in segments for number in numbers}
                    gone = {number for _, numbers in segments for number in numbers}
                    storage.rewrite_progress(news, present.union(unwritten), gone)
                else:
                    storage.note(news)
            except OSError as error:
                return partial(self._not_noted, news, error)
            return _nothing

        return note

    def _not_noted(self, news: Progress, error: OSError) -> None:
        _often.warning("%s: progress can't be written (%s)", self._directory.path, error.strerror)
        self._news.add(news)
        self._note_soon(RETRY_S)

    # -- room --------------------------------------------------------------------------------------------------------

    def _size_bytes(self) -> int:
        return self._ready.storage.size_bytes + self._keeping_bytes

    def _look_at_size(self) -> None:
        size_bytes = self._size_bytes()
        mark = self._alarm.look(size_bytes, self._limit_bytes)
        if mark is not None:
            _log.warning("%s: %d %% full: %s", self._directory.path, mark, self._why_full(size_bytes))

    def _why_full(self, size_bytes: int) -> str:
        owed_to = self._ready.claims.most_owed_to()
        waiting = f", most of it for {owed_to}" if owed_to is not None else ""
        return (
            f"{self._directory.path} holds {size_bytes // _MIB} MiB of at most {self._limit_bytes // _MIB} MiB "
            f"(extensions::journal::max_size_mib){waiting}"
        )

    def pressed_by(self) -> str | None:
        """Past nine tenths of its size: the destination that what has waited longest waits for. Else None."""
        if self._size_bytes() * 100 < _PRESSED_PERCENT * self._limit_bytes:
            return None
        now_s = time.monotonic()
        looked_s, name = self._pressed_by
        if now_s - looked_s > _PRESSED_FOR_S:
            owed = self._ready.claims.owed()
            # What is held for judging is owed to everybody; then it is the one that is owed the most.
            name = min(owed, key=lambda one: (owed[one].oldest_wall_ns or 0, -owed[one].size_bytes), default=None)
            self._pressed_by = now_s, name
        return name

    def _tidy(self) -> None:
        """Have segments deleted that nobody needs, and emptied that hardly anybody does."""
        writer = self._writer
        if writer is None:
            return
        claims = self._ready.claims
        for sequence in claims.free_segments():
            segment = claims.segments[sequence]
            segment.kept = True
            if self._news:
                writer.submit(self._note_task())
            writer.submit(self._delete_task(sequence, segment.finished[:], claims.least_besides(sequence)))
        if not self._forwarding:
            is_pressed = self._size_bytes() * 2 >= self._limit_bytes
            emptied = segment_to_empty(claims.segments, is_pressed=is_pressed)
            if emptied is not None:
                self._forwarding = True
                writer.submit(self._forward_task(emptied))

    def _delete_task(
        self, sequence: int, finished: Sequence[int], oldest: int
    ) -> Callable[[Storage], Callable[[], None]]:
        def delete(storage: Storage) -> Callable[[], None]:
            try:
                storage.delete(sequence, finished, oldest)
            except OSError as error:
                return partial(self._not_deleted, sequence, error)
            return partial(self._deleted, sequence)

        return delete

    def _deleted(self, sequence: int) -> None:
        self._ready.claims.forget_segment(sequence)
        self._look_at_size()

    def _not_deleted(self, sequence: int, error: OSError) -> None:
        _often.warning("%s: a segment can't be deleted (%s)", self._directory.path, error.strerror)
        self._loop.call_later(RETRY_S, self._delete_again, sequence)

    def _delete_again(self, sequence: int) -> None:
        if self._opened is not None:
            self._opened.claims.segments[sequence].kept = False
            self._tidy()

    def _forward_task(self, sequence: int) -> Callable[[Storage], Callable[[], None]]:
        records: list[tuple[int, Location]] = []
        left_bytes = _FORWARD_BYTES
        for number, location in self._ready.claims.records_in(sequence):
            records.append((number, location))
            left_bytes -= location.size_bytes
            if left_bytes < 0:
                break

        def forward(storage: Storage) -> Callable[[], None]:
            return partial(self._forwarded, sequence, storage.forward(records))

        return forward

    def _forwarded(self, sequence: int, moved: Sequence[tuple[int, Location | None]]) -> None:
        claims = self._ready.claims
        self._forwarding = False
        for number, location in moved:
            if location is not None:
                claims.moved(number, location)
            else:
                claims.segments[sequence].kept = True
        self._tidy()

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
            write_errors=storage.write_errors,
            quarantined=len(opened.damage),
            alarm_percent=mark_of(size_bytes, self._limit_bytes),
        )


def _remaining(arrival: ArrivalClaims, configured: set[str]) -> dict[str, int]:
    """The bits of what is owed directly, for each destination that is configured."""
    return {
        name: bits
        for name, bits in zip(arrival.destinations, arrival.remaining, strict=True)
        if bits and name in configured
    }


def _unconfigured(name: str, owed: OwedTo) -> Unconfigured:
    return Unconfigured(name, owed.items, owed.size_bytes, owed.oldest_wall_ns or 0)


def _tell(written: asyncio.Future[None], outcome: Outcome) -> None:
    if written.done():
        return
    if isinstance(outcome, JournalWriteError):
        written.set_exception(outcome)
    else:
        written.set_result(None)


def _close(opened: Opened, last_note: Callable[[Storage], object]) -> None:
    last_note(opened.storage)
    opened.storage.close()
    opened.taking.close()


def _nothing() -> None:
    pass
