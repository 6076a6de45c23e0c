"""Log records joined to the spans they belong to, as events.

Instrumentations may put the content of a model call into log records that name its trace and span.  After this nobody
needs to know whether content came as a span event or as a record.  A record that names no known span is left out: it
is never hung on a span by guess.  One that names the response of a model call, the request, or the call of a tool
belongs to that one's span, whatever span it names: it may be written when the span has ended, and the one round it is
current.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from processors.conventions.decoding.values import text_at
from processors.conventions.dialects.genai import RESPONSE_ID
from processors.otlp import Attributes, Event, Log, Span

_IDS = (RESPONSE_ID, "request_id", "tool_use_id")
_MOST_AT_ONCE = 64
"""Records of one moment that are looked through for a copy."""


def joined(spans: Iterable[Span], logs: Sequence[Log]) -> list[Span]:
    """The spans, each once (of copies with one id the first stands), with their log records as further events."""
    unique: dict[str, Span] = {}
    for span in spans:
        unique.setdefault(span.span_id, span)
    if not logs:
        return list(unique.values())
    owners = _owners(unique.values())
    records: dict[str, list[Log]] = {}
    for log in logs:
        if log.event_name and log.span_id in unique:
            told = _told_of(log.attributes)
            is_own = not told or not told.isdisjoint(_told_of(unique[log.span_id].attributes))
            owner = None if is_own else next((owners[name] for name in told if name in owners), None)
            records.setdefault(owner.span_id if owner is not None else log.span_id, []).append(log)
    for span_id, found in records.items():
        span = unique[span_id]
        unique[span_id] = replace(span, events=span.events + _in_order(found))
    return list(unique.values())


def _owners(spans: Iterable[Span]) -> dict[tuple[str, str], Span]:
    """The span of each response, request and call; of several of one call the outer one."""
    found: dict[tuple[str, str], Span] = {}
    for span in spans:
        for name in _told_of(span.attributes):
            known = found.get(name)
            if known is None or known.parent_id == span.span_id:
                found[name] = span
    return found


def _told_of(attributes: Attributes) -> frozenset[tuple[str, str]]:
    """What the attributes name by an id of its own."""
    return frozenset((key, value) for key in _IDS if (value := text_at(attributes, key)) is not None)


def _in_order(records: Iterable[Log]) -> tuple[Event, ...]:
    """Records as events, each once however often it was sent.

    Those of one moment stay in order of arrival, which is the order in which they were written.
    """
    moments: dict[int, list[Event]] = {}
    for log in sorted(records, key=lambda log: log.time_ns):
        event = Event(name=log.event_name, attributes=log.attributes, body=log.body, time_ns=log.time_ns)
        moment = moments.setdefault(log.time_ns, [])
        # Without a time, nothing tells a copy from something that was said twice.
        if log.time_ns == 0 or not any(_is_copy(event, known) for known in moment[-_MOST_AT_ONCE:]):
            moment.append(event)
    return tuple(event for moment in moments.values() for event in moment)


def _is_copy(event: Event, known: Event) -> bool:
    """Whether two records of one moment are one. Of copies that went different ways one may have more attributes."""
    if event.body is None or event.name != known.name or event.body != known.body:
        return event == known
    fewer, more = sorted((event.attributes, known.attributes), key=len)
    return all(key in more and more[key] == value for key, value in fewer.items())
