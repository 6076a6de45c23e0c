"""A sidecar's own metrics as they are scraped, and whether its account of what it took is even."""

from __future__ import annotations

import asyncio
import re
from collections import defaultdict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import httpx2

_SAMPLE = re.compile(r"^spanjudge_(?P<name>\w+?)(?:\{(?P<labels>[^}]*)\})? (?P<value>\S+)$", re.MULTILINE)
_ITEMS = "spans", "log_records", "metric_points"
_BEGINNINGS = "created", "restored", "repeated"
_ENDS = "sent", "rejected", "dead_lettered", "unsupported", "damaged", "deduplicated"

Scraped = dict[tuple[str, str], float]
"""Values by name and labels."""


def with_metrics(text: str, port: int) -> str:
    """A configuration that ends with `service`, with own metrics at this port."""
    reader = f"{{pull: {{exporter: {{prometheus: {{port: {port}}}}}}}}}"
    return f"{text}  telemetry: {{metrics: {{readers: [{reader}]}}}}\n"


def parsed(text: str) -> Scraped:
    return {(found["name"], found["labels"] or ""): float(found["value"]) for found in _SAMPLE.finditer(text)}


async def scraped(port: int) -> Scraped:
    async with httpx2.AsyncClient(trust_env=False) as client:
        return parsed((await client.get(f"http://127.0.0.1:{port}/metrics")).text)


def uneven(values: Scraped) -> dict[tuple[str, str], float]:
    """By exporter and kind of item, how many more came than there is an account of; only those that aren't even.

    An exporter's account is of the kinds of items for which it has told its counts.
    """
    accepted: dict[str, float] = defaultdict(float)
    kinds: set[tuple[str, str]] = set()
    for (name, labels), value in values.items():
        for items in _ITEMS:
            if name == f"receiver_accepted_{items}_total":
                accepted[items] += value
            if name == f"exporter_sent_{items}_total":
                kinds.add((labels, items))
    found = {}
    for labels, items in kinds:
        began = sum(values.get((f"exporter_{what}_{items}_total", labels), 0.0) for what in _BEGINNINGS)
        there = sum(values.get((f"exporter_{what}_{items}", labels), 0.0) for what in ("pending", "queue"))
        ended = sum(values.get((f"exporter_{what}_{items}_total", labels), 0.0) for what in _ENDS)
        more = accepted[items] + began - there - ended
        if more:
            found[labels, items] = more
    return found


@dataclass
class Watched:
    """What many scrapes have shown: how many there were, those that weren't even, and the highest values."""

    scrapes: int = 0
    uneven: list[dict[tuple[str, str], float]] = field(default_factory=list)
    highest: Scraped = field(default_factory=dict)
    last: Scraped = field(default_factory=dict)

    def highest_of(self, name: str, labels: str = "") -> float:
        return max((value for (one, of), value in self.highest.items() if one == name and labels in of), default=0.0)


@asynccontextmanager
async def watched(port: int) -> AsyncIterator[Watched]:
    """Scrape again and again, as fast as the sidecar answers."""
    found = Watched()

    async def watch() -> None:
        async with httpx2.AsyncClient(trust_env=False) as client:
            while True:
                found.last = parsed((await client.get(f"http://127.0.0.1:{port}/metrics")).text)
                found.scrapes += 1
                if difference := uneven(found.last):
                    found.uneven.append(difference)
                for key, value in found.last.items():
                    found.highest[key] = max(found.highest.get(key, value), value)
                await asyncio.sleep(0.005)

    task = asyncio.create_task(watch())
    try:
        yield found
    finally:
        task.cancel()
        failure = (await asyncio.gather(task, return_exceptions=True))[0]
    if not isinstance(failure, asyncio.CancelledError):
        raise failure
