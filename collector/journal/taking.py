"""Which arrival is just being taken again after a restart: a few bytes in a file, written before and cleared after.

If taking one ends the process, the next start finds its number there.  A write without a sync survives that; a loss of
power isn't the arrival's fault.
"""

from __future__ import annotations

import os
import struct
from pathlib import Path
from zlib import crc32

_SLOT = struct.Struct("<QI")


class TakingFile:
    """The file. Every method raises OSError.

    Args:
        path: where it is.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._handle: int | None = None

    def left_over(self) -> int | None:
        """The arrival whose taking was begun and not ended."""
        try:
            data = self._path.read_bytes()
        except FileNotFoundError:
            return None
        if len(data) < _SLOT.size:
            return None
        number, checksum = _SLOT.unpack_from(data)
        return number if number and checksum == crc32(data[:8]) else None

    def begin(self, number: int) -> None:
        """This arrival is being taken; 0: none is."""
        if self._handle is None:
            self._handle = os.open(self._path, os.O_WRONLY | os.O_CREAT, 0o600)
        text = number.to_bytes(8, "little")
        os.pwrite(self._handle, text + crc32(text).to_bytes(4, "little"), 0)

    def end(self) -> None:
        """It was taken."""
        self.begin(0)

    def close(self) -> None:
        """Close the file."""
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None
