"""The journal as the collector uses it. Belongs to the event loop; nothing in it blocks but `open`.

In: arrivals before they are acknowledged, parcels before their first export, and who is done with what.  Out: their
bytes again, and after a restart everything that is still owed.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterable, Iterator, Mapping, Sequence

from collector.journal.entries import ArrivalEntry, ParcelEntry
from collector.journal.errors import DamagedRecordError
from collector.journal.recovered import Recovered
from collector.journal.settings import JournalSettings
from collector.journal.stats import JournalStats
from collector.records import Signal


class Journal:
    """See the module's text.

    Args:
        settings: where, how surely, how much.
        destinations: per signal the ids of its pipeline's exporters; what arrives is owed to all of them.
    """

    def __init__(self, settings: JournalSettings, destinations: Mapping[Signal, Sequence[str]]) -> None:
        self._settings = settings
        self._destinations = dict(destinations)
        self._next = 1
        self._arrivals: dict[int, ArrivalEntry] = {}
        self._parcels: dict[int, ParcelEntry] = {}

    def open(self) -> Recovered:
        """Lock the directory and read what is in it. Blocks; called once, before `start`.

        Raises:
            collector.start_error.StartError: the directory can't be used: by this process, or by this version.
        """
        return Recovered(iter(()))

    async def start(self) -> None:
        """Begin to take records."""

    async def stop(self) -> None:
        """Write and sync everything, and give the directory free. Nothing may be kept or read afterwards."""

    def destinations_changed(self, destinations: Mapping[Signal, Sequence[str]]) -> None:
        """Owe what arrives from now on to these. What is owed already stays so."""
        self._destinations = dict(destinations)

    def reserve(self) -> int:
        """A number for a record; each is given once, also over restarts. Whether it is used doesn't matter."""
        number = self._next
        self._next += 1
        return number

    def keep(self, number: int, arrival: ArrivalEntry) -> asyncio.Future[None]:
        """Write an arrival; when this returns it is as durable as the settings say, and owed to its destinations.

        Raises:
            JournalFullError: there is no room for it.
            JournalWriteError: it couldn't be written. The number must not be used again.
        """
        self._arrivals[number] = arrival
        return _written()

    def freeze(self, number: int, parcel: ParcelEntry) -> asyncio.Future[None]:
        """Write a parcel; from then on its items are owed to its destinations in this form, and no other.

        Raises:
            JournalWriteError: it couldn't be written. May be tried again with the same number and parcel.
        """
        self._parcels[number] = parcel
        return _written()

    def done(self, destination: str, number: int) -> None:
        """Note that a destination has all of a parcel, or of an arrival that went as it came."""

    def dropped(self, places: Iterable[int]) -> None:
        """Note that these items are owed to nobody: they were byte-equal repeats."""

    @contextlib.contextmanager
    def taking(self, number: int) -> Iterator[None]:
        """Around taking an arrival again after a restart, which must not await: if the process dies in it, the next
        start knows by which arrival. Writes a few bytes to a file, without syncing."""
        yield

    def read_arrival(self, number: int) -> ArrivalEntry:
        """An arrival that is still needed: owed to somebody, or part of a parcel that is. May be called in a thread.

        Raises:
            DamagedRecordError: its bytes are damaged or gone.
        """
        try:
            return self._arrivals[number]
        except KeyError:
            raise DamagedRecordError(f"arrival {number} is not in the journal") from None

    def read_parcel(self, number: int) -> ParcelEntry:
        """A parcel that is still owed to somebody. May be called in a thread.

        On DamagedRecordError don't say that it is done: at the next start, what is in it is owed anew, from its
        arrivals.

        Raises:
            DamagedRecordError: its bytes are damaged or gone.
        """
        try:
            return self._parcels[number]
        except KeyError:
            raise DamagedRecordError(f"parcel {number} is not in the journal") from None

    def pressed_by(self) -> str | None:
        """The destination that the oldest owed record waits for, if the journal is almost full; else None."""
        return None

    def stats(self) -> JournalStats:
        """How it stands now."""
        return JournalStats(0, self._settings.max_size_mib << 20, 0, {}, 0, 0, 0, 0)


def _written() -> asyncio.Future[None]:
    written: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    written.set_result(None)
    return written
