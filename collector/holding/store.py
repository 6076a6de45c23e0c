"""What has been acknowledged and not yet delivered, by reference, within a budget of bytes.

Everything between the receivers' acknowledgement and the last destination's is kept here; the assembler and the
exporters' queues carry references.  An entry is kept until everyone who has a claim on it has released it.  The store
never loses anything: past its budget what is new is refused, and whoever sent that may send it again.  What the journal
has as well can be dropped from memory (`spill`); it is read again when it is asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Generic, Protocol, TypeVar

from collector.intake import OverloadedError
from collector.records import Parcel, Ref

ItemT = TypeVar("ItemT")
RETRY_AFTER_S = 2.0
# An entry costs its bytes and about this much for the objects around them.
ENTRY_OVERHEAD_BYTES = 300
# Past this share of the budget nothing that the journal has as well is kept in memory for long.
CROWDED_SHARE = 0.5


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
        # Since the start, of what was dropped from memory because the journal has it as well.
        self.spilled_bytes = 0
        self.spilled_entries = 0

    @property
    def is_crowded(self) -> bool:
        """Whether what can be read again shouldn't be kept in memory."""
        return self.used_bytes > CROWDED_SHARE * self.limit_bytes

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


class _Entry(Generic[ItemT]):
    """An item or, once it was dropped, the way to it; what of it is in memory, and the claims on it."""

    __slots__ = ("again", "beside_bytes", "claims", "item", "size_bytes")

    def __init__(
        self, item: ItemT | None, size_bytes: int, beside_bytes: int, claims: int, again: Callable[[], ItemT] | None
    ) -> None:
        self.item = item
        self.size_bytes = size_bytes
        self.beside_bytes = beside_bytes
        self.claims = claims
        self.again = again


class MemoryStore(Generic[ItemT]):
    """Items in memory, by reference, each with a number of claims.

    Not thread-safe: it belongs to the event loop.
    """

    def __init__(self, budget: Budget) -> None:
        self._budget = budget
        self._entries: dict[Ref, _Entry[ItemT]] = {}
        self._next = 0

    def __len__(self) -> int:
        return len(self._entries)

    @property
    def is_crowded(self) -> bool:
        """Whether what can be read again shouldn't be kept in memory; goes by all stores together."""
        return self._budget.is_crowded

    @property
    def limit_bytes(self) -> int:
        """What all stores together may hold."""
        return self._budget.limit_bytes

    def put(
        self,
        item: ItemT | None,
        size_bytes: int,
        claims: int,
        *,
        beside_bytes: int = 0,
        again: Callable[[], ItemT] | None = None,
    ) -> Ref:
        """Keep an item until it has been released `claims` times. Never refuses: admission is asked before.

        Args:
            item: what is kept; None if it isn't in memory, but can be read.
            size_bytes: what the item takes, counted while it is in memory.
            claims: how often it has to be released.
            beside_bytes: what is kept around it, in memory or not.
            again: reads the item from the journal; None if it isn't there.
        """
        ref = Ref(self._next)
        self._next += 1
        beside_bytes += ENTRY_OVERHEAD_BYTES
        size_bytes = 0 if item is None else size_bytes
        self._entries[ref] = _Entry(item, size_bytes, beside_bytes, claims, again)
        self._budget.used_bytes += size_bytes + beside_bytes
        return ref

    def grow(self, ref: Ref, size_bytes: int) -> None:
        """Count more bytes to what is kept around the item behind `ref`."""
        self._entries[ref].beside_bytes += size_bytes
        self._budget.used_bytes += size_bytes

    def spill(self, ref: Ref) -> int:
        """Drop an item from memory if it can be read again; says how many bytes are free now."""
        entry = self._entries[ref]
        if entry.again is None or entry.item is None:
            return 0
        freed_bytes, entry.size_bytes = entry.size_bytes, 0
        entry.item = None
        self._budget.used_bytes -= freed_bytes
        self._budget.spilled_bytes += freed_bytes
        self._budget.spilled_entries += 1
        return freed_bytes

    def read(self, ref: Ref) -> ItemT:
        """The item behind `ref`. Raises KeyError after its last release.

        Raises:
            DamagedRecordError: it isn't in memory, and the journal can't read it.
        """
        entry = self._entries[ref]
        if entry.item is not None:
            return entry.item
        assert entry.again is not None
        return entry.again()

    def release(self, ref: Ref) -> None:
        """Give up one claim; with the last one the item goes."""
        entry = self._entries[ref]
        entry.claims -= 1
        if not entry.claims:
            del self._entries[ref]
            self._budget.used_bytes -= entry.size_bytes + entry.beside_bytes

    def release_all(self, refs: Iterable[Ref]) -> None:
        """Give up one claim on each."""
        for ref in refs:
            self.release(ref)
