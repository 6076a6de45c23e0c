"""The sidecar's own metrics, named like the Collector's under the prefix `spanjudge_`.

Made with the OpenTelemetry SDK on a meter provider of its own; `OTEL_*` environment variables have no influence.
Components get small objects (`ReceiverMetrics`, `ExporterMetrics`, …) with one method per thing that can happen.
Counts and names only: no metric or attribute ever holds anything from a span.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from importlib.metadata import version
from typing import TypeAlias
from weakref import WeakKeyDictionary

from opentelemetry.metrics import CallbackOptions, Counter, Meter, Observation
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import MetricReader
from opentelemetry.sdk.metrics.view import ExplicitBucketHistogramAggregation, View
from opentelemetry.sdk.resources import Resource

from collector.records import Signal

ITEMS = {Signal.TRACES: "spans", Signal.LOGS: "log_records", Signal.METRICS: "metric_points"}
"""What the items of a signal are called in metric names."""

_JUDGE_SECONDS = (0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 20.0, 30.0, 60.0, 120.0)
Gauge = Callable[[], float]


class ReceiverMetrics:
    """What a receiver's requests came to."""

    def __init__(self, meter: Meter, receiver: str) -> None:
        self._attributes = {"receiver": receiver}
        self._accepted = _per_signal(meter, "receiver_accepted", "taken and acknowledged")
        self._refused = _per_signal(meter, "receiver_refused", "not taken now; the sender was asked to try again")
        self._rejected = _per_signal(meter, "receiver_rejected", "not taken because they are no valid OTLP")

    def accepted(self, signal: Signal, items: int) -> None:
        """Items that were acknowledged."""
        self._accepted[signal].add(items, self._attributes)

    def refused(self, signal: Signal, items: int) -> None:
        """Items of requests that were answered with a retryable code."""
        self._refused[signal].add(items, self._attributes)

    def rejected(self, signal: Signal, items: int) -> None:
        """Items that can't be taken, now or later."""
        self._rejected[signal].add(items, self._attributes)


class ExporterMetrics:
    """What became of what was handed to one destination."""

    def __init__(self, meter: Meter, exporter: str) -> None:
        self._meter = meter
        self._attributes = {"exporter": exporter}
        self._sent = _per_signal(meter, "exporter_sent", "delivered")
        self._failed = _per_signal(meter, "exporter_send_failed", "in attempts that failed; most are tried again")
        self._rejected = _per_signal(meter, "exporter_rejected", "delivered, and refused by the destination")
        self._dead = _per_signal(meter, "exporter_dead_lettered", "written to the dead-letter file")
        self._unsupported = _per_signal(meter, "exporter_unsupported", "of signals the destination doesn't take")
        self._damaged = _per_signal(meter, "exporter_damaged", "that the journal couldn't read again")
        self._restored = _per_signal(meter, "exporter_restored", "owed from before the start, by the journal")
        self._retries = meter.create_counter(
            "spanjudge_exporter_retried_requests", unit="{request}", description="Attempts after the first."
        )
        self._warned = meter.create_counter(
            "spanjudge_exporter_warned_requests", unit="{request}", description="Taken with a warning."
        )

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

    def warned(self) -> None:
        """One request that was taken whole, with a warning."""
        self._warned.add(1, self._attributes)

    def retried(self) -> None:
        """One attempt after a failed one."""
        self._retries.add(1, self._attributes)

    def stop_observing(self) -> None:
        """Report no queue any more; another one may be reported afterwards."""
        _stop_reporting(self._meter, ("exporter", self._attributes["exporter"]))

    def observe_queue(self, unit: str, size: Gauge, capacity: float, items: dict[Signal, Gauge]) -> None:
        """Report the queue: its size and limit in the unit of the limit, and the items in it by signal."""
        attributes = {**self._attributes, "unit": unit}
        _gauge(self._meter, "exporter_queue_size", "What waits for the destination or is under way.", size, attributes)
        _gauge(self._meter, "exporter_queue_capacity", "Limit of the queue.", lambda: capacity, attributes)
        for signal, count in items.items():
            name = f"exporter_queue_{ITEMS[signal]}"
            _gauge(self._meter, name, f"{_words(signal)} in the queue.", count, self._attributes)

    def observe_destination(self, under_way: Gauge, misconfigured: Gauge, switched_off: dict[Signal, Gauge]) -> None:
        """Report how it stands with the destination."""
        words = "Requests that are under way."
        _gauge(self._meter, "exporter_in_flight_requests", words, under_way, self._attributes)
        words = "1 while the destination can't be used as it is configured."
        _gauge(self._meter, "exporter_misconfigured", words, misconfigured, self._attributes)
        for signal, is_off in switched_off.items():
            name = f"exporter_switched_off_{ITEMS[signal]}"
            words = "1 while they aren't sent, as the destination doesn't take them."
            _gauge(self._meter, name, words, is_off, self._attributes)

    def observe_aside(self, requests: Gauge) -> None:
        """Report how much is tried slowly, apart from the rest."""
        words = "Requests that fail while others get through."
        _gauge(self._meter, "exporter_requests_aside", words, requests, self._attributes)

    def observe_dead_letters(self, size_bytes: Gauge, max_size_bytes: int | None) -> None:
        """Report the dead-letter file and its limit, if it has one."""
        _gauge(self._meter, "exporter_dead_letter_bytes", "Size of the dead-letter file.", size_bytes, self._attributes)
        if max_size_bytes is not None:
            name, words = "exporter_dead_letter_capacity_bytes", "Size at which nothing more is written to it."
            _gauge(self._meter, name, words, lambda: max_size_bytes, self._attributes)


