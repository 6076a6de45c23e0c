"""Appends whole lines to files, so that a full disk never leaves half a line behind.

Several processes may append to one file, and one of them may replace it: whoever writes holds a lock on the file, and
has made sure that it is the one of this name.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Iterator
from pathlib import Path


def append_whole(path: Path, line: bytes, *, mode: int = 0o644, sync: bool = False) -> None:
    """Append a line, or nothing of it.

    Raises:
        OSError: it couldn't be written; the file is as it was.
    """
    with opened_alone(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, mode) as descriptor:
        before_bytes = os.fstat(descriptor).st_size
        if _ends_within_a_line(descriptor, before_bytes):
            # The power went while the last one was written: what follows is a line of its own.
            line = b"\n" + line
        try:
            while line:
                line = line[os.write(descriptor, line) :]
            if sync:
                os.fsync(descriptor)
        except OSError:
            # Half a line would spoil the next one. What is no regular file can't be cut, and has nothing to be spoilt.
            with contextlib.suppress(OSError):
                os.ftruncate(descriptor, before_bytes)
            raise


def _ends_within_a_line(descriptor: int, size_bytes: int) -> bool:
    return size_bytes > 0 and os.pread(descriptor, 1, size_bytes - 1) != b"\n"


@contextlib.contextmanager
def opened_alone(path: Path, flags: int, mode: int = 0o600) -> Iterator[int]:
    """A descriptor of the file that has this name now, which nobody else opens like this meanwhile.

    Raises:
        OSError: it can't be opened, or locked.
    """
    while True:
        descriptor = os.open(path, flags, mode)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            if not _is_still(path, descriptor):
                continue
            yield descriptor
            return
        finally:
            os.close(descriptor)


def _is_still(path: Path, descriptor: int) -> bool:
    """Whether a file wasn't replaced between opening and locking it."""
    try:
        return os.path.samestat(path.stat(), os.fstat(descriptor))
    except FileNotFoundError:
        return False
