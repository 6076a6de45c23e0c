"""What own metrics ask for when they are collected: what is held and pending, the journal, the processes, the build."""

from __future__ import annotations

import os
import platform
import resource
import time
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path

from collector.holding.assembler import Assembler
from collector.holding.store import Budget
from collector.journal.stats import JournalStats, OwedTo
from collector.records import Signal
from collector.telemetry import ITEMS, Instruments, Telemetry
from collector.telemetry.instruments import Attributes, words

Pending = Callable[[], Mapping[tuple[str, Signal], int]]
"""Tells, by exporter and signal, how many items were taken and aren't in its queue yet."""
Stats = Callable[[], JournalStats | None]
"""Tells how the journal stands; None while there is none."""
_TICKS_PER_S = os.sysconf("SC_CLK_TCK")


def observe(
    telemetry: Telemetry,
    *,
    exposed_addresses: Callable[[], int],
    budget: Budget,
    pending: Pending,
    journal: Stats,
    assembler: Assembler | None,
    judging: Callable[[], Iterable[int]],
) -> None:
    """Report all of it from now on.

    Args:
        telemetry: where to.
        exposed_addresses: how many addresses others than this machine may send to or read from, unprotected.
        budget: of the memory.
        pending, journal: see their types.
        assembler: what holds spans, if anything does.
        judging: the system's numbers of the judging processes.
    """
    instruments = telemetry.instruments
    what = "Addresses beyond this machine that lack TLS or a check of who sends."
    instruments.gauge("receiver_exposed_addresses", what, exposed_addresses)
    _observe_memory(instruments, budget)
    if assembler is not None:
        _observe_assembler(instruments, assembler)
    _observe_pending(instruments, pending)
    _observe_journal(instruments, journal)
    _observe_processes(instruments, judging)
    build: Attributes = (("version", telemetry.version), ("python_version", platform.python_version()))
    instruments.gauge("build_info", "1, with what runs here.", lambda: 1, build)


def _observe_memory(instruments: Instruments, budget: Budget) -> None:
    what = "Bytes held and queued, against limit_mib."
    instruments.gauge("processor_held_bytes", what, lambda: budget.used_bytes, unit="By")
    what = "What may be held and queued (limit_mib)."
    instruments.gauge("processor_held_capacity_bytes", what, lambda: budget.limit_bytes, unit="By")
    what = "Dropped from memory as the journal has it: bytes."
    instruments.gauge("processor_spilled_bytes", what, lambda: budget.spilled_bytes, unit="By", grows=True)
    what = "Dropped from memory as the journal has it: requests, or what came of a trace in one."
    instruments.gauge("processor_spilled_parts", what, lambda: budget.spilled_entries, unit="{part}", grows=True)


def _observe_assembler(instruments: Instruments, assembler: Assembler) -> None:
    what = "Spans waiting for their trace or verdict."
    instruments.gauge("processor_held_spans", what, lambda: assembler.stats().held_spans)
    what = "Traces that are not finished."
    instruments.gauge("processor_held_traces", what, lambda: assembler.stats().traces)
    what = "How long the span has been held that has been held longest."
    instruments.gauge("processor_held_age", what, lambda: assembler.longest_held_s(time.monotonic()), unit="s")
    what = "Sent on at once, as their trace has its share of the memory."
    instruments.gauge(
        "processor_unjudged_spans", what, lambda: assembler.stats().unjudged_spans, unit="{span}", grows=True
    )


def _observe_pending(instruments: Instruments, pending: Pending) -> None:
    def of(signal: Signal) -> Mapping[Attributes, float]:
        return {(("exporter", name),): count for (name, one), count in pending().items() if one is signal}

    for signal, items in ITEMS.items():
        what = f"{words(signal)} that were taken and aren't in the queue yet."
        instruments.observed(f"exporter_pending_{items}", what, partial(of, signal))


def _observe_journal(instruments: Instruments, journal: Stats) -> None:
    def one(
        name: str, what: str, value: Callable[[JournalStats], float], unit: str = "", *, grows: bool = False
    ) -> None:
        def values() -> Mapping[Attributes, float]:
            stats = journal()
            return {} if stats is None else {(): value(stats)}

        instruments.observed(f"journal_{name}", what, values, unit=unit, grows=grows)

    one("bytes", "Size of all segments.", lambda stats: stats.size_bytes, "By")
    one("capacity_bytes", "What they may have in all (max_size_mib).", lambda stats: stats.limit_bytes, "By")
    one("segments", "Segments that hold records.", lambda stats: stats.segments)
    one("alarm_percent", "The highest of 0, 50, 80, 100 that is reached.", lambda stats: stats.alarm_percent)
    one("syncs", "Times that it was synced.", lambda stats: stats.syncs, "{sync}", grows=True)
    one("write_errors", "Writes that failed.", lambda stats: stats.write_errors, "{error}", grows=True)
    what = "Damaged parts that were put aside at the start."
    one("quarantined_parts", what, lambda stats: stats.quarantined, "{part}", grows=True)

    def owed(name: str, what: str, value: Callable[[OwedTo], float], unit: str = "") -> None:
        def values() -> Mapping[Attributes, float]:
            stats = journal()
            return {} if stats is None else {(("exporter", to),): value(owed) for to, owed in stats.owed.items()}

        instruments.observed(f"journal_owed_{name}", what, values, unit=unit)

    owed("items", "Items owed to a destination.", lambda owed: owed.items)
    owed("bytes", "Bytes of the records in which they are.", lambda owed: owed.size_bytes, "By")
    owed("age", "How long ago the oldest of them came, by the machine's clock.", _age_s, "s")


def _age_s(owed: OwedTo) -> float:
    return 0.0 if owed.oldest_wall_ns is None else max(time.time_ns() - owed.oldest_wall_ns, 0) / 1e9


def _observe_processes(instruments: Instruments, judging: Callable[[], Iterable[int]]) -> None:
    started_s = time.monotonic()

    def each(read: Callable[[str], float | None]) -> Callable[[], Mapping[Attributes, float]]:
        def values() -> Mapping[Attributes, float]:
            read_of = {"sidecar": read("self"), "judging": _sum([read(str(pid)) for pid in judging()])}
            return {(("process", name),): value for name, value in read_of.items() if value is not None}

        return values

    instruments.gauge(
        "process_uptime", "Time since the start.", lambda: time.monotonic() - started_s, unit="s", grows=True
    )
    what = "Processor time."
    instruments.observed("process_cpu_seconds", what, each(_cpu_s), unit="s", grows=True)
    what = "Memory of the machine that it has."
    instruments.observed("process_memory_rss", what, each(_resident_bytes), unit="By")


def _sum(values: list[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) if known else None


def _cpu_s(pid: str) -> float | None:
    """Processor seconds of a process; None where the system doesn't tell, or it has ended."""
    try:
        # The name, in brackets, may have blanks of its own.
        fields = Path("/proc", pid, "stat").read_text().rpartition(")")[2].split()
    except OSError:
        return time.process_time() if pid == "self" else None
    return (int(fields[11]) + int(fields[12])) / _TICKS_PER_S


def _resident_bytes(pid: str) -> float | None:
    """What a process has of the machine's memory; None where the system doesn't tell, or it has ended."""
    try:
        return int(Path("/proc", pid, "statm").read_text().split()[1]) * resource.getpagesize()
    except OSError:
        return None