class TraceMetrics:
    """What happened to spans between receivers and exporters."""

    def __init__(self, meter: Meter) -> None:
        self._meter = meter
        self._late = meter.create_counter(
            "spanjudge_processor_late_spans", unit="{span}", description="Spans of traces that were already judged."
        )
        self._deduplicated = meter.create_counter(
            "spanjudge_processor_deduplicated_spans", unit="{span}", description="Byte-equal repeats, not sent on."
        )
        self._created = meter.create_counter(
            "spanjudge_processor_created_spans", unit="{span}", description="Evaluation spans made here."
        )
        self._restarts = meter.create_counter(
            "spanjudge_processor_judging_restarts",
            unit="{restart}",
            description="Judging processes that were replaced.",
        )
        self._verdicts = meter.create_counter(
            "spanjudge_processor_verdicts",
            unit="{verdict}",
            description="Verdicts by evaluator, status, label and method.",
        )
        self._admissions = meter.create_counter(
            "spanjudge_processor_admissions",
            unit="{case}",
            description="Cases by evaluator and by why a judge was asked about them or why not.",
        )

    def late(self, spans: int) -> None:
        """Spans that came after their trace was judged."""
        self._late.add(spans)

    def deduplicated(self, spans: int) -> None:
        """Spans that were dropped because the very same bytes had come before."""
        self._deduplicated.add(spans)

    def created(self, spans: int) -> None:
        """Evaluation spans that were made."""
        self._created.add(spans)

    def judging_restarted(self) -> None:
        """The judging process ended or hung, and another one takes its place."""
        self._restarts.add(1)

    def judged(
        self, evaluator: str, status: str, label: str | None, method: str, uncalibrated: bool, verdicts: int = 1
    ) -> None:
        """Verdicts, scored or not."""
        attributes: dict[str, str | bool] = {
            "evaluator": evaluator,
            "status": status,
            "label": label or "",
            "method": method,
            "uncalibrated": uncalibrated,
        }
        self._verdicts.add(verdicts, attributes)

    def admitted(self, evaluator: str, decision: str, cases: int) -> None:
        """Cases about which a judge was asked or wasn't."""
        self._admissions.add(cases, {"evaluator": evaluator, "decision": decision})

    def observe_held(self, spans: Gauge, size_bytes: Gauge, traces: Gauge) -> None:
        """Report what is held."""
        _gauge(self._meter, "processor_held_spans", "Spans waiting for their trace or verdict.", spans, {})
        _gauge(self._meter, "processor_held_bytes", "Bytes held and queued, against limit_mib.", size_bytes, {})
        _gauge(self._meter, "processor_held_traces", "Traces that are not finished.", traces, {})


class JudgeMetrics:
    """What was asked of one judge."""

    def __init__(self, meter: Meter, judge: str) -> None:
        self._meter = meter
        self._judge = judge
        self._levels: tuple[int, int, int, bool] | None = None
        self._duration = meter.create_histogram(
            "spanjudge_judge_request_duration", unit="s", description="Time of one judge request, by outcome."
        )
        self._tokens = meter.create_counter(
            "spanjudge_judge_tokens", unit="{token}", description="Tokens used, by direction."
        )
        self._questions = meter.create_counter(
            "spanjudge_judge_questions", unit="{question}", description="Questions to a judge, by what came of them."
        )
        self._budget_tokens = meter.create_counter(
            "spanjudge_judge_budget_tokens", unit="{token}", description="Tokens that count against budgets."
        )
        self._cost = meter.create_counter(
            "spanjudge_judge_cost", unit="1", description="What requests cost, in the currency of the prices."
        )

    def request(self, outcome: str, duration_s: float) -> None:
        """One request to the model: how it ended and how long it took."""
        self._duration.record(duration_s, {"judge": self._judge, "outcome": outcome})

    def tokens(self, read: int, written: int) -> None:
        """Tokens of prompts and of answers."""
        self._tokens.add(read, {"judge": self._judge, "direction": "input"})
        self._tokens.add(written, {"judge": self._judge, "direction": "output"})

    def asked(self, outcome: str, questions: int) -> None:
        """What came of questions."""
        self._questions.add(questions, {"judge": self._judge, "outcome": outcome})

    def spent(self, tokens: int, money: float | None, *, estimated: bool) -> None:
        """What requests used, as endpoints told or as it was estimated; `money` is None without prices."""
        attributes: dict[str, str | bool] = {"judge": self._judge, "estimated": estimated}
        self._budget_tokens.add(tokens, attributes)
        if money is not None:
            self._cost.add(money, attributes)

    def stands(self, queued: int, under_way: int, limit: int, breaker_open: bool) -> None:
        """How it stands with the limits; reported from the first time on."""
        first = self._levels is None
        self._levels = (queued, under_way, limit, breaker_open)
        if first:
            words = ("Requests that wait.", "Requests under way.", "Requests that may be under way.", "1 while it is.")
            names = ("queue_size", "requests_under_way", "concurrency_limit", "breaker_open")
            for place, (name, description) in enumerate(zip(names, words, strict=True)):
                _gauge(self._meter, f"judge_{name}", description, partial(self._level, place), {"judge": self._judge})

    def _level(self, place: int) -> float:
        return 0.0 if self._levels is None else float(self._levels[place])


