"""The file for what a destination can never take: kept for a person to look at, never dropped.

One JSON object a line: when, for which destination, which signal, how many items, why, and the serialised OTLP
request with them as base64, so that it can be sent again with any OTLP client once the cause is gone.
"""

from __future__ import annotations

import base64
import json
from datetime import UTC, datetime
from pathlib import Path

from collector.exporters.appending import append_whole
from collector.records import Signal


class DeadLetterFile:
    """Appends to one file. It is created with the first letter, readable by its owner alone.

    Args:
        path: where.
        destination: id of the exporter.
    """

    def __init__(self, path: Path, destination: str) -> None:
        self.path = path
        self._destination = destination

    def append(self, signal: Signal, request: bytes, items: int, reason: str) -> None:
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
                "request": base64.b64encode(request).decode(),
            }
        )
        self.path.parent.mkdir(parents=True, exist_ok=True)
        append_whole(self.path, line.encode() + b"\n", mode=0o600, sync=True)
