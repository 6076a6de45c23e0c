"""The files of a journal that is in use: records appended, moved and deleted, progress noted. Every method blocks.

Belongs to one thread at a time: to the one that opens the journal, then to the writer's.  Only the counts may be read
from elsewhere, and `read`, which opens files by itself, be called.
"""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from collector.journal.claimed import Location
from collector.journal.coding import FileHead, Parts, UnreadableBodyError, decode_parcel_head
from collector.journal.directory import FORMAT, Directory, FileKind, JournalFile
from collector.journal.errors import DamagedRecordError, JournalWriteError
from collector.journal.framing import HEADER_BYTES, Kind, Record
from collector.journal.progress import Progress
from collector.journal.progress_file import ProgressFile
from collector.journal.reading import read_record
from collector.journal.segment_file import SegmentFile
from collector.logs import RateLimited
from collector.records import PLACE_BITS

_log = RateLimited(logging.getLogger(__name__))

# How much is written between two syncs: more would only make everybody in it wait longer.
GROUP_BYTES = 8 << 20
# A disk that was full is asked again after this long.
RETRY_S = 1.0
_HEAD_BYTES = 1024
_MIB = 1 << 20
_LEAST_SEGMENT_BYTES = _MIB
_MOST_SEGMENT_BYTES = 64 * _MIB
_SEGMENTS = 32


