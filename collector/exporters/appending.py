"""Appends whole lines to files, so that a full disk never leaves half a line behind."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path


def append_whole(path: Path, line: bytes, *, mode: int = 0o644, sync: bool = False) -> None:
    """Append a line, or nothing of it.

    Raises:
        OSError: it couldn't be written; the file is as it was.
    """
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, mode)
    try:
        before_bytes = os.fstat(descriptor).st_size
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
    finally:
        os.close(descriptor)
