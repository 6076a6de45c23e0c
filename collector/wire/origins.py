"""One object per distinct origin, so that a thousand spans of one service hold its resource once."""

from __future__ import annotations

from typing import NamedTuple

from collector.records import Origin


class OriginKey(NamedTuple):
    """The parts of an origin as they stand in a request."""

    resource: bytes
    resource_schema_url: bytes
    resource_rest: bytes
    scope: bytes
    scope_schema_url: bytes
    scope_rest: bytes
    headers: tuple[tuple[str, str], ...]


class Origins:
    """The origins seen of late, bounded in number and in bytes; the one added first is forgotten first.

    Forgetting costs nothing but memory: the next spans of that origin get an equal object.
    """

    def __init__(self, max_entries: int = 4096, max_bytes: int = 16 << 20) -> None:
        self._max_entries = max_entries
        self._max_bytes = max_bytes
        self._bytes = 0
        self._known: dict[OriginKey, Origin] = {}

    def find(self, key: OriginKey) -> Origin | None:
        """The origin of these parts, if it is remembered."""
        return self._known.get(key)

    def add(self, key: OriginKey) -> Origin:
        """A new origin; the caller has found none."""
        origin = Origin(
            resource=key.resource,
            # Not decoded strictly: an address that is no UTF-8 leaves as it came.
            resource_schema_url=key.resource_schema_url.decode("utf-8", "surrogateescape"),
            scope=key.scope,
            scope_schema_url=key.scope_schema_url.decode("utf-8", "surrogateescape"),
            headers=key.headers,
            resource_rest=key.resource_rest,
            scope_rest=key.scope_rest,
        )
        self._known[key] = origin
        self._bytes += _size_bytes(key)
        while len(self._known) > self._max_entries or self._bytes > self._max_bytes:
            oldest = next(iter(self._known))
            del self._known[oldest]
            self._bytes -= _size_bytes(oldest)
        return origin

    def __len__(self) -> int:
        return len(self._known)


def _size_bytes(key: OriginKey) -> int:
    return sum(map(len, key[:6])) + sum(len(name) + len(value) for name, value in key.headers)
