"""What metrics are made of: sums that are kept here, and values that are asked for when metrics are collected.

The SDK is told of both only when somebody collects.  So counting costs next to nothing, and a way out that is opened
later tells the same sums as the others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import TypeAlias

from opentelemetry.metrics import CallbackOptions, Histogram, Meter, Observation

from collector.records import Signal

PREFIX = "spanjudge_"
ITEMS = {Signal.TRACES: "spans", Signal.LOGS: "log_records", Signal.METRICS: "metric_points"}
"""What the items of a signal are called in metric names."""

Gauge = Callable[[], float]
Attributes: TypeAlias = tuple[tuple[str, str | bool], ...]
"""Attributes of a point; always in the same order for the same metric."""
_Asked: TypeAlias = "dict[Attributes, dict[object, Gauge]]"


class Sums:
    """A counter: what was added, by attributes."""

    def __init__(self) -> None:
        self._sums: dict[Attributes, float] = {}

    def add(self, amount: float, attributes: Attributes = ()) -> None:
        """Add to the sum of these attributes."""
        self._sums[attributes] = self._sums.get(attributes, 0) + amount

    def begin(self, attributes: Attributes = ()) -> None:
        """Tell the sum of these attributes from now on, be it zero: a rate needs a value before the first event."""
        self._sums.setdefault(attributes, 0)

    def observe(self, _: CallbackOptions) -> Iterable[Observation]:
        """The sums as they are."""
        return [Observation(value, dict(attributes)) for attributes, value in self._sums.items()]


class Instruments:
    """All instruments of one meter, each made when it is first needed.

    Args:
        meter: makes them.
    """

    def __init__(self, meter: Meter) -> None:
        self._meter = meter
        self._sums: dict[str, Sums] = {}
        self._asked: dict[str, _Asked] = {}

    def counter(self, name: str, description: str, unit: str) -> Sums:
        """The counter of that name."""
        if name not in self._sums:
            sums = self._sums[name] = Sums()
            self._meter.create_observable_counter(
                PREFIX + name, callbacks=[sums.observe], unit=unit, description=description
            )
        return self._sums[name]

    def per_signal(self, name: str, what: str) -> dict[Signal, Sums]:
        """One counter for the items of each signal. `what` says what happened to them."""
        return {
            signal: self.counter(f"{name}_{items}", f"{words(signal)} {what}.", f"{{{items[:-1]}}}")
            for signal, items in ITEMS.items()
        }

    def histogram(self, name: str, description: str, unit: str) -> Histogram:
        """A histogram; what is recorded may come from any thread."""
        return self._meter.create_histogram(PREFIX + name, unit=unit, description=description)

    def gauge(
        self,
        name: str,
        description: str,
        value: Gauge,
        attributes: Attributes = (),
        *,
        unit: str = "",
        owner: object = None,
        added: bool = False,
        grows: bool = False,
    ) -> None:
        """Report a value under these attributes from now on.

        Args:
            name, description, unit: of the metric.
            value: asked whenever metrics are collected.
            attributes: of the point.
            owner: whose value it is: one of the same owner is replaced.
            added: whether the values of several owners are added up; else the latest one counts.
            grows: whether it never gets less, and is reported as a counter.
        """
        if name not in self._asked:
            asked = self._asked[name] = {}
            make = self._meter.create_observable_counter if grows else self._meter.create_observable_gauge
            make(PREFIX + name, callbacks=[partial(_observe, asked, added)], unit=unit, description=description)
        self._asked[name].setdefault(attributes, {})[owner] = value

    def observed(
        self,
        name: str,
        description: str,
        values: Callable[[], Mapping[Attributes, float]],
        *,
        unit: str = "",
        grows: bool = False,
    ) -> None:
        """Report values whose attributes are only known when they are asked for; otherwise like `gauge`."""

        def observe(_: CallbackOptions) -> Iterable[Observation]:
            return [Observation(value, dict(attributes)) for attributes, value in values().items()]

        make = self._meter.create_observable_counter if grows else self._meter.create_observable_gauge
        make(PREFIX + name, callbacks=[observe], unit=unit, description=description)

    def forget(self, owner: object) -> None:
        """Report nothing more of this owner."""
        for asked in self._asked.values():
            for attributes in [attributes for attributes, values in asked.items() if owner in values]:
                del asked[attributes][owner]
                if not asked[attributes]:
                    del asked[attributes]


def _observe(asked: _Asked, added: bool, _: CallbackOptions) -> Iterable[Observation]:
    for attributes, values in asked.items():
        each = list(values.values())
        value = sum([one() for one in each]) if added else each[-1]()
        # A truth value is a number to Python and to Prometheus, but none to OTLP.
        yield Observation(value + 0, dict(attributes))


def words(signal: Signal) -> str:
    """What the items of a signal are called in a sentence's beginning."""
    return ITEMS[signal].replace("_", " ").capitalize()
