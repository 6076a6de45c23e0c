"""The file for what a destination can never take: kept for a person to look at, never dropped.

One JSON object a line: whether it was sent after all (0 or 1), when, for which destination, which signal, how many
items, why, what the destination said, the headers that have to travel with them, and the serialised OTLP request as
base64.  `collector.exporters.letters` reads it.  The reason holds no content; what the destination said, and of course
the request, may.
"""

from __future__ import annotations

import base64
import errno
import json
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType

from collector.exporters.appending import append_whole
from collector.records import Parcel, Signal

_BATCH_BYTES = 16 << 20
_NO_HEADERS: Mapping[str, str] = MappingProxyType({})


class DeadLetterFile:
    """Appends to one file. It is created with the first letter, readable by its owner alone.

    Args:
        path: where.
        destination: id of the exporter.
        max_size_bytes: nothing is appended beyond this size, but at the end; None: there is no limit.
    """

    def __init__(self, path: Path, destination: str, max_size_bytes: int | None = None) -> None:
        self.path = path
        self.max_size_bytes = max_size_bytes
        self._destination = destination

    def size_bytes(self) -> int:
        """How large the file is now; 0 where there is none."""
        try:
            return self.path.stat().st_size
        except OSError:
            return 0

    def append(
        self,
        signal: Signal,
        request: bytes,
        items: int,
        reason: str,
        headers: Mapping[str, str] = _NO_HEADERS,
        answer: str = "",
    ) -> None:
        """Write one letter and see it on the disk.

        Raises:
            OSError: it couldn't be written, or the file has reached its limit; what is in it has to be kept.
        """
        if self.max_size_bytes is not None and self.size_bytes() >= self.max_size_bytes:
            raise OSError(
                errno.EDQUOT,
                f"it has {self.max_size_bytes >> 20} MiB (dead_letter_max_size_mib): "
                "send it with `spanjudge dead-letters send`, or move it away",
            )
        self._write(self._line(signal, request, items, reason, headers, answer))

    def append_all(self, parcels: Iterable[Parcel], reason: str) -> int:
        """Write a letter for each parcel, and see many at a time on the disk, since there may be no time for each.

        This is for the end, when there is no other place for them, and so it heeds no limit.

        Returns:
            How many were written.

        Raises:
            OSError: some couldn't be written; those before them are.
        """
        written, lines, size_bytes = 0, list[bytes](), 0
        for parcel in parcels:
            line = self._line(parcel.signal, parcel.request, parcel.items, reason, dict(parcel.headers), "")
            lines.append(line)
            size_bytes += len(line)
            if size_bytes >= _BATCH_BYTES:
                self._write(b"".join(lines))
                written += len(lines)
                lines, size_bytes = [], 0
        if lines:
            self._write(b"".join(lines))
        return written + len(lines)

    def _line(
        self, signal: Signal, request: bytes, items: int, reason: str, headers: Mapping[str, str], answer: str
    ) -> bytes:
        letter = {
            # First, and one byte: so that it can be changed in its place.
            "sent": 0,
            "time": datetime.now(UTC).isoformat(timespec="milliseconds"),
            "destination": self._destination,
            "signal": signal.value,
            "items": items,
            "reason": reason,
            "answer": answer,
            "headers": dict(headers),
            "request": base64.b64encode(request).decode(),
        }
        return json.dumps(letter).encode() + b"\n"

    def _write(self, lines: bytes) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        append_whole(self.path, lines, mode=0o600, sync=True)
