"""Reads everything in a journal's directory: what is owed, and what is damaged. Changes nothing.

One segment is in memory at a time; what stays are the claims.
"""

from __future__ import annotations

import contextlib
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from collector.journal.bits import all_but, bits_by_number, bits_of
from collector.journal.claimed import Location
from collector.journal.claims import Claims
from collector.journal.coding import (
    UnreadableBodyError,
    decode_arrival_head,
    decode_file_head,
    decode_parcel_head,
)
from collector.journal.directory import JournalFile, Listing
from collector.journal.entries import INDEX_MASK, place_of
from collector.journal.framing import Gap, Kind, Record, scan
from collector.journal.progress import Progress
from collector.journal.progress_file import read_progress
from collector.journal.reading import read_record, read_whole
from collector.records import PLACE_BITS


@dataclass(frozen=True, slots=True)
class DamagedBytes:
    """Bytes of a file that are no record."""

    file: JournalFile
    gap: Gap


@dataclass(slots=True)
class Found:
    """What is in a directory.

    `next_number`: the least number that nothing in it ever had.  `sizes`: of the segments, without the empty room at
    their end.
    """

    claims: Claims = field(default_factory=Claims)
    progress: Progress = field(default_factory=Progress)
    next_number: int = 1
    damaged: list[DamagedBytes] = field(default_factory=list)
    sizes: dict[int, int] = field(default_factory=dict)


def read_directory(listing: Listing) -> Found:
    """Read all files.

    Raises:
        OSError: one can't be opened.
    """
    return _Reader(listing).read()


