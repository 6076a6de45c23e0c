"""What can go wrong with the journal while it is in use. (What keeps it from being opened is a `StartError`.)"""

from __future__ import annotations

from collector.intake import OverloadedError

# A disk that is full, or a backend that is down, doesn't recover within milliseconds.
RETRY_AFTER_S = 2.0


class JournalFullError(OverloadedError):
    """An arrival was refused: the journal holds as much as it may, most of it for `destination`. Nothing was kept."""

    def __init__(self, message: str, destination: str) -> None:
        super().__init__(message, RETRY_AFTER_S, destination)


class JournalWriteError(OverloadedError):
    """A record couldn't be written, or not be synced; it counts as not kept. The same may work a moment later."""

    def __init__(self, message: str) -> None:
        super().__init__(message, RETRY_AFTER_S)


class DamagedRecordError(Exception):
    """A record's bytes are no longer what was written, or are gone. The message names the record and its place.

    `may_pass`: the disk didn't give them this time, so that they may be there the next time.
    """

    def __init__(self, message: str, *, may_pass: bool = False) -> None:
        super().__init__(message)
        self.may_pass = may_pass
