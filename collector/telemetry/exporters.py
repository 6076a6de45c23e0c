"""What became of what was meant for one destination, and how its queue stands.

Counts belong to the exporter's id, gauges to the queue that there is: while one queue hands over to the next, what is
in both is added up.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from collector.records import Signal
from collector.telemetry.instruments import ITEMS, Attributes, Gauge, Instruments, words


class ExporterMetrics:
    """Counts of one exporter, and gauges of one queue of it.

    Args:
        instruments: where it is counted.
        exporter: its id.
    """

    def __init__(self, instruments: Instruments, exporter: str) -> None:
        self._instruments = instruments
        self._attributes: Attributes = (("exporter", exporter),)
        per_signal = instruments.per_signal
        self._sent = per_signal("exporter_sent", "delivered")
        self._failed = per_signal("exporter_send_failed", "in attempts that failed; most are tried again")
        self._rejected = per_signal("exporter_rejected", "delivered, and refused by the destination")
        self._dead = per_signal("exporter_dead_lettered", "written to the dead-letter file")
        self._unsupported = per_signal("exporter_unsupported", "of signals the destination doesn't take")
        self._damaged = per_signal("exporter_damaged", "that the journal couldn't read again")
        self._restored = per_signal("exporter_restored", "owed from before the start, by the journal")
        self._repeated = per_signal("exporter_repeated", "delivered once more, with what was left of their request")
        self._enqueue_failed = per_signal("exporter_enqueue_failed", "refused at receivers as the queue was full")
        self._created = instruments.counter("exporter_created_spans", "Evaluation spans made for it.", "{span}")
        self._deduplicated = instruments.counter(
            "exporter_deduplicated_spans", "Byte-equal repeats that it isn't sent.", "{span}"
        )
        self._retries = instruments.counter("exporter_retried_requests", "Attempts after the first.", "{request}")
        self._warned = instruments.counter("exporter_warned_requests", "Taken with a warning.", "{request}")

    def begin(self, signal: Signal) -> None:
        """Tell from now on what becomes of a signal, be it nothing."""
        for counter in (
            *(self._sent, self._failed, self._rejected, self._dead, self._unsupported, self._damaged),
            *(self._restored, self._repeated, self._enqueue_failed),
        ):
            counter[signal].begin(self._attributes)
        self._retries.begin(self._attributes)
        if signal is Signal.TRACES:
            self._created.begin(self._attributes)
            self._deduplicated.begin(self._attributes)

    def sent(self, signal: Signal, items: int) -> None:
        """Items the destination took."""
        self._sent[signal].add(items, self._attributes)

    def send_failed(self, signal: Signal, items: int) -> None:
        """Items in an attempt that failed."""
        self._failed[signal].add(items, self._attributes)

    def rejected(self, signal: Signal, items: int) -> None:
        """Items the destination refused in a partial success."""
        self._rejected[signal].add(items, self._attributes)

    def dead_lettered(self, signal: Signal, items: int) -> None:
        """Items written to the dead-letter file."""
        self._dead[signal].add(items, self._attributes)

    def unsupported(self, signal: Signal, items: int) -> None:
        """Items not sent because the destination doesn't take their signal."""
        self._unsupported[signal].add(items, self._attributes)

    def damaged(self, signal: Signal, items: int) -> None:
        """Items that are in damaged records of the journal."""
        self._damaged[signal].add(items, self._attributes)

    def restored(self, signal: Signal, items: int) -> None:
        """Items that a process before this one acknowledged and didn't deliver."""
        self._restored[signal].add(items, self._attributes)

    def repeated(self, signal: Signal, items: int) -> None:
        """Items that had found their end when their delivery was broken off, and are delivered with its rest again."""
        self._repeated[signal].add(items, self._attributes)

    def enqueue_failed(self, signal: Signal, items: int) -> None:
        """Items of requests that receivers refused because the queue was full."""
        self._enqueue_failed[signal].add(items, self._attributes)

    def created(self, spans: int) -> None:
        """Evaluation spans that were made for it."""
        self._created.add(spans, self._attributes)

    def deduplicated(self, spans: int) -> None:
        """Spans that were meant for it and dropped, because the very same bytes had come before."""
        self._deduplicated.add(spans, self._attributes)

    def warned(self) -> None:
        """One request that was taken whole, with a warning."""
        self._warned.add(1, self._attributes)

    def retried(self) -> None:
        """One attempt after a failed one."""
        self._retries.add(1, self._attributes)

    # -- gauges ------------------------------------------------------------------------------------------------------

    def stop_observing(self) -> None:
        """Report nothing more of this queue."""
        self._instruments.forget(self)

    def observe_queue(self, unit: str, size: Gauge, capacity: float, items: Mapping[Signal, Gauge]) -> None:
        """Report the queue: its size and limit in the unit of the limit, and the items in it by signal.

        `capacity` is infinite if the queue has no limit of its own; then none is told.
        """
        of_unit = (*self._attributes, ("unit", unit))
        self._add("queue_size", "What waits for the destination or is under way.", size, attributes=of_unit)
        if math.isfinite(capacity):
            self._latest("queue_capacity", "Limit of the queue.", lambda: capacity, attributes=of_unit)
        for signal, count in items.items():
            self._add(f"queue_{ITEMS[signal]}", f"{words(signal)} in the queue.", count)

    def observe_destination(self, under_way: Gauge, misconfigured: Gauge, switched_off: Mapping[Signal, Gauge]) -> None:
        """Report how it stands with the destination."""
        self._add("in_flight_requests", "Requests that are under way.", under_way)
        self._latest("misconfigured", "1 while the destination can't be used as it is configured.", misconfigured)
        for signal, is_off in switched_off.items():
            what = "1 while they aren't sent, as the destination doesn't take them."
            self._latest(f"switched_off_{ITEMS[signal]}", what, is_off)

    def observe_aside(self, requests: Gauge) -> None:
        """Report how much is tried slowly, apart from the rest."""
        self._add("requests_aside", "Requests that fail while others get through.", requests)

    def observe_dead_letters(self, size_bytes: Gauge, max_size_bytes: int | None) -> None:
        """Report the dead-letter file and its limit, if it has one."""
        self._latest("dead_letter_bytes", "Size of the dead-letter file.", size_bytes, unit="By")
        if max_size_bytes is not None:
            what = "Size at which nothing more is written to it."
            self._latest("dead_letter_capacity_bytes", what, lambda: max_size_bytes, unit="By")

    def _add(self, name: str, description: str, value: Gauge, *, attributes: Attributes = ()) -> None:
        at = attributes or self._attributes
        self._instruments.gauge(f"exporter_{name}", description, value, at, owner=self, added=True)

    def _latest(
        self, name: str, description: str, value: Gauge, *, attributes: Attributes = (), unit: str = ""
    ) -> None:
        at = attributes or self._attributes
        self._instruments.gauge(f"exporter_{name}", description, value, at, owner=self, unit=unit)
