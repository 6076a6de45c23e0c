"""How many connections of one address may be open, and which has to go when one too many comes.

Every connection is an open file, of which the system allows a process a number.  When they are used up nobody can
connect any more, and no file can be opened either.  So the one that has been silent for longest is closed for a new
one: first of those that never sent anything, then of those that wait for their sender's next request.
"""

from __future__ import annotations

import resource
from typing import Protocol

_NO_LIMIT = 1 << 16
# Of all files that may be open, the part for the connections of one address; the rest is for other addresses, for the
# way out, and for files.
_SHARE = 4
_AT_LEAST = 16


def allowed_connections() -> int:
    """How many connections one address may have, by the process's limit on open files."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    files = _NO_LIMIT if soft == resource.RLIM_INFINITY else soft
    return max(_AT_LEAST, files // _SHARE)


class Connection(Protocol):
    """A connection, as far as it is counted."""

    def make_room(self) -> None:
        """Close it: its place is needed."""


class Connections:
    """The open connections of one address.

    Args:
        limit: how many there may be.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._open: set[Connection] = set()
        # Dictionaries, because they know which came first.
        self._silent: dict[Connection, None] = {}
        self._idle: dict[Connection, None] = {}

    def opened(self, connection: Connection) -> None:
        """A new one; if it is one too many, one is closed: itself only when all others are at work."""
        self._open.add(connection)
        if len(self._open) > self._limit:
            oldest = next(iter(self._silent), None) or next(iter(self._idle), None) or connection
            self.closed(oldest)
            oldest.make_room()
            if oldest is connection:
                return
        self._silent[connection] = None

    def at_work(self, connection: Connection) -> None:
        """It has sent the head of a request."""
        self._silent.pop(connection, None)
        self._idle.pop(connection, None)

    def waits(self, connection: Connection) -> None:
        """Its last request was answered."""
        if connection in self._open:
            self._idle[connection] = None

    def closed(self, connection: Connection) -> None:
        """It is gone, or on its way."""
        self._open.discard(connection)
        self.at_work(connection)