class _Reader:
    def __init__(self, listing: Listing) -> None:
        self._listing = listing
        self._found = Found()
        # In order, and each once, so that it can be searched.
        self._done: dict[str, Sequence[int]] = {}
        self._released: Sequence[int] = ()
        self._settled: list[tuple[tuple[str, ...], Sequence[int]]] = []
        self._parcels: list[tuple[JournalFile, int, list[tuple[int, Location]]]] = []

    def read(self) -> Found:
        found = self._found
        found.progress, damaged = read_progress(self._listing.progress)
        found.damaged += [DamagedBytes(file, gap) for file, gap in damaged]
        self._seen(found.progress.highest_number())
        self._done = {destination: sorted(numbers) for destination, numbers in found.progress.done.items()}
        self._released = sorted(found.progress.released)
        self._settled = [(group, sorted(places)) for group, places in found.progress.settled.items()]
        for file in self._listing.progress:
            self._read_heads(file)
        for file in self._listing.segments:
            self._read_segment(file)
        # Parcels take from arrivals that may stand behind them, where these were rewritten.
        for file, begun_wall_ns, places in self._parcels:
            self._read_parcels(file, begun_wall_ns, places)
        found.claims.sweep()
        return found

    def _seen(self, number: int) -> None:
        self._found.next_number = max(self._found.next_number, number + 1)

    def _read_heads(self, file: JournalFile) -> None:
        with file.path.open("rb") as opened:
            record = read_record(opened.fileno(), file.marker, 0)
        if record is not None and record.kind == Kind.FILE:
            with contextlib.suppress(UnreadableBodyError):
                self._seen(decode_file_head(record.body).next_number - 1)

    def _read_segment(self, file: JournalFile) -> None:
        data, holes = read_whole(file.path)
        parcels: list[tuple[int, Location]] = []
        end = begun_wall_ns = 0
        for found in scan(data, file.marker):
            end = found.end
            if isinstance(found, Gap):
                self._found.damaged.append(DamagedBytes(file, found))
                continue
            try:
                if found.kind == Kind.FILE:
                    head = decode_file_head(found.body)
                    begun_wall_ns = head.created_wall_ns
                    self._seen(head.next_number - 1)
                else:
                    self._read_segment_record(file, found, parcels)
            except UnreadableBodyError:
                self._found.damaged.append(DamagedBytes(file, Gap(found.offset, found.end, torn=False)))
        if holes:
            # Another start may be able to read it, so all of it has to stay as it is.
            end = len(data)
            self._found.damaged += [DamagedBytes(file, Gap(*hole, torn=False)) for hole in holes]
            self._found.claims.segment(file.sequence).kept = True
        self._found.sizes[file.sequence] = end
        self._found.claims.close(file.sequence, end)
        self._parcels.append((file, begun_wall_ns, parcels))

    def _read_segment_record(self, file: JournalFile, record: Record, parcels: list[tuple[int, Location]]) -> None:
        location = Location(file.sequence, record.offset, record.end - record.offset)
        match record.kind:
            case Kind.END:
                pass
            case Kind.ARRIVAL:
                self._read_arrival(record, location)
            case Kind.PARCEL:
                self._seen(record.number)
                parcels.append((record.number, location))
            case _:
                raise UnreadableBodyError(f"a record of kind {record.kind}")

    # -- arrivals ----------------------------------------------------------------------------------------------------

    def _read_arrival(self, record: Record, location: Location) -> None:
        head = decode_arrival_head(record.body)
        number = record.number
        self._seen(number)
        claims = self._found.claims
        if _contains(self._released, number):
            claims.add_gone(number, location)
            return
        entry = head.entry
        accepted = all_but(entry.items + len(entry.rejected), entry.rejected)
        untouched = [name for name in head.destinations if _contains(self._done.get(name, ()), number)]
        if len(untouched) == len(head.destinations):
            claims.add_gone(number, location)
            return
        remaining = [
            0 if name in untouched else accepted & ~self._settled_of(number, name) for name in head.destinations
        ]
        claims.add_arrival(number, location, head.destinations, remaining, entry.arrived_wall_ns)
        claims.arrivals[number].untouched = bool(untouched)

    def _settled_of(self, number: int, destination: str) -> int:
        bits = 0
        for group, places in self._settled:
            if group and destination not in group:
                continue
            start = bisect_left(places, place_of(number, 0))
            end = bisect_left(places, place_of(number + 1, 0), start)
            bits |= bits_of([place & INDEX_MASK for place in places[start:end]])
        return bits

    # -- parcels -----------------------------------------------------------------------------------------------------

    def _read_parcels(self, file: JournalFile, begun_wall_ns: int, places: Sequence[tuple[int, Location]]) -> None:
        if not places:
            return
        with file.path.open("rb") as opened:
            for number, location in places:
                record = read_record(opened.fileno(), file.marker, location.offset, location.size_bytes)
                if record is None:
                    # It was whole a moment ago; then it is as good as damaged, and its arrivals are all there.
                    continue
                try:
                    self._read_parcel(record, number, location, begun_wall_ns)
                except UnreadableBodyError:
                    gap = Gap(location.offset, location.offset + location.size_bytes, torn=False)
                    self._found.damaged.append(DamagedBytes(file, gap))

    def _read_parcel(self, record: Record, number: int, location: Location, begun_wall_ns: int) -> None:
        head = decode_parcel_head(record.body)
        entry = head.entry
        claims = self._found.claims
        taken = bits_by_number(entry.places)
        self._seen(max(entry.places, default=0) >> PLACE_BITS)
        lacking = [name for name in entry.destinations if not _contains(self._done.get(name, ()), number)]
        if not lacking or _contains(self._released, number):
            claims.add_gone(number, location, settles=bool(taken))
            claims.take(taken, entry.destinations)
            return
        claims.add_parcel(number, location, entry, taken, lacking, begun_wall_ns, whole=head.whole)


def _contains(numbers: Sequence[int], number: int) -> bool:
    at = bisect_left(numbers, number)
    return at < len(numbers) and numbers[at] == number


def owed_numbers(claims: Claims) -> Iterator[int]:
    """The numbers of all records that something is owed of, in order."""
    return iter(sorted([*claims.arrivals, *claims.parcels]))
