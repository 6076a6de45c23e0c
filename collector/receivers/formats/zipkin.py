"""Zipkin's JSON, version 2: a list of spans with tags, annotations and a local endpoint. Times are microseconds.

All tags are text there: numbers and lists that an instrumentation wrote stay text.
"""

from __future__ import annotations

from collections.abc import Iterator

from collector.json_text import JsonTextError, read_json
from collector.receivers.formats.ids import Ids
from collector.receivers.formats.plain_span import ERROR, KINDS, OK, UNSET, PlainEvent, PlainSpan, requests_of
from collector.receivers.formats.shape import Fields, Findings, Form, Request
from collector.receivers.formats.times import duration_ns, point_ns

_SCOPE_NAMES = ("otel.scope.name", "otel.library.name")
_SCOPE_VERSIONS = ("otel.scope.version", "otel.library.version")
_STATUSES = {"OK": OK, "ERROR": ERROR}


def _recognises(item: Fields) -> bool:
    told = isinstance(item.get("localEndpoint"), dict) or isinstance(item.get("annotations"), list)
    micros = type(item.get("timestamp")) is int and ("duration" in item or "tags" in item)
    return {"traceId", "id"} <= item.keys() and "startTime" not in item and (told or micros)


def _read(item: Fields, place: str, findings: Findings) -> Iterator[Request]:
    yield from requests_of([_span(item, Ids(findings))])


def _span(item: Fields, ids: Ids) -> PlainSpan:
    given = item.get("tags")
    tags = dict(given) if isinstance(given, dict) else {}
    endpoint = item.get("localEndpoint")
    service = endpoint.get("serviceName") if isinstance(endpoint, dict) else None
    start = point_ns(item.get("timestamp"), "us") or 0
    duration = duration_ns(item.get("duration"), "us")
    kind, error = item.get("kind"), tags.get("error")
    status = _STATUSES.get(str(tags.pop("otel.status_code", "")).upper(), UNSET)
    if error is not None and error != "false":
        status = ERROR
        tags.pop("error")
    return PlainSpan(
        trace_id=ids.trace(item.get("traceId")),
        span_id=ids.span(item.get("id")),
        parent_id=ids.parent(item.get("parentId")),
        name=str(item.get("name") or ""),
        kind=KINDS.get(kind, 0) if isinstance(kind, str) else 0,
        start_ns=start,
        end_ns=start + duration if start and duration is not None else 0,
        events=tuple(_events(item.get("annotations"))),
        status=status,
        status_message=error if status == ERROR and isinstance(error, str) and error != "true" else "",
        resource={"service.name": service},
        scope_name=_taken(tags, _SCOPE_NAMES),
        scope_version=_taken(tags, _SCOPE_VERSIONS),
        attributes=tags,
    )


def _taken(tags: Fields, keys: tuple[str, ...]) -> str:
    found = [value for key in keys if isinstance(value := tags.pop(key, None), str)]
    return found[0] if found else ""


def _events(annotations: object) -> Iterator[PlainEvent]:
    for one in annotations if isinstance(annotations, list) else ():
        if isinstance(one, dict) and isinstance(one.get("value"), str):
            name, attributes = _event(one["value"])
            yield PlainEvent(name=name, time_ns=point_ns(one.get("timestamp"), "us") or 0, attributes=attributes)


def _event(value: str) -> tuple[str, Fields]:
    """OpenTelemetry's exporters write an event's name and attributes as JSON, with or without the name in front."""
    start = value.find("{")
    if start < 0:
        return value, {}
    try:
        decoded = read_json(value[start : value.rfind("}") + 1].encode())
    except JsonTextError:
        return value, {}
    name = value[:start].strip('": |')
    if not name and isinstance(decoded, dict) and len(decoded) == 1:
        [(name, decoded)] = decoded.items()
    return (name, decoded) if name and isinstance(decoded, dict) else (value, {})


ZIPKIN = Form("Zipkin", _recognises, _read)
