"""Where progress is kept: one file that is appended to, and replaced by a shorter one when it is full.

Every method blocks; they belong to the thread that writes.  What can't be written is nowhere a loss: it leads to
repeats after a crash.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable

from collector.journal.coding import FileHead, UnreadableBodyError
from collector.journal.directory import FORMAT, Directory, FileKind, JournalFile
from collector.journal.framing import Gap, Kind, scan
from collector.journal.progress import Progress
from collector.journal.reading import read_whole
from collector.journal.segment_file import SegmentFile

_log = logging.getLogger(__name__)

_LEAST_BYTES = 1 << 20
# How much larger than what has to be kept a new file is, so that it isn't full again at once.
_ROOM_FACTOR = 4


class ProgressFile:
    """See the module's text.

    Args:
        directory: which this process holds.
        next_number: tells the least number that no record has yet.
        durable: whether `sync` really has to.
    """

    def __init__(self, directory: Directory, next_number: Callable[[], int], *, durable: bool) -> None:
        self._directory = directory
        self._next_number = next_number
        self._durable = durable
        self._file: SegmentFile | None = None
        self.write_errors = 0

    @property
    def is_full(self) -> bool:
        """Whether it should be written anew: half of its room is used, or it failed."""
        return self._file is None or self._file.used_bytes > self._file.room_bytes // 2

    def note(self, progress: Progress) -> None:
        """Append, without syncing. Raises OSError."""
        if not progress:
            return
        if self._file is None:
            raise OSError(0, "there is no file for it")
        try:
            self._file.append(list(progress.records()))
        except OSError:
            self.write_errors += 1
            self._drop()
            raise

    def sync(self) -> None:
        """Make it survive a loss of power, if that is wanted. Raises OSError."""
        if not self._durable:
            return
        if self._file is None:
            raise OSError(0, "there is no file for it")
        try:
            self._file.sync()
        except OSError:
            self.write_errors += 1
            self._drop()
            raise

    def rewrite(self, more: Progress, present: set[int], gone: set[int]) -> None:
        """Replace all files by one that says no more than is needed.

        Args:
            more: what is to be noted besides.
            present: numbers of all records that are in segments.
            gone: of those that nobody needs.

        Raises:
            OSError: it can't be done; the old files are all there, and nothing of `more` is noted.
        """
        old = self._directory.listing().progress
        known, _ = read_progress(old)
        known.add(more)
        kept = known.restricted(present, gone)
        sequence = max((file.sequence for file in old), default=0) + 1
        head = FileHead(FORMAT, max(self._next_number(), known.highest_number() + 1), time.time_ns())
        file = self._directory.new_file(FileKind.PROGRESS, sequence)
        new = SegmentFile.create(self._directory, file, head, max(_LEAST_BYTES, _ROOM_FACTOR * kept.size_bytes))
        try:
            new.append(list(kept.records()))
            new.sync()
        except OSError:
            self.write_errors += 1
            new.abandon()
            file.path.unlink(missing_ok=True)
            raise
        self._drop()
        self._file = new
        for one in old:
            self._directory.remove(one)

    def close(self) -> None:
        """Close it in order."""
        file, self._file = self._file, None
        if file is not None:
            try:
                if self._durable:
                    file.sync()
                file.finish()
            except OSError as error:
                _log.warning("%s: progress can't be written (%s)", self._directory.path, error.strerror)

    def _drop(self) -> None:
        file, self._file = self._file, None
        if file is not None:
            file.settle()
            file.abandon()


def read_progress(files: Iterable[JournalFile]) -> tuple[Progress, list[tuple[JournalFile, Gap]]]:
    """What is said in files of progress, and what in them is damaged.

    Raises:
        OSError: a file can't be opened.
    """
    known = Progress()
    damaged: list[tuple[JournalFile, Gap]] = []
    for file in files:
        # (What the disk can't read is no record either, and its loss leads to repeats.)
        data, _ = read_whole(file.path)
        for found in scan(data, file.marker):
            if isinstance(found, Gap):
                damaged.append((file, found))
            elif found.kind not in (Kind.FILE, Kind.END):
                try:
                    known.read(found)
                except UnreadableBodyError:
                    damaged.append((file, Gap(found.offset, found.end, torn=False)))
    return known, damaged
