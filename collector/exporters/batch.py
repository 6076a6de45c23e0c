"""A request on its way to a destination, and its halves."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field

from collector.exporters.splitting import halve
from collector.records import Signal


@dataclass(slots=True)
class Ended:
    """How many items of a batch have found their end; its halves share it."""

    items: int = 0


@dataclass(frozen=True, slots=True)
class Batch:
    """A request to deliver. `items` counts spans, log records or data points."""

    signal: Signal
    request: bytes
    items: int
    headers: Mapping[str, str]
    ended: Ended = field(default_factory=Ended, compare=False)


async def halves_of(batch: Batch) -> tuple[Batch, ...]:
    """Two batches with half of the items each, in order; none for one item, or for what is no request."""
    # Cutting a large request takes milliseconds that the loop has other use for.
    requests = await asyncio.to_thread(halve, batch.request)
    if requests is None:
        return ()
    # Data points of metrics stay with their metric, so there the counts of the halves are only about right.
    first_items = batch.items // 2
    counts = (first_items, batch.items - first_items)
    return tuple(
        Batch(batch.signal, request, items, batch.headers, batch.ended)
        for request, items in zip(requests, counts, strict=True)
    )
