"""What a disk still has after a loss of power: of each file what was synced last, under names that were synced too.

A real disk may have more. Put in place of the calls that sync.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest import mock

from collector.journal import directory, segment_file


class SyncedDisk:
    """Remembers what was synced, of every directory that journals use."""

    def __init__(self) -> None:
        self._contents: dict[int, bytes] = {}
        self._names: dict[Path, dict[str, int]] = {}

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Watch what is synced meanwhile."""
        sync_directory = directory.Directory.sync

        def sync(handle: int) -> None:
            self._contents[os.fstat(handle).st_ino] = Path(f"/proc/self/fd/{handle}").read_bytes()

        def sync_names(of: directory.Directory) -> None:
            sync_directory(of)
            self._names[of.path] = {one.name: one.stat().st_ino for one in of.path.iterdir() if one.is_file()}

        with mock.patch.object(segment_file, "_sync", sync), mock.patch.object(directory.Directory, "sync", sync_names):
            yield

    def adopt(self, path: Path) -> None:
        """Everything in a directory is on the disk."""
        self._names[path] = {one.name: one.stat().st_ino for one in path.iterdir() if one.is_file()}
        for one in path.iterdir():
            if one.is_file():
                self._contents[one.stat().st_ino] = one.read_bytes()

    def lose_power(self, path: Path, target: Path) -> None:
        """Make a directory of what is left of another one."""
        target.mkdir()
        for name, inode in self._names.get(path, {}).items():
            (target / name).write_bytes(self._contents.get(inode, b""))
