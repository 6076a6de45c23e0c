"""What it costs to write requests down before they are acknowledged, by durability, in one run.

Sixteen senders each take a request apart, as the pipeline does, have it kept, and say a moment later that it was
delivered; `none` leaves the journal out.  Beside them stands what a file alone can do: one write and one sync for each
request.  Printed are requests and bytes per second, processor time of the process, and how long a sender waits: at
full speed, and at half of what its durability can take.  Medians over the rounds; ratios are those within a round.

    python -m bench.journal [DIRECTORY]
"""

from __future__ import annotations

import asyncio
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

import uvloop

from bench.traffic import requests
from collector import wire
from collector.journal import ArrivalEntry, Journal, JournalSettings
from collector.records import Outbound, Signal

ROUNDS = 5
SENDERS = 16
SECONDS = 1.5
DURABILITIES = ("none", "process", "disk")
_TO = {Signal.TRACES: ["otlp/a", "otlp/b"]}
_SIZES = {"50 kB": 50_000, "400 kB": 400_000}
# What is delivered leaves the journal a moment later, not at once.
_UNDELIVERED = 50

Take = Callable[[bytes], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Result:
    """One durability in one round."""

    per_s: float
    cpu_us: float
    p50_ms: float
    p99_ms: float


def _request_of(size_bytes: int) -> bytes:
    """Agent spans of about that many bytes."""
    whole = next(iter(requests("agent", 1)))
    sliced = list(wire.slice_spans(whole, (), wire.Origins()).records)
    count = max(1, round(len(sliced) * size_bytes / len(whole)))
    records = (sliced * (count // len(sliced) + 1))[:count]
    return wire.build_request([Outbound(record.origin, record.span) for record in records])


class Taking:
    """A journal, or none, with what senders do to it."""

    def __init__(self, journal: Journal | None) -> None:
        self._journal = journal
        self._origins = wire.Origins()
        self._undelivered: list[int] = []

    async def take(self, request: bytes) -> None:
        records = wire.slice_spans(request, (), self._origins).records
        if self._journal is None:
            await asyncio.sleep(0)
            return
        number = self._journal.reserve()
        entry = ArrivalEntry(Signal.TRACES, "otlp", time.time_ns(), (), request, len(records))
        await self._journal.keep(number, entry)
        self._undelivered.append(number)
        if len(self._undelivered) > _UNDELIVERED:
            delivered = self._undelivered.pop(0)
            for name in _TO[Signal.TRACES]:
                self._journal.done(name, delivered)


async def _measure(take: Take, request: bytes, pause_s: float) -> Result:
    waits_s: list[float] = []
    end_s = time.perf_counter() + SECONDS
    cpu_s, begin_s = time.process_time(), time.perf_counter()

    async def send(due_s: float) -> None:
        while (now_s := time.perf_counter()) < end_s:
            if pause_s and now_s < due_s:
                await asyncio.sleep(due_s - now_s)
            start_s = time.perf_counter()
            await take(request)
            waits_s.append(time.perf_counter() - start_s)
            due_s += pause_s

    await asyncio.gather(*(send(begin_s + pause_s * index / SENDERS) for index in range(SENDERS)))
    took_s = time.perf_counter() - begin_s
    cuts = statistics.quantiles(waits_s, n=100)
    cpu_us = (time.process_time() - cpu_s) / len(waits_s) * 1e6
    return Result(len(waits_s) / took_s, cpu_us, cuts[49] * 1e3, cuts[98] * 1e3)


async def _one(durability: str, directory: Path, request: bytes, per_s: float) -> Result:
    pause_s = SENDERS / per_s if per_s else 0.0
    if durability == "none":
        return await _measure(Taking(None).take, request, pause_s)
    settings = JournalSettings.model_validate({"directory": str(directory), "durability": durability})
    journal = Journal(settings, _TO)
    journal.open()
    await journal.start()
    try:
        return await _measure(Taking(journal).take, request, pause_s)
    finally:
        await journal.stop()


def _file_alone(directory: Path, request: bytes, *, sync: bool) -> float:
    """Requests per second of nothing but appending to a file."""
    handle = os.open(directory / "alone", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    try:
        count, begin_s = 0, time.perf_counter()
        while time.perf_counter() < begin_s + SECONDS / 3:
            os.write(handle, request)
            if sync:
                os.fdatasync(handle)
            count += 1
        return count / (time.perf_counter() - begin_s)
    finally:
        os.close(handle)
        (directory / "alone").unlink()


def _median(values: list[float]) -> float:
    return statistics.median(values)


def _print(title: str, request: bytes, found: dict[str, list[tuple[Result, Result]]], alone: list[float]) -> None:
    mb = len(request) / 1e6
    print(f"\n{title} ({len(request)} bytes), {SENDERS} senders, {ROUNDS} rounds")
    print(
        f"{'':10}{'req/s':>8}{'MB/s':>8}{'CPU µs':>8}{'p50 ms':>8}{'p99 ms':>8}{'p99 at half':>12}{'of none':>9}"
        f"{'of process':>12}"
    )
    for durability, results in found.items():
        full = [one for one, _ in results]
        per_s = _median([one.per_s for one in full])
        ratios = {
            base: _median([one.per_s / other.per_s for (one, _), (other, _) in zip(results, found[base], strict=True)])
            for base in ("none", "process")
        }
        print(
            f"{durability:10}{per_s:8.0f}{per_s * mb:8.1f}{_median([one.cpu_us for one in full]):8.0f}"
            f"{_median([one.p50_ms for one in full]):8.2f}{_median([one.p99_ms for one in full]):8.1f}"
            f"{_median([half.p99_ms for _, half in results]):12.1f}{ratios['none']:9.2f}{ratios['process']:12.2f}"
        )
    disk = [one.per_s for one, _ in found["disk"]]
    times = _median([one / other for one, other in zip(disk, alone, strict=True)])
    print(f"one write and sync for each: {_median(alone):.0f} req/s; disk does {times:.1f} times as many")


async def _run(directory: Path) -> None:
    for title, size_bytes in _SIZES.items():
        request = _request_of(size_bytes)
        found: dict[str, list[tuple[Result, Result]]] = {durability: [] for durability in DURABILITIES}
        alone: list[float] = []
        for number in range(ROUNDS):
            alone.append(_file_alone(directory, request, sync=True))
            for durability in DURABILITIES:
                where = directory / f"{durability}-{size_bytes}-{number}"
                full = await _one(durability, where, request, 0)
                half = await _one(durability, where, request, full.per_s / 2)
                found[durability].append((full, half))
        _print(title, request, found, alone)


def main() -> None:
    """Measure and print."""
    parent = sys.argv[1] if len(sys.argv) > 1 else None
    with tempfile.TemporaryDirectory(dir=parent) as directory:
        uvloop.run(_run(Path(directory)))


if __name__ == "__main__":
    main()
