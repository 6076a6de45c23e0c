"""Log records joined to the spans they belong to, as events.

Instrumentations may put the content of a model call into log records that name its trace and span.  After this nobody
needs to know whether content came as a span event or as a record.  A record that names no known span is left out: it
is never hung on a span by guess.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from processors.otlp import Event, Log, Span


def joined(spans: Iterable[Span], logs: Sequence[Log]) -> list[Span]:
    """The spans, each once (of copies with one id the first stands), with their log records as further events."""
    unique: dict[str, Span] = {}
    for span in spans:
        unique.setdefault(span.span_id, span)
    if not logs:
        return list(unique.values())
    records: dict[str, list[Log]] = {}
    for log in logs:
        if log.event_name and log.span_id in unique:
            records.setdefault(log.span_id, []).append(log)
    for span_id, found in records.items():
        # Records of one moment stay in order of arrival, which is the order in which they were written.
        events = tuple(
            Event(name=log.event_name, attributes=log.attributes, body=log.body, time_ns=log.time_ns)
            for log in sorted(found, key=lambda log: log.time_ns)
        )
        span = unique[span_id]
        unique[span_id] = replace(span, events=span.events + events)
    return list(unique.values())
