"""OTLP in JSON as others write it: what Tempo, Phoenix, JavaScript and older libraries do differently is put right.

A request in JSON as the specification has it goes straight to the converter.  What it refuses is looked at again, span
by span: ids in base64, names of the time before scopes, plain objects where lists of keys and values are due, times as
dates or as two halves of a number.  What still can't be converted costs itself alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from string import hexdigits
from typing import cast

from collector.intake import MalformedRequestError
from collector.otlp_json import convert_document, signals_of
from collector.receivers.formats.fields import pairs_of
from collector.receivers.formats.ids import SPAN_BYTES, TRACE_BYTES, exact_id
from collector.receivers.formats.plain_span import MAX_DEPTH, json_of
from collector.receivers.formats.shape import Fields, Findings, Form, Request, WrongPieceError, used_up
from collector.receivers.formats.times import point_ns
from collector.records import Signal

_RENAMED = {
    "batches": "resourceSpans",
    "instrumentationLibrarySpans": "scopeSpans",
    "instrumentation_library_spans": "scopeSpans",
    "instrumentationLibrary": "scope",
    "instrumentation_library": "scope",
}
_SCOPE_SPANS = ("scopeSpans", "scope_spans")
_IDS = {
    "traceId": TRACE_BYTES,
    "trace_id": TRACE_BYTES,
    "spanId": SPAN_BYTES,
    "span_id": SPAN_BYTES,
    "parentSpanId": SPAN_BYTES,
    "parent_span_id": SPAN_BYTES,
}
_TIMES = (
    *("startTimeUnixNano", "start_time_unix_nano", "endTimeUnixNano", "end_time_unix_nano"),
    *("timeUnixNano", "time_unix_nano"),
)
_STATUS_CODES = {"UNSET": 0, "OK": 1, "ERROR": 2}
_VALUE_KEYS = frozenset(
    f"{kind}{end}"
    for kind in ("string", "bool", "int", "double", "array", "kvlist", "bytes")
    for end in ("Value", "_value")
)


def _recognises(item: Fields) -> bool:
    return bool(signals_of(item)) or _is_batches(item) or _is_resource_spans(item) or _is_span(item)


def _is_batches(item: Fields) -> bool:
    batches = item.get("batches")
    return isinstance(batches, list) and all(isinstance(one, dict) and _is_resource_spans(one) for one in batches[:3])


def _is_resource_spans(item: Fields) -> bool:
    return any(key in item for key in (*_SCOPE_SPANS, "instrumentationLibrarySpans", "instrumentation_library_spans"))


def _is_span(item: Fields) -> bool:
    times = "startTimeUnixNano" in item or "start_time_unix_nano" in item
    return times and isinstance(item.get("attributes", []), list) and ("traceId" in item or "trace_id" in item)


def _read(item: Fields, place: str, findings: Findings) -> Iterator[Request]:
    if _is_resource_spans(item):
        item = {"resourceSpans": [item]}
    elif _is_span(item):
        item = {"resourceSpans": [{"scopeSpans": [{"spans": [item]}]}]}
    for first, document in _by_resource(_with_todays_names(item)):
        for signal in signals_of(document):
            try:
                yield Request(signal, convert_document(signal, document).request)
            except MalformedRequestError as error:
                yield from _rescued(document, signal, str(error), place, first, findings)


def _rescued(
    document: Fields, signal: Signal, refusal: str, place: str, first: int, findings: Findings
) -> Iterator[Request]:
    """What can be put right in a request that was refused, span by span. `first` is the place of its resource."""
    spans = list(_spans(document, first)) if signal is Signal.TRACES else []
    if not spans:
        findings.flaw(place, refusal.replace("resourceSpans[0]", f"resourceSpans[{first}]"))
    for where, span in spans:
        try:
            yield Request(signal, convert_document(signal, span).request)
        except (MalformedRequestError, WrongPieceError) as flaw:
            findings.flaw(f"{place}{where}", str(flaw).replace("resourceSpans[0].scopeSpans[0].spans[0]", ""))


def _by_resource(document: Fields) -> Iterator[tuple[int, Fields]]:
    """The request in pieces, so that a huge one isn't converted at once."""
    for key in ("resourceSpans", "resource_spans"):
        resources = document.get(key)
        if len(document) == 1 and isinstance(resources, list) and resources:
            for index, resource in used_up(resources):
                yield index, {key: [resource]}
            return
    yield 0, document


def _with_todays_names(item: Fields) -> Fields:
    """The same request, with today's names where old ones stand. What isn't touched is shared."""
    document = _renamed(item)
    resources = document.get("resourceSpans")
    if isinstance(resources, list):
        document["resourceSpans"] = [_renamed_below(one) if isinstance(one, dict) else one for one in resources]
    return document


def _renamed_below(resource: Fields) -> Fields:
    renamed = _renamed(resource)
    scopes = renamed.get("scopeSpans")
    if isinstance(scopes, list):
        renamed["scopeSpans"] = [_renamed(one) if isinstance(one, dict) else one for one in scopes]
    return renamed


