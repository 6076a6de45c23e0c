"""When to say that the journal is filling up: once for each mark it passes, and again only after it was well below."""

from __future__ import annotations

MARKS_PERCENT = (50, 80, 100)
_CALM_PERCENT = 5


def mark_of(size_bytes: int, limit_bytes: int) -> int:
    """The highest mark that is reached, in percent; 0 for none."""
    return max((mark for mark in MARKS_PERCENT if size_bytes * 100 >= mark * limit_bytes), default=0)


class FillAlarm:
    """Remembers which marks were told."""

    def __init__(self) -> None:
        self._told = 0

    def look(self, size_bytes: int, limit_bytes: int) -> int | None:
        """The mark to tell now, if there is one."""
        mark = mark_of(size_bytes, limit_bytes)
        if mark > self._told:
            self._told = mark
            return mark
        # A size that swings about a mark isn't worth a line each time.
        if self._told and size_bytes * 100 < (self._told - _CALM_PERCENT) * limit_bytes:
            self._told = mark
        return None
