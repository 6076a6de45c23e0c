"""The sidecar's own metrics, read as a monitoring system reads them, and whether its account of spans is even."""

from __future__ import annotations

import re
from collections.abc import Mapping

Samples = Mapping[str, Mapping[str, float]]
"""By name of the metric without prefix, the values by labels."""

_SAMPLE = re.compile(r"^spanjudge_(\w+?)(?:\{([^}]*)\})? (\S+)$", re.MULTILINE)
_ACCEPTED = "receiver_accepted_spans_total"
_CAME = ("exporter_created_spans_total", "exporter_restored_spans_total", "exporter_repeated_spans_total")
_HERE = ("exporter_pending_spans", "exporter_queue_spans")
_ENDED = (
    "exporter_sent_spans_total",
    "exporter_rejected_spans_total",
    "exporter_dead_lettered_spans_total",
    "exporter_unsupported_spans_total",
    "exporter_damaged_spans_total",
    "exporter_deduplicated_spans_total",
)


def read(text: str) -> Samples:
    """Samples out of Prometheus's text."""
    samples: dict[str, dict[str, float]] = {}
    for name, labels, value in _SAMPLE.findall(text):
        samples.setdefault(name, {})[labels] = float(value)
    return samples


def total(samples: Samples, name: str, exporter: str | None = None) -> float:
    """The sum over all labels, or over those of one exporter."""
    mark = None if exporter is None else f'exporter="{exporter}"'
    return sum(value for labels, value in samples.get(name, {}).items() if mark is None or mark in labels)


def imbalance(samples: Samples, exporter: str) -> float:
    """Spans that came in (from senders, from the journal, made here) without those that are here or have left."""
    came = total(samples, _ACCEPTED) + sum(total(samples, name, exporter) for name in _CAME)
    return came - sum(total(samples, name, exporter) for name in (*_HERE, *_ENDED))