def _renamed(item: Fields) -> Fields:
    return {_RENAMED.get(key, key): value for key, value in item.items()}


def _spans(document: Fields, first: int) -> Iterator[tuple[str, Fields]]:
    """Every span in a request of its own, put right, with its place. What is no object is left to be refused."""
    for at, resource in _listed(document, "resourceSpans", "resource_spans"):
        at += first
        if not isinstance(resource, dict):
            yield f".resourceSpans[{at}]", {"resourceSpans": [resource]}
        for below, scope in _listed(resource, *_SCOPE_SPANS):
            if not isinstance(scope, dict):
                yield f".resourceSpans[{at}].scopeSpans[{below}]", {"resourceSpans": [{"scopeSpans": [scope]}]}
            for last, span in _listed(scope, "spans"):
                right = _put_right(span) if isinstance(span, dict) else span
                alone = {**_fields(scope), "scope": _scope(_fields(scope).get("scope")), "spans": [right]}
                around = {"resource": _resource(_fields(resource).get("resource")), "scopeSpans": [alone]}
                yield f".resourceSpans[{at}].scopeSpans[{below}].spans[{last}]", {"resourceSpans": [around]}


def _listed(item: object, *keys: str) -> Iterator[tuple[int, object]]:
    for key in keys:
        found = _fields(item).get(key)
        yield from enumerate(found if isinstance(found, list) else ())


def _fields(item: object) -> Fields:
    return item if isinstance(item, dict) else {}


def _put_right(span: Fields) -> Fields:
    right = _with_usual_fields(span)
    for key in ("events", "links"):
        found = span.get(key)
        if isinstance(found, list):
            right[key] = [_with_usual_fields(one) if isinstance(one, dict) else one for one in found]
    kind, status = span.get("kind"), span.get("status")
    if isinstance(kind, str) and kind and not kind.startswith("SPAN_KIND_"):
        right["kind"] = f"SPAN_KIND_{kind.upper()}"
    if isinstance(status, dict) and isinstance(status.get("code"), str):
        code = str(status["code"]).upper().removeprefix("STATUS_CODE_")
        right["status"] = {**status, "code": _STATUS_CODES.get(code, 0)}
    return right


def _with_usual_fields(item: Fields) -> Fields:
    """A span, event or link with its ids, times and attributes put right."""
    right = dict(item)
    ids = {key: cast(str, item[key]) for key in _IDS if isinstance(item.get(key), str)}
    # A single id in base64 among hexadecimal ones is a mistake, and no other encoding.
    in_base64 = not any(_is_hexadecimal(text, _IDS[key]) for key, text in ids.items() if text)
    for key, text in ids.items():
        if in_base64 or _is_hexadecimal(text, _IDS[key]):
            right[key] = _hexadecimal(text, _IDS[key])
    for key in _TIMES:
        if key in item:
            right[key] = _time(item[key])
    if "attributes" in item:
        right["attributes"] = _attributes(item["attributes"])
    return right


def _is_hexadecimal(text: str, size: int) -> bool:
    digits = text.removeprefix("0x")
    return len(digits) == 2 * size and all(digit in hexdigits for digit in digits)


def _hexadecimal(text: str, size: int) -> str:
    exact = exact_id(text, size)
    return text if exact is None else exact.hex() if any(exact) else ""


def _time(value: object) -> object:
    if isinstance(value, dict) and type(value.get("low")) is int and type(value.get("high")) is int:
        return (value["high"] & 0xFFFFFFFF) << 32 | value["low"] & 0xFFFFFFFF
    if (isinstance(value, str) and not value.isdecimal()) or isinstance(value, list):
        return point_ns(value) or 0
    return value


def _resource(resource: object) -> object:
    if isinstance(resource, dict) and "attributes" in resource:
        return {**resource, "attributes": _attributes(resource["attributes"])}
    return resource


def _scope(scope: object) -> object:
    return {"name": scope} if isinstance(scope, str) else _resource(scope)


def _attributes(attributes: object) -> object:
    if isinstance(attributes, list) and not all(isinstance(one, dict) and "key" in one for one in attributes):
        return attributes
    return [{"key": key, "value": _any_value(value)} for key, value in pairs_of(attributes).items()]


def _any_value(value: object, depth: int = 0) -> object:
    """OTLP's form of a value, whether it has it already or is plain JSON."""
    if value is None or (isinstance(value, dict) and value.keys() <= _VALUE_KEYS):
        return value
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int):
        return {"intValue": value} if -(1 << 63) <= value < 1 << 63 else {"stringValue": str(value)}
    if isinstance(value, float):
        return {"doubleValue": value}
    if isinstance(value, list | dict) and depth >= MAX_DEPTH:
        return {"stringValue": json_of(value)}
    if isinstance(value, list):
        return {"arrayValue": {"values": [_any_value(one, depth + 1) for one in value]}}
    if isinstance(value, dict):
        pairs = [{"key": key, "value": _any_value(one, depth + 1)} for key, one in value.items()]
        return {"kvlistValue": {"values": pairs}}
    return {"stringValue": value}


OTLP = Form("OTLP (also Tempo's)", _recognises, _read)
