"""Jaeger's JSON, as its query API and its storages give it: traces with spans and processes, or spans one by one.

Tags become attributes, the process a resource, logs events, the reference CHILD_OF the parent and all others links.
What Jaeger itself makes of OpenTelemetry's fields is undone: `span.kind`, `otel.status_code`, `error`,
`otel.scope.name`.  Jaeger keeps microseconds, and writes attributes that are lists as JSON text: both stay so.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from collector.receivers.formats.ids import Ids
from collector.receivers.formats.plain_span import (
    ERROR,
    KINDS,
    OK,
    UNSET,
    PlainEvent,
    PlainLink,
    PlainSpan,
    requests_of,
)
from collector.receivers.formats.shape import Fields, Findings, Form, Request, WrongPieceError
from collector.receivers.formats.times import duration_ns, point_ns

_SCOPE_NAMES = ("otel.scope.name", "otel.library.name")
_SCOPE_VERSIONS = ("otel.scope.version", "otel.library.version")
_ADDED = frozenset({"internal.span.format", "otel.status_code", "otel.status_description", "w3c.tracestate"})
_INTEGERS = ("int64", "long")
_FLOATS = ("float64", "double")


def _recognises(item: Fields) -> bool:
    return _is_trace(item) or _is_span(item)


def _is_trace(item: Fields) -> bool:
    spans = item.get("spans")
    if not isinstance(spans, list):
        return False
    first = spans[0] if spans else None
    return isinstance(item.get("processes"), dict) or (isinstance(first, dict) and _is_span(first))


def _is_span(item: Fields) -> bool:
    return {"traceID", "spanID", "operationName"} <= item.keys()


def _read(item: Fields, place: str, findings: Findings) -> Iterator[Request]:
    yield from requests_of(_spans(item, place, findings))


def _spans(item: Fields, place: str, findings: Findings) -> Iterator[PlainSpan]:
    if not _is_trace(item):
        yield _Reading(Ids(findings), {}).span(item)
        return
    processes = item.get("processes")
    reading = _Reading(Ids(findings), processes if isinstance(processes, dict) else {})
    spans = item["spans"]
    assert isinstance(spans, list)
    for index, span in enumerate(spans):
        try:
            yield reading.span(span)
        except WrongPieceError as error:
            findings.flaw(f"{place}.spans[{index}]", str(error))


@dataclass(frozen=True, slots=True)
class _Reading:
    """Reads the spans of one trace."""

    ids: Ids
    processes: Mapping[str, object]

    def span(self, span: object) -> PlainSpan:
        if not isinstance(span, dict):
            raise WrongPieceError("it is no object")
        tags = _indexed(span.get("tag")) | _tags(span.get("tags"))
        parent, links = self._references(span)
        start = point_ns(span.get("startTime"), "us") or 0
        duration = duration_ns(span.get("duration"), "us")
        kind = tags.pop("span.kind", None)
        scope_name, scope_version = _taken(tags, _SCOPE_NAMES), _taken(tags, _SCOPE_VERSIONS)
        status, message = _status(tags)
        state = tags.get("w3c.tracestate")
        return PlainSpan(
            trace_id=self.ids.trace(span.get("traceID")),
            span_id=self.ids.span(span.get("spanID")),
            parent_id=parent,
            name=str(span.get("operationName") or ""),
            kind=KINDS.get(kind.upper(), 0) if isinstance(kind, str) else 0,
            start_ns=start,
            end_ns=start + duration if start and duration is not None else 0,
            attributes={key: value for key, value in tags.items() if key not in _ADDED},
            events=tuple(_events(span.get("logs"))),
            links=links,
            status=status,
            status_message=message,
            trace_state=state if isinstance(state, str) else "",
            resource=self._resource(span),
            scope_name=scope_name,
            scope_version=scope_version,
        )

    def _references(self, span: Fields) -> tuple[bytes, tuple[PlainLink, ...]]:
        parent = b""
        links = []
        references = span.get("references")
        for one in references if isinstance(references, list) else ():
            if not isinstance(one, dict):
                continue
            if one.get("refType") == "CHILD_OF" and not parent and one.get("traceID") == span.get("traceID"):
                parent = self.ids.parent(one.get("spanID"))
            else:
                link = self.ids.link(one.get("traceID"), one.get("spanID"))
                links += [PlainLink(trace_id=link[0], span_id=link[1])] if link is not None else []
        return parent or self.ids.parent(span.get("parentSpanID")), tuple(links)

    def _resource(self, span: Fields) -> Fields:
        process = span.get("process") or self.processes.get(str(span.get("processID")))
        if not isinstance(process, dict):
            return {}
        name = process.get("serviceName")
        resource = _indexed(process.get("tag")) | _tags(process.get("tags"))
        return {"service.name": name, **resource} if isinstance(name, str) else resource


def _indexed(tags: object) -> Fields:
    """Tags that a storage keeps as fields, so that they can be searched; it writes dots as @."""
    return {key.replace("@", "."): value for key, value in tags.items()} if isinstance(tags, dict) else {}


def _tags(tags: object) -> Fields:
    found: Fields = {}
    for tag in tags if isinstance(tags, list) else ():
        if isinstance(tag, dict) and isinstance(tag.get("key"), str):
            found[tag["key"]] = _value(tag.get("type"), tag.get("value"))
    return found


def _value(kind: object, value: object) -> object:
    """Storages write all values as text and the type beside it."""
    if not isinstance(value, str):
        return value
    try:
        if kind in _INTEGERS:
            return int(value)
        if kind in _FLOATS:
            return float(value)
        if kind == "binary":
            return base64.b64decode(value, validate=True)
    except (ValueError, binascii.Error):
        return value
    return value == "true" if kind == "bool" and value in ("true", "false") else value


def _taken(tags: Fields, keys: tuple[str, ...]) -> str:
    found = ""
    for key in keys:
        value = tags.pop(key, None)
        found = found or (value if isinstance(value, str) else "")
    return found


def _status(tags: Fields) -> tuple[int, str]:
    code, message = tags.get("otel.status_code"), tags.get("otel.status_description")
    told = {"OK": OK, "ERROR": ERROR}.get(code.upper(), UNSET) if isinstance(code, str) else UNSET
    failed = tags.get("error")
    if failed is True or failed == "true":
        del tags["error"]
        told = ERROR
    return told, message if isinstance(message, str) else ""


def _events(logs: object) -> Iterator[PlainEvent]:
    for log in logs if isinstance(logs, list) else ():
        if isinstance(log, dict):
            fields = _tags(log.get("fields"))
            name = fields.pop("event", None)
            yield PlainEvent(
                name=name if isinstance(name, str) else "",
                time_ns=point_ns(log.get("timestamp"), "us") or 0,
                attributes=fields,
            )


JAEGER = Form("Jaeger", _recognises, _read)
