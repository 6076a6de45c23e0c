"""Files of records, read as far as the disk gives them."""

from __future__ import annotations

import os
from pathlib import Path

from collector.journal.framing import HEADER_BYTES, Record, length_of, record_at

_CHUNK_BYTES = 1 << 20
_SECTOR_BYTES = 4096


Hole = tuple[int, int]
"""From where to where the disk can't read a file."""


def read_whole(path: Path) -> tuple[bytearray, list[Hole]]:
    """All bytes of a file, and where there are zeros because the disk can't read it.

    Raises:
        OSError: it can't be opened.
    """
    return read_part(path, 0, path.stat().st_size)


def read_part(path: Path, offset: int, size_bytes: int) -> tuple[bytearray, list[Hole]]:
    """The same of some of its bytes; there are zeros behind its end, too. Raises OSError as `read_whole`."""
    data = bytearray(size_bytes)
    holes: list[Hole] = []
    view = memoryview(data)
    handle = os.open(path, os.O_RDONLY)
    try:
        for start in range(0, size_bytes, _CHUNK_BYTES):
            _read_into(handle, view[start : start + _CHUNK_BYTES], offset + start, holes)
    finally:
        os.close(handle)
    return data, holes


def _read_into(handle: int, target: memoryview, offset: int, holes: list[Hole]) -> None:
    try:
        os.preadv(handle, [target], offset)
    except OSError:
        if len(target) <= _SECTOR_BYTES:
            begin = holes.pop()[0] if holes and holes[-1][1] == offset else offset
            holes.append((begin, offset + len(target)))
            return
        for start in range(0, len(target), _SECTOR_BYTES):
            _read_into(handle, target[start : start + _SECTOR_BYTES], offset + start, holes)


def read_record(handle: int, marker: bytes, offset: int, size_bytes: int | None = None) -> Record | None:
    """The record at a place of an open file, if a whole one is there. Raises OSError.

    Args:
        handle: the file.
        marker: its marker.
        offset: where the record begins.
        size_bytes: of the record with its header, where that is known.
    """
    if size_bytes is None:
        size_bytes = HEADER_BYTES + length_of(os.pread(handle, HEADER_BYTES, offset), marker)
    data = os.pread(handle, size_bytes, offset)
    return record_at(data, 0, marker)
