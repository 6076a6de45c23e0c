"""What is owed to whom, and which segment may go: a state machine without I/O and without a clock.

In: records that were written, and what became of them.  Out: what is still owed, and the segments that nobody needs.
Everything that is told only ever makes less owed, in whatever order and however often it is told.  Per record it keeps
some hundred bytes and never its content.
"""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from collector.journal.bits import bits_by_number
from collector.journal.claimed import ArrivalClaims, Location, ParcelClaims, SegmentClaims
from collector.journal.entries import MAX_NUMBER, ParcelEntry
from collector.journal.stats import OwedTo
from collector.journal.tally import Tally


class Claims:
    """See the module's text."""

    def __init__(self) -> None:
        self.arrivals: dict[int, ArrivalClaims] = {}
        self.parcels: dict[int, ParcelClaims] = {}
        self.segments: dict[int, SegmentClaims] = {}
        self._tallies: defaultdict[str, Tally] = defaultdict(Tally)

    # -- what was written --------------------------------------------------------------------------------------------

    def segment(self, sequence: int) -> SegmentClaims:
        """The segment of that number in the sequence."""
        found = self.segments.get(sequence)
        if found is None:
            found = self.segments[sequence] = SegmentClaims()
        return found

    def close(self, sequence: int, size_bytes: int) -> None:
        """Nothing more is written to this segment."""
        segment = self.segment(sequence)
        segment.closed = True
        segment.size_bytes = size_bytes

    def forget_segment(self, sequence: int) -> None:
        """It was deleted."""
        del self.segments[sequence]

    def add_arrival(
        self, number: int, location: Location, destinations: tuple[str, ...], remaining: Sequence[int], wall_ns: int
    ) -> None:
        """An arrival is kept. `remaining`: for each destination the bits of the items that are owed to it."""
        if number in self.arrivals:
            self.moved(number, location)
            return
        self._place(number, location)
        self.arrivals[number] = ArrivalClaims(location, destinations, list(remaining), wall_ns)
        for destination, bits in zip(destinations, remaining, strict=True):
            if bits:
                self._tallies[destination].add(number, bits.bit_count(), location.size_bytes)

    def add_parcel(
        self,
        number: int,
        location: Location | None,
        entry: ParcelEntry,
        taken: Mapping[int, int],
        destinations: Sequence[str],
        wall_ns: int,
        *,
        whole: bool,
    ) -> None:
        """A parcel is frozen, written already or not.

        Args:
            number: the record's.
            location: where it is written, if it is.
            entry: the parcel, of which the bytes aren't looked at.
            taken: per arrival the bits of the items that are in it.
            destinations: those of the entry's that lack it.
            wall_ns: the time, for one that has no arrival.
            whole: whether it has its bytes itself, and needs those of no arrival.
        """
        needs = {} if whole else taken
        if number in self.parcels:
            self._refreeze(number, location, whole=whole)
            return
        wall_ns = min((self.arrivals[one].wall_ns for one in taken if one in self.arrivals), default=wall_ns)
        for arrival_number in needs:
            if arrival_number in self.arrivals:
                self.arrivals[arrival_number].needed += 1
        owed_to = tuple(destinations)
        parcel = ParcelClaims(
            None, owed_to, array("Q", needs), entry.items, entry.size_bytes, wall_ns, bool(taken), whole
        )
        self.parcels[number] = parcel
        for destination in owed_to:
            self._tallies[destination].add(number, entry.items, entry.size_bytes)
        if location is not None:
            self.moved(number, location)
        self.take(taken, entry.destinations)

    def _refreeze(self, number: int, location: Location | None, *, whole: bool) -> None:
        """The same parcel once more, which may be whole now, or was already."""
        if location is None:
            return
        if whole:
            self.moved(number, location)
            self.became_whole(number)
        elif self.parcels[number].whole:
            # What this one needs may be gone.
            self._note(number, location)
        else:
            self.moved(number, location)

    def became_whole(self, number: int) -> None:
        """A parcel needs no arrivals any more."""
        parcel = self.parcels.get(number)
        if parcel is not None:
            parcel.whole = True
            self._need_no_more(parcel)

    def add_gone(self, number: int, location: Location, *, settles: bool = False) -> None:
        """A record is there that nobody needs. `settles`: it is a parcel in which items of arrivals were."""
        segment = self._note(number, location)
        segment.gone.append(number)
        if settles:
            segment.finished.append(location.offset)

    def moved(self, number: int, location: Location) -> None:
        """A record is in this place now."""
        record = self.arrivals.get(number) or self.parcels.get(number)
        if record is None:
            self.add_gone(number, location)
            return
        if record.location is not None:
            old = self.segment(record.location.segment)
            old.live -= 1
            old.live_bytes -= record.location.size_bytes
        record.location = location
        self._place(number, location)

    def copied(self, number: int, old: Location, new: Location) -> None:
        """A record was written once more, as it was in one place when that was begun."""
        location = self.location_of(number)
        if location in (old, None):
            self.moved(number, new)
        else:
            # Meanwhile it was written anew, and perhaps as something else.
            self._note(number, new)

    def _place(self, number: int, location: Location) -> None:
        segment = self._note(number, location)
        segment.live += 1
        segment.live_bytes += location.size_bytes

    def _note(self, number: int, location: Location) -> SegmentClaims:
        segment = self.segment(location.segment)
        segment.numbers.append(number)
        segment.least = min(segment.least, number)
        return segment

    # -- what became of it -------------------------------------------------------------------------------------------

    def done(self, destination: str, number: int) -> None:
        """A destination has all of a parcel, or of an arrival as it came."""
        parcel = self.parcels.get(number)
        if parcel is not None:
            if destination in parcel.destinations:
                parcel.destinations = tuple(one for one in parcel.destinations if one != destination)
                self._remove(destination, parcel.items, parcel.size_bytes)
                if not parcel.destinations:
                    self._finish(number, parcel)
            return
        arrival = self.arrivals.get(number)
        if arrival is not None and destination in arrival.destinations:
            arrival.untouched = True
            self._lessen(arrival, arrival.destinations.index(destination), 0)
            self._look(number, arrival)

    def settle(self, destinations: Sequence[str], places: Iterable[int]) -> None:
        """These items are owed no more to these destinations; to none at all, if none is named."""
        self.take(bits_by_number(places), destinations)

    def take(self, taken: Mapping[int, int], destinations: Sequence[str]) -> None:
        """The same, given as bits of the indexes per arrival."""
        for number, bits in taken.items():
            arrival = self.arrivals.get(number)
            if arrival is None:
                continue
            for at, destination in enumerate(arrival.destinations):
                if not destinations or destination in destinations:
                    self._lessen(arrival, at, arrival.remaining[at] & ~bits)
            self._look(number, arrival)

    def sweep(self) -> None:
        """After all was read: let arrivals go of which nothing was owed when they were added, and put order in."""
        for number, arrival in list(self.arrivals.items()):
            self._look(number, arrival)
        for tally in self._tallies.values():
            tally.sort(self._age_of)

    def _age_of(self, number: int) -> int:
        record = self.arrivals.get(number) or self.parcels.get(number)
        return 0 if record is None else record.wall_ns

    def _lessen(self, arrival: ArrivalClaims, at: int, bits: int) -> None:
        before = arrival.remaining[at]
        if bits == before:
            return
        arrival.remaining[at] = bits
        destination = arrival.destinations[at]
        if bits:
            self._tallies[destination].lessen(before.bit_count() - bits.bit_count())
        else:
            self._remove(destination, before.bit_count(), arrival.location.size_bytes)

    def _look(self, number: int, arrival: ArrivalClaims) -> None:
        if arrival.over:
            del self.arrivals[number]
            self._gone(number, arrival.location)

    def _finish(self, number: int, parcel: ParcelClaims) -> None:
        del self.parcels[number]
        if parcel.location is not None:
            segment = self._gone(number, parcel.location)
            if parcel.settles:
                segment.finished.append(parcel.location.offset)
        self._need_no_more(parcel)

    def _need_no_more(self, parcel: ParcelClaims) -> None:
        for number in parcel.arrivals:
            arrival = self.arrivals.get(number)
            if arrival is not None:
                arrival.needed -= 1
                self._look(number, arrival)
        parcel.arrivals = array("Q")

    def _gone(self, number: int, location: Location) -> SegmentClaims:
        segment = self.segments[location.segment]
        segment.live -= 1
        segment.live_bytes -= location.size_bytes
        segment.gone.append(number)
        return segment

    def _remove(self, destination: str, items: int, size_bytes: int) -> None:
        tally = self._tallies[destination]
        tally.remove(items, size_bytes)
        if tally.is_littered:
            self._oldest(destination)

    # -- what there is to know ---------------------------------------------------------------------------------------

    def free_segments(self) -> list[int]:
        """Closed segments in which nothing is needed, oldest first."""
        return sorted(
            sequence
            for sequence, segment in self.segments.items()
            if segment.closed and not segment.live and not segment.kept
        )

    def least_besides(self, sequence: int) -> int:
        """The lowest number of a record in any other segment."""
        return min((one.least for key, one in self.segments.items() if key != sequence), default=MAX_NUMBER)

    def numbers(self) -> tuple[set[int], set[int]]:
        """The numbers of all records that are in segments, and of those that nobody needs."""
        present: set[int] = set()
        gone: set[int] = set()
        for segment in self.segments.values():
            present.update(segment.numbers)
            gone.update(segment.gone)
        return present, gone

    def records_in(self, sequence: int) -> Iterator[tuple[int, Location]]:
        """The records in a segment that are needed, in order of their places."""
        found = {}
        for number in self.segments[sequence].numbers:
            location = self.location_of(number)
            if location is not None and location.segment == sequence:
                found[number] = location
        return iter(sorted(found.items(), key=lambda one: one[1]))

    def location_of(self, number: int) -> Location | None:
        """Where a record that is needed is."""
        record = self.arrivals.get(number) or self.parcels.get(number)
        return None if record is None else record.location

    def owed(self) -> dict[str, OwedTo]:
        """What each destination is owed, and since when."""
        return {
            name: OwedTo(tally.items, tally.size_bytes, self._oldest(name))
            for name, tally in sorted(self._tallies.items())
            if tally.records
        }

    def _oldest(self, destination: str) -> int | None:
        """When the first record came of which something is owed to a destination."""
        number = self._tallies[destination].oldest(lambda one: self._is_owed(one, destination))
        if number is None:
            return None
        return (self.arrivals.get(number) or self.parcels[number]).wall_ns

    def _is_owed(self, number: int, destination: str) -> bool:
        parcel = self.parcels.get(number)
        if parcel is not None:
            return destination in parcel.destinations
        arrival = self.arrivals.get(number)
        return arrival is not None and any(
            bits for name, bits in zip(arrival.destinations, arrival.remaining, strict=True) if name == destination
        )

    def most_owed_to(self) -> str | None:
        """The destination that is owed the most bytes."""
        lacking = {name: tally.size_bytes for name, tally in self._tallies.items() if tally.records}
        return max(lacking, key=lambda name: lacking[name], default=None)
