"""How full the journal is, when to say so, and who is to blame."""

from __future__ import annotations

import logging
from pathlib import Path

from collector.journal.alarms import FillAlarm, mark_of
from collector.journal.claims import Claims

_log = logging.getLogger(__name__)

_MIB = 1 << 20
_PRESSED_PERCENT = 90


class Fullness:
    """See the module's text. Sizes are given in bytes, as they are now.

    Args:
        path: of the journal.
        limit_bytes: how large it may become.
        claims: what is owed.
    """

    def __init__(self, path: Path, limit_bytes: int, claims: Claims) -> None:
        self.limit_bytes = limit_bytes
        self._path = path
        self._claims = claims
        self._alarm = FillAlarm()

    def has_room(self, size_bytes: int, more_bytes: int) -> bool:
        """Whether more may be taken in.

        What is larger than half of the journal counts as half: else it might never be let in, however often it comes.
        """
        return size_bytes + min(more_bytes, self.limit_bytes // 2) <= self.limit_bytes

    def is_half(self, size_bytes: int) -> bool:
        """Whether room should be made, at some cost."""
        return size_bytes * 2 >= self.limit_bytes

    def mark(self, size_bytes: int) -> int:
        """The highest mark that is reached, in percent."""
        return mark_of(size_bytes, self.limit_bytes)

    def look(self, size_bytes: int) -> None:
        """Say that a mark was passed, if one was."""
        mark = self._alarm.look(size_bytes, self.limit_bytes)
        if mark is not None:
            _log.warning("%d %% full: %s", mark, self.describe(size_bytes))

    def describe(self, size_bytes: int) -> str:
        """How full it is, and whom most of that is for."""
        owed_to = self._claims.most_owed_to()
        waiting = f", most of it for {owed_to}" if owed_to is not None else ""
        return (
            f"the journal in {self._path} has {size_bytes // _MIB} MiB of at most {self.limit_bytes // _MIB} MiB "
            f"(extensions::journal::max_size_mib){waiting}"
        )

    def pressed_by(self, size_bytes: int) -> str | None:
        """Past nine tenths: the destination that what has waited longest waits for. Else None."""
        if size_bytes * 100 < _PRESSED_PERCENT * self.limit_bytes:
            return None
        owed = self._claims.owed()
        # What is held for judging is owed to everybody; then it is the one that is owed the most.
        return min(owed, key=lambda name: (owed[name].oldest_wall_ns or 0, -owed[name].size_bytes), default=None)
