"""The file for what a destination can never take: kept for a person to look at, never dropped.

One JSON object a line: when, for which destination, which signal, how many items, why, the headers that have to travel
with them, and the serialised OTLP request as base64, so that it can be sent again with any OTLP client once the cause
is gone.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType

from collector.exporters.appending import append_whole
from collector.records import Signal

_NO_HEADERS: Mapping[str, str] = MappingProxyType({})


class DeadLetterFile:
    """Appends to one file. It is created with the first letter, readable by its owner alone.

    Args:
        path: where.
        destination: id of the exporter.
    """

    def __init__(self, path: Path, destination: str) -> None:
        self.path = path
        self._destination = destination

    def append(
        self, signal: Signal, request: bytes, items: int, reason: str, headers: Mapping[str, str] = _NO_HEADERS
    ) -> None:
        """Write one letter and see it on the disk.

        Raises:
            OSError: it couldn't be written; what is in it has to be kept.
        """
        line = json.dumps(
            {
                "time": datetime.now(UTC).isoformat(timespec="milliseconds"),
                "destination": self._destination,
                "signal": signal.value,
                "items": items,
                "reason": reason,
                "headers": dict(headers),
                "request": base64.b64encode(request).decode(),
            }
        )
        self.path.parent.mkdir(parents=True, exist_ok=True)
        append_whole(self.path, line.encode() + b"\n", mode=0o600, sync=True)
