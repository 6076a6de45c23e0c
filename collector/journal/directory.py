"""The directory of a journal: who may use it, what is in it, and how its files are called.

    VERSION                              the format of all the files
    lock                                 held by the process that uses it, whose id is in it
    taking                               the arrival that was just being taken again (see `taking`)
    segment-<number>-<marker>.log        records
    progress-<number>-<marker>.log       who is done with what
    quarantine/                          copies of damaged bytes
    ledger.db…                           another part's

Files of other names are nobody's business and stay as they are.
"""

from __future__ import annotations

import fcntl
import os
import re
import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from collector.journal.framing import MARKER_BYTES
from collector.start_error import StartError

FORMAT = 1
_KEY = "extensions::journal::directory"
_VERSION = "VERSION"
_LOCK = "lock"
TAKING = "taking"
_QUARANTINE = "quarantine"
_LOCK_BYTES = 20
_LOCK_ATTEMPTS = 6
_LOCK_PAUSE_S = 0.1
_OWN = {_VERSION, _LOCK, TAKING, _QUARANTINE}
# The ledger of traces is kept beside the records.
_NEIGHBOUR = "ledger.db"
_NAME = re.compile(r"(segment|progress)-(\d{12,})-([0-9a-f]{16})\.log", re.ASCII)
_FIRST_LINE = "spanjudge journal, format "


class FileKind(StrEnum):
    """What a file holds."""

    SEGMENT = "segment"
    PROGRESS = "progress"


@dataclass(frozen=True, slots=True)
class JournalFile:
    """A file of records: what its name says."""

    path: Path
    kind: FileKind
    sequence: int
    marker: bytes


@dataclass(frozen=True, slots=True)
class Listing:
    """What is in a directory; files of each kind in their sequence."""

    segments: tuple[JournalFile, ...]
    progress: tuple[JournalFile, ...]
    foreign: tuple[str, ...]


class Directory:
    """A journal's directory.

    Args:
        path: where it is, or will be.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock: int | None = None

    # -- using it ----------------------------------------------------------------------------------------------------

    def acquire(self) -> None:
        """Make it if it isn't there, and take it for this process.

        Raises:
            StartError: it can't be made or written, another process has it, or it is a newer version's.
        """
        try:
            self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._lock = os.open(self.path / _LOCK, os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            raise StartError(f"{self.path}: {unusable(error)}") from error
        try:
            self._take_lock(self._lock)
            self.require_format()
            self._write_format()
        except BaseException:
            self.give_free()
            raise

    def give_free(self) -> None:
        """Let other processes use it."""
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def _take_lock(self, lock: int) -> None:
        for attempt in range(_LOCK_ATTEMPTS):
            if attempt:
                # Whoever has it may be about to end, or only be looking who has it.
                time.sleep(_LOCK_PAUSE_S)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                continue
            except OSError as error:
                raise StartError(f"{self.path}: {unusable(error)}") from error
            return
        raise StartError(
            f"{self.path}: {_holder(lock)} is using this journal; stop it, or give each sidecar a directory of its own "
            f"({_KEY})"
        )

    def used_by(self) -> str | None:
        """The process that has it, as in `process 123`; None if none has. Raises OSError."""
        try:
            lock = os.open(self.path / _LOCK, os.O_RDONLY)
        except FileNotFoundError:
            return None
        try:
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return _holder(lock)
        else:
            return None
        finally:
            os.close(lock)

    def _write_format(self) -> None:
        assert self._lock is not None
        try:
            os.pwrite(self._lock, f"{os.getpid()}\n".encode().ljust(_LOCK_BYTES), 0)
            version = self.path / _VERSION
            if not version.exists() or not version.stat().st_size:
                with version.open("w", encoding="ascii") as file:
                    file.write(f"{_FIRST_LINE}{FORMAT}\n")
                    file.flush()
                    os.fsync(file.fileno())
                self.sync()
        except OSError as error:
            raise StartError(f"{self.path}: {unusable(error)}") from error

    def require_format(self) -> None:
        """Raises StartError if what is in it is of a version that this one can't read."""
        try:
            text = (self.path / _VERSION).read_text(encoding="ascii", errors="replace").strip()
        except FileNotFoundError:
            return
        except OSError as error:
            raise StartError(f"{self.path}: {unusable(error)}") from error
        # Nothing, where the machine went down while it was written for the first time.
        if text and text != f"{_FIRST_LINE}{FORMAT}":
            raise StartError(
                f"{self.path}: this journal is of another version of spanjudge ({text[:60]!r}, this one writes format "
                f"{FORMAT}); start that version until everything is delivered, or set another directory ({_KEY})"
            )

    # -- what is in it -----------------------------------------------------------------------------------------------

    def listing(self) -> Listing:
        """What is in it now. Raises OSError."""
        files: list[JournalFile] = []
        foreign: list[str] = []
        for path in self.path.iterdir():
            match = _NAME.fullmatch(path.name)
            if match is not None:
                kind, sequence, marker = match.groups()
                files.append(JournalFile(path, FileKind(kind), int(sequence), bytes.fromhex(marker)))
            elif path.name not in _OWN and not path.name.startswith(_NEIGHBOUR):
                foreign.append(path.name)
        files.sort(key=lambda file: (file.sequence, file.marker))
        segments = tuple(file for file in files if file.kind is FileKind.SEGMENT)
        progress = tuple(file for file in files if file.kind is FileKind.PROGRESS)
        return Listing(segments, progress, tuple(sorted(foreign)))

    def new_file(self, kind: FileKind, sequence: int) -> JournalFile:
        """A name for a new file, with a marker that nobody can foresee."""
        marker = secrets.token_bytes(MARKER_BYTES)
        return JournalFile(self.path / f"{kind}-{sequence:012d}-{marker.hex()}.log", kind, sequence, marker)

    def remove(self, file: JournalFile) -> None:
        """Delete a file for good. Raises OSError."""
        file.path.unlink(missing_ok=True)
        self.sync()

    def sync(self) -> None:
        """Make creations and deletions durable. Raises OSError."""
        with self._opened() as handle:
            os.fsync(handle)

    @contextmanager
    def _opened(self) -> Iterator[int]:
        handle = os.open(self.path, os.O_RDONLY)
        try:
            yield handle
        finally:
            os.close(handle)

    # -- quarantine --------------------------------------------------------------------------------------------------

    def quarantine(self, file: JournalFile, offset: int, data: bytes) -> bool:
        """Keep a copy of damaged bytes; False if it is there already. Raises OSError."""
        folder = self.path / _QUARANTINE
        copy = folder / f"{file.path.stem}-at-{offset}.bytes"
        if copy.exists() and copy.stat().st_size == len(data):
            return False
        folder.mkdir(mode=0o700, exist_ok=True)
        with os.fdopen(os.open(copy, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as target:
            target.write(data)
        return True

    def quarantined(self) -> tuple[int, int]:
        """How many pieces are in quarantine, and their bytes. Raises OSError."""
        folder = self.path / _QUARANTINE
        if not folder.is_dir():
            return 0, 0
        sizes = [path.stat().st_size for path in folder.iterdir()]
        return len(sizes), sum(sizes)


def _holder(lock: int) -> str:
    holder = os.pread(lock, _LOCK_BYTES, 0).decode("ascii", "replace").strip()
    return f"process {holder}" if holder.isdigit() else "another process"


def unusable(error: OSError) -> str:
    """Why a directory can't be used, and what to do."""
    reason = (error.strerror or str(error)).lower()
    return f"can't keep a journal here ({reason}); make the directory writable with room on its disk, or set {_KEY}"