class Telemetry:
    """All own metrics.

    Args:
        readers: ways out for the metrics (see `collector.metric_readers`); without one nothing leaves the process.
        resource: attributes of the resource, over `service.name` and `service.version`.
    """

    def __init__(self, readers: Sequence[MetricReader] = (), resource: dict[str, str] | None = None) -> None:
        attributes = {"service.name": "spanjudge", "service.version": version("spanjudge"), **(resource or {})}
        judge_seconds = View(
            instrument_name="spanjudge_judge_request_duration",
            aggregation=ExplicitBucketHistogramAggregation(_JUDGE_SECONDS),
        )
        with without_otel_environment():
            self._provider = MeterProvider(readers, Resource(attributes), shutdown_on_exit=False, views=[judge_seconds])
        self._meter = self._provider.get_meter("spanjudge", attributes["service.version"])
        self.traces = TraceMetrics(self._meter)
        words = "refused at receivers as the queue was full"
        self._enqueue_failed = _per_signal(self._meter, "exporter_enqueue_failed", words)

    def receiver(self, receiver: str) -> ReceiverMetrics:
        """The counters of a receiver, by its id."""
        return ReceiverMetrics(self._meter, receiver)

    def exporter(self, exporter: str) -> ExporterMetrics:
        """The counters of an exporter, by its id."""
        return ExporterMetrics(self._meter, exporter)

    def enqueue_failed(self, exporter: str, signal: Signal, items: int) -> None:
        """Items of requests that receivers refused because the queue of an exporter was full."""
        self._enqueue_failed[signal].add(items, {"exporter": exporter})

    def judge(self, judge: str) -> JudgeMetrics:
        """The counters of a judge, by its id."""
        return JudgeMetrics(self._meter, judge)

    def observe_exposed(self, addresses: Gauge) -> None:
        """Report at how many addresses others than this machine may send or read."""
        words = "Addresses beyond this machine that lack TLS or a check of who sends."
        _gauge(self._meter, "receiver_exposed_addresses", words, addresses, {})

    def replace_readers(self, old: Iterable[MetricReader], new: Iterable[MetricReader]) -> None:
        """Let metrics out in other ways; blocks while periodic readers send what they still have.

        What a new way out tells begins at zero, as after a restart.
        """
        for reader in old:
            self._provider.remove_metric_reader(reader)
        with without_otel_environment():
            for reader in new:
                self._provider.add_metric_reader(reader)

    def stop(self, timeout_s: float) -> None:
        """Send what periodic readers still have, and stop; blocks, at most about `timeout_s` seconds."""
        self._provider.shutdown(timeout_s * 1000)


@contextmanager
def without_otel_environment() -> Iterator[None]:
    """Hide `OTEL_*` from what is made inside: those variables are meant for the agent beside the sidecar."""
    hidden = {name: os.environ.pop(name) for name in list(os.environ) if name.startswith("OTEL_")}
    try:
        yield
    finally:
        os.environ.update(hidden)


def _words(signal: Signal) -> str:
    return ITEMS[signal].replace("_", " ").capitalize()


def _per_signal(meter: Meter, name: str, what: str) -> dict[Signal, Counter]:
    return {
        signal: meter.create_counter(
            f"spanjudge_{name}_{items}", unit=f"{{{items[:-1]}}}", description=f"{_words(signal)} {what}."
        )
        for signal, items in ITEMS.items()
    }


_Reported: TypeAlias = "dict[str, dict[frozenset[tuple[str, str]], Gauge]]"
_reported: WeakKeyDictionary[Meter, _Reported] = WeakKeyDictionary()


def _gauge(meter: Meter, name: str, description: str, value: Gauge, attributes: Mapping[str, str]) -> None:
    """Report a value under these attributes from now on, in the place of what was reported under them before."""
    by_name = _reported.setdefault(meter, {})
    key = frozenset(attributes.items())
    if name in by_name:
        by_name[name][key] = value
        return
    values = by_name[name] = {key: value}

    def observe(_: CallbackOptions) -> Iterable[Observation]:
        for pairs, current in list(values.items()):
            yield Observation(current(), dict(pairs))

    meter.create_observable_gauge(f"spanjudge_{name}", callbacks=[observe], description=description)


def _stop_reporting(meter: Meter, attribute: tuple[str, str]) -> None:
    """Report nothing more under attributes that this one is among."""
    for values in _reported.get(meter, {}).values():
        for key in [key for key in values if attribute in key]:
            del values[key]
