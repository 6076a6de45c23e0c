"""What a receiver's requests came to."""

from __future__ import annotations

from collections.abc import Iterable

from collector.records import Signal
from collector.telemetry.instruments import Attributes, Instruments


class ReceiverMetrics:
    """Counts of one receiver.

    Args:
        instruments: where it is counted.
        receiver: its id.
        signals: those it may get, told from the beginning.
    """

    def __init__(self, instruments: Instruments, receiver: str, signals: Iterable[Signal] = ()) -> None:
        self._attributes: Attributes = (("receiver", receiver),)
        self._accepted = instruments.per_signal("receiver_accepted", "taken and acknowledged")
        self._refused = instruments.per_signal("receiver_refused", "not taken now; the sender was asked to try again")
        self._rejected = instruments.per_signal("receiver_rejected", "not taken because they are no valid OTLP")
        for signal in signals:
            for counter in (self._accepted, self._refused, self._rejected):
                counter[signal].begin(self._attributes)

    def accepted(self, signal: Signal, items: int) -> None:
        """Items that were acknowledged."""
        self._accepted[signal].add(items, self._attributes)

    def refused(self, signal: Signal, items: int) -> None:
        """Items of requests that were answered with a retryable code."""
        self._refused[signal].add(items, self._attributes)

    def rejected(self, signal: Signal, items: int) -> None:
        """Items that can't be taken, now or later."""
        self._rejected[signal].add(items, self._attributes)