def segment_bytes_for(limit_bytes: int) -> int:
    """How large segments are in a journal of this size: it has some dozens, so that space comes back bit by bit."""
    return min(max(limit_bytes // _SEGMENTS, _LEAST_SEGMENT_BYTES), _MOST_SEGMENT_BYTES)


@dataclass(frozen=True, slots=True)
class Append:
    """A record to write. `may_wait`: it is refused while there is no spare segment."""

    kind: Kind
    number: int
    body: Parts
    may_wait: bool

    @property
    def size_bytes(self) -> int:
        """Bytes of the body."""
        return sum(map(len, self.body))


Outcome = Location | JournalWriteError
Closed = tuple[int, int]
"""A segment that isn't written to any more: its number in the sequence, and its size."""


class Storage:
    """See the module's text.

    Args:
        directory: which this process holds.
        durable: whether what is written is synced before it counts as kept.
        segment_bytes: how large segments are.
        next_number: tells the least number that no record has yet.
    """

    def __init__(
        self, directory: Directory, segment_bytes: int, next_number: Callable[[], int], *, durable: bool
    ) -> None:
        self._directory = directory
        self._durable = durable
        self._segment_bytes = segment_bytes
        self._next_number = next_number
        self._files: dict[int, JournalFile] = {}
        self._sizes: dict[int, int] = {}
        self._sequence = 0
        self._active: SegmentFile | None = None
        self._spare: SegmentFile | None = None
        self.progress = ProgressFile(directory, next_number, durable=durable)
        self._retry_at_s = 0.0
        self._closed: list[Closed] = []
        self.syncs = 0
        self.write_errors = 0
        self.hindrance: str | None = None

    @property
    def size_bytes(self) -> int:
        """Of all segments, as far as they are written."""
        active = self._active
        return sum(list(self._sizes.values())) + (active.used_bytes if active is not None else 0)

    @property
    def segment_count(self) -> int:
        """Segments that hold records."""
        return len(self._sizes) + (self._active is not None)

    def adopt(self, file: JournalFile, size_bytes: int) -> None:
        """Know a segment that was there before."""
        self._files[file.sequence] = file
        self._sizes[file.sequence] = size_bytes
        self._sequence = max(self._sequence, file.sequence)

    def file_of(self, location: Location) -> JournalFile:
        """The file that a record is in."""
        return self._files[location.segment]

    # -- records -----------------------------------------------------------------------------------------------------

    def prepare(self) -> None:
        """See that there is a spare segment; says so when there can't be one."""
        if self._spare is not None or time.monotonic() < self._retry_at_s:
            return
        try:
            self._spare = self._new_segment(self._segment_bytes)
        except OSError as error:
            self._failed(error, "can't make a new segment")

    @property
    def is_ready(self) -> bool:
        """Whether there is a spare segment."""
        return self._spare is not None

    def write(self, batch: Sequence[Append]) -> list[Outcome]:
        """Write records, all as durable as they are to be when this returns; for each where it is, or why not."""
        self.prepare()
        outcomes: list[Outcome] = []
        group: list[Append] = []
        group_bytes = 0
        for append in batch:
            size_bytes = append.size_bytes
            full = self._active is not None and not self._active.fits(group_bytes + size_bytes)
            if group and full:
                outcomes += self._write_group(group)
                group, group_bytes = [], 0
            self.prepare()
            if append.may_wait and self._spare is None:
                if group:
                    outcomes += self._write_group(group)
                    group, group_bytes = [], 0
                outcomes.append(JournalWriteError(f"{self._directory.path}: {self.hindrance}; try again later"))
                continue
            group.append(append)
            group_bytes += size_bytes + HEADER_BYTES
        if group:
            outcomes += self._write_group(group)
        return outcomes

    def closed(self) -> list[Closed]:
        """Segments that were closed since this was asked last."""
        closed, self._closed = self._closed, []
        return closed

    def _write_group(self, group: Sequence[Append]) -> list[Outcome]:
        try:
            segment = self._segment_for(sum(append.size_bytes + HEADER_BYTES for append in group))
        except OSError as error:
            self._failed(error, "can't make a new segment")
            return [JournalWriteError(f"{self._directory.path}: {self.hindrance}; try again later")] * len(group)
        try:
            places = segment.append([(append.kind, append.number, append.body) for append in group])
            if self._durable:
                segment.sync()
                self.syncs += 1
            else:
                segment.settle()
        except OSError as error:
            # What the disk has of it is unknown, and a sync that failed once can't be repeated.
            self._failed(error, f"can't write to {segment.file.path.name}")
            self._active = None
            segment.abandon()
            self._close(segment)
            return [JournalWriteError(f"{self._directory.path}: {self.hindrance}; try again later")] * len(group)
        if self.hindrance is not None and self._spare is not None:
            self.hindrance = None
            logging.getLogger(__name__).info("%s: requests are taken again", self._directory.path)
        return [Location(segment.file.sequence, offset, size_bytes) for offset, size_bytes in places]

    def _segment_for(self, body_bytes: int) -> SegmentFile:
        """The segment to write so much to."""
        if self._active is not None and self._active.fits(body_bytes):
            return self._active
        if self._spare is not None and self._spare.fits(body_bytes):
            following, self._spare = self._spare, None
        else:
            following = self._new_segment(max(self._segment_bytes, body_bytes + 2 * HEADER_BYTES + _HEAD_BYTES))
        self._finish_active()
        self._active = following
        return following

    def _finish_active(self) -> None:
        if self._active is None:
            return
        segment, self._active = self._active, None
        try:
            segment.finish()
        except OSError as error:
            # Everything in it is kept; only its unused room isn't given back.
            _log.warning("%s: can't be closed in order (%s)", segment.file.path, error.strerror)
        self._close(segment)

    def _close(self, segment: SegmentFile) -> None:
        self._sizes[segment.file.sequence] = segment.used_bytes
        self._closed.append((segment.file.sequence, segment.used_bytes))

    def _new_segment(self, room_bytes: int) -> SegmentFile:
        self._sequence += 1
        file = self._directory.new_file(FileKind.SEGMENT, self._sequence)
        head = FileHead(FORMAT, self._next_number(), time.time_ns())
        segment = SegmentFile.create(self._directory, file, head, room_bytes)
        self._files[file.sequence] = file
        return segment

    def _failed(self, error: OSError, what: str) -> None:
        self.write_errors += 1
        self._retry_at_s = time.monotonic() + RETRY_S
        self.hindrance = f"{what} ({(error.strerror or str(error)).lower()})"
        _log.error(
            "%s: %s; requests are refused until it works again. Make room, or see to the disk",
            self._directory.path,
            self.hindrance,
        )

    def read(self, number: int, location: Location) -> Record:
        """A record. May be called from any thread.

        Raises:
            DamagedRecordError: it isn't there as it was written.
        """
        file = self._files.get(location.segment)
        place = f"record {number}, segment {location.segment} at {location.offset}"
        if file is None:
            raise DamagedRecordError(f"{self._directory.path}: {place}: the segment is gone")
        try:
            handle = os.open(file.path, os.O_RDONLY)
            try:
                record = read_record(handle, file.marker, location.offset, location.size_bytes)
            finally:
                os.close(handle)
        except OSError as error:
            reason = f"{file.path}: {place}: can't be read ({error.strerror})"
            raise DamagedRecordError(reason, may_pass=True) from error
        if record is None or record.number != number:
            raise DamagedRecordError(f"{file.path}: {place}: its bytes are damaged")
        return record

    # -- moving and deleting -----------------------------------------------------------------------------------------

    def forward(self, records: Iterable[tuple[int, Location]]) -> list[tuple[int, Location, Location | None]]:
        """Write records once more at the end; where each was and is now, None for one that can't be copied."""
        appends: list[Append] = []
        places: list[Location] = []
        copied: list[tuple[int, Location, Location | None]] = []
        for number, location in records:
            try:
                record = self.read(number, location)
            except DamagedRecordError as error:
                _log.error("can't be copied: %s", error)
                copied.append((number, location, None))
            else:
                appends.append(Append(Kind(record.kind), number, (record.body,), may_wait=False))
                places.append(location)
        for append, old, outcome in zip(appends, places, self.write(appends), strict=True):
            if isinstance(outcome, Location):
                copied.append((append.number, old, outcome))
        return copied

    def delete(self, sequence: int, finished: Sequence[int], oldest: int) -> None:
        """Delete a segment, after noting elsewhere what only its records said.

        Args:
            sequence: which.
            finished: where in it parcels are that everybody has.
            oldest: the lowest number of a record that is in another segment; earlier ones needn't be noted.

        Raises:
            OSError: it can't be deleted.
        """
        file = self._files[sequence]
        try:
            settled = self._settled_by(file, finished, oldest)
            self.progress.note(settled)
            self.progress.sync()
        except OSError as error:
            # Room matters more: without the note, some spans may go out twice after a crash.
            _log.warning("%s: progress can't be written (%s)", self._directory.path, error.strerror)
        self._directory.remove(file)
        del self._files[sequence]
        self._sizes.pop(sequence, None)

    def _settled_by(self, file: JournalFile, finished: Sequence[int], oldest: int) -> Progress:
        settled = Progress()
        if not finished:
            return settled
        handle = os.open(file.path, os.O_RDONLY)
        try:
            for offset in finished:
                record = read_record(handle, file.marker, offset)
                if record is None:
                    continue
                try:
                    entry = decode_parcel_head(record.body).entry
                except UnreadableBodyError:
                    continue
                places = [place for place in entry.places if place >> PLACE_BITS >= oldest]
                settled.add_settled(entry.destinations, places)
        finally:
            os.close(handle)
        return settled

    # -- the end -----------------------------------------------------------------------------------------------------

    def close(self) -> None:
        """Close everything, and take away what holds nothing."""
        self._finish_active()
        if self._spare is not None:
            spare, self._spare = self._spare, None
            # Its head tells the next number, should no other segment be left.
            spare.abandon()
        self.progress.close()
