"""A file that records are appended to. Its room is allocated when it is made, so that a full disk is met then and not
when an answer waits for it.

Each blocks; they belong to one thread. Whoever reads a record opens its file by itself.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

from collector.journal.coding import FileHead, Parts, encode_file_head
from collector.journal.directory import Directory, JournalFile
from collector.journal.framing import HEADER_BYTES, Kind, header_of

# No system takes more buffers in one call.
_BUFFERS_AT_ONCE = 1024
_TAIL_BYTES = HEADER_BYTES


class SegmentFile:
    """A file that is being written. Everything that fails raises OSError.

    `used_bytes`: how far it is written.  `room_bytes`: how far it is preallocated.
    """

    def __init__(self, file: JournalFile, handle: int, room_bytes: int) -> None:
        self.file = file
        self.room_bytes = room_bytes
        self.used_bytes = 0
        self._handle = handle
        self._safe_bytes = 0

    @classmethod
    def create(cls, directory: Directory, file: JournalFile, head: FileHead, room_bytes: int) -> SegmentFile:
        """Make it, with all its room and its head on the disk; it is there entirely or not at all."""
        handle = os.open(file.path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            _allocate(handle, room_bytes)
            made = cls(file, handle, room_bytes)
            made.append([(Kind.FILE, file.sequence, encode_file_head(head))])
            made.sync()
            directory.sync()
        except BaseException:
            os.close(handle)
            file.path.unlink(missing_ok=True)
            raise
        return made

    def fits(self, body_bytes: int) -> bool:
        """Whether one more record fits into the room, and the mark at the end too."""
        return self.used_bytes + HEADER_BYTES + body_bytes + _TAIL_BYTES <= self.room_bytes

    def append(self, records: Sequence[tuple[Kind, int, Parts]]) -> list[tuple[int, int]]:
        """Write records; the place and size of each. They aren't synced."""
        buffers: list[bytes | memoryview] = []
        places: list[tuple[int, int]] = []
        offset = self.used_bytes
        for kind, number, body in records:
            header = header_of(self.file.marker, kind, number, body)
            size_bytes = len(header) + sum(map(len, body))
            places.append((offset, size_bytes))
            offset += size_bytes
            buffers.append(header)
            buffers += [part for part in body if len(part)]
        _write_all(self._handle, buffers, self.used_bytes)
        self.used_bytes = offset
        return places

    def sync(self) -> None:
        """Return when all that was written survives a loss of power."""
        _sync(self._handle)
        self._safe_bytes = self.used_bytes

    def settle(self) -> None:
        """What was written counts as kept, synced or not."""
        self._safe_bytes = self.used_bytes

    def finish(self) -> None:
        """Write the mark at the end, give back the room that is left, and close it."""
        try:
            self.append([(Kind.END, self.file.sequence, ())])
            os.ftruncate(self._handle, self.used_bytes)
        finally:
            os.close(self._handle)

    def abandon(self) -> None:
        """Close it after a failure, without what was written last, as far as that can still be done."""
        self.used_bytes = self._safe_bytes
        try:
            os.ftruncate(self._handle, self._safe_bytes)
        except OSError:
            # Then what was refused may come back at the next start, as a repeat.
            pass
        finally:
            os.close(self._handle)


def _allocate(handle: int, size_bytes: int) -> None:
    if hasattr(os, "posix_fallocate"):
        os.posix_fallocate(handle, 0, size_bytes)
    else:
        os.ftruncate(handle, size_bytes)


def _sync(handle: int) -> None:
    if hasattr(os, "fdatasync"):
        os.fdatasync(handle)
    else:
        os.fsync(handle)


def _write_all(handle: int, buffers: Sequence[bytes | memoryview], offset: int) -> None:
    for start in range(0, len(buffers), _BUFFERS_AT_ONCE):
        left = list(buffers[start : start + _BUFFERS_AT_ONCE])
        while left:
            written = os.pwritev(handle, left, offset)
            if not written:
                raise OSError(0, "nothing could be written")
            offset += written
            while left and written >= len(left[0]):
                written -= len(left.pop(0))
            if written:
                left[0] = memoryview(left[0])[written:]
