"""What has been acknowledged and not yet delivered, by reference, within a budget of bytes.

Everything between the receivers' acknowledgement and the last destination's is kept here; the assembler and the
exporters' queues carry references.  An entry is kept until everyone who has a claim on it has released it.  The store
never drops anything by itself: past its budget it refuses what is new, and whoever sent that may send it again.

This one keeps everything in memory.  A store on disk has the same methods.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Generic, Protocol, TypeVar

from collector.intake import OverloadedError
from collector.records import Parcel, Ref

ItemT = TypeVar("ItemT")
RETRY_AFTER_S = 2.0
# An entry costs its bytes and about this much for the objects around them.
ENTRY_OVERHEAD_BYTES = 300


class Source(Protocol):
    """What an exporter's queue sees of the store."""

    def read(self, ref: Ref) -> Parcel:
        """The parcel behind a reference; the same bytes at every call."""

    def release(self, ref: Ref) -> None:
        """Give up one claim on it: it was delivered, or it was written to the dead-letter file."""


class Budget:
    """Bytes in use over all stores of a process, and the limit that new arrivals must respect."""

    def __init__(self, limit_bytes: int) -> None:
        self.limit_bytes = limit_bytes
        self.used_bytes = 0

    def require(self, size_bytes: int) -> None:
        """Raises OverloadedError when `size_bytes` more would exceed the limit.

        What is larger than half of the limit counts as half: else it might never be let in, however often it is sent.
        """
        if self.used_bytes + min(size_bytes, self.limit_bytes // 2) > self.limit_bytes:
            raise OverloadedError(
                f"{self.used_bytes >> 20} MiB are held of at most {self.limit_bytes >> 20} MiB "
                "(processors::assemble::limit_mib); try again later",
                RETRY_AFTER_S,
            )


class MemoryStore(Generic[ItemT]):
    """Items in memory, by reference, each with a number of claims.

    Not thread-safe: it belongs to the event loop.
    """

    def __init__(self, budget: Budget) -> None:
        self._budget = budget
        # Per reference: the item, its size with overhead, the claims on it.
        self._entries: dict[Ref, list[Any]] = {}
        self._next = 0

    def __len__(self) -> int:
        return len(self._entries)

    def put(self, item: ItemT, size_bytes: int, claims: int) -> Ref:
        """Keep an item until it has been released `claims` times. Never refuses: admission is asked before."""
        ref = Ref(self._next)
        self._next += 1
        size_bytes += ENTRY_OVERHEAD_BYTES
        self._entries[ref] = [item, size_bytes, claims]
        self._budget.used_bytes += size_bytes
        return ref

    def grow(self, ref: Ref, size_bytes: int) -> None:
        """Count more bytes to what is behind `ref`."""
        self._entries[ref][1] += size_bytes
        self._budget.used_bytes += size_bytes

    def read(self, ref: Ref) -> ItemT:
        """The item behind `ref`. Raises KeyError after its last release."""
        item: ItemT = self._entries[ref][0]
        return item

    def release(self, ref: Ref) -> None:
        """Give up one claim; with the last one the item goes."""
        entry = self._entries[ref]
        entry[2] -= 1
        if not entry[2]:
            del self._entries[ref]
            self._budget.used_bytes -= entry[1]

    def release_all(self, refs: Iterable[Ref]) -> None:
        """Give up one claim on each."""
        for ref in refs:
            self.release(ref)
