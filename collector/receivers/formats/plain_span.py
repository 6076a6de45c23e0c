"""Spans in plain values → OTLP requests: what every form but OTLP's own is converted to.

Attributes take any JSON value; nulls are left out, integers beyond 64 bits become text, and what is nested deeper than
readers of protobuf go becomes JSON text, as deep as JSON is read.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import orjson
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, InstrumentationScope, KeyValue
from opentelemetry.proto.resource.v1.resource_pb2 import Resource
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from collector.receivers.formats.shape import Request
from collector.records import Origin, Outbound, Signal
from collector.wire import build_request

REQUEST_BYTES = 8 << 20
"""About how much of a document goes into one request, so that a huge one isn't held twice."""
MAX_DEPTH = 16
"""How deep the values of attributes are nested; what is below becomes JSON text."""
_MAX_TEXT_DEPTH = 200  # writers of JSON go no deeper than 254
_INT64 = range(-(1 << 63), 1 << 63)
_MAX_TIME_NS = (1 << 64) - 1

UNSET, OK, ERROR = 0, 1, 2
KINDS = {"INTERNAL": 1, "SERVER": 2, "CLIENT": 3, "PRODUCER": 4, "CONSUMER": 5}


@dataclass(frozen=True, slots=True, kw_only=True)
class PlainEvent:
    """Something that happened during a span. `time_ns` is 0 where it isn't known."""

    name: str
    time_ns: int = 0
    attributes: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlainLink:
    """Another span that a span refers to."""

    trace_id: bytes
    span_id: bytes
    attributes: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlainSpan:
    """A span. Ids have 16 and 8 bytes, `parent_id` is empty for a root; times are nanoseconds since 1970, 0 where they
    aren't known; `kind` and `status` are OTLP's numbers.
    """

    trace_id: bytes
    span_id: bytes
    parent_id: bytes = b""
    name: str = ""
    kind: int = 0
    start_ns: int = 0
    end_ns: int = 0
    attributes: Mapping[str, object] = field(default_factory=dict)
    events: Sequence[PlainEvent] = ()
    links: Sequence[PlainLink] = ()
    status: int = UNSET
    status_message: str = ""
    trace_state: str = ""
    resource: Mapping[str, object] = field(default_factory=dict)
    scope_name: str = ""
    scope_version: str = ""


def requests_of(spans: Iterable[PlainSpan]) -> Iterator[Request]:
    """The spans as requests of bounded size, in order."""
    waiting: list[Outbound] = []
    size = 0
    for span in spans:
        waiting.append(Outbound(_origin(span), _span(span)))
        size += len(waiting[-1].span)
        if size > REQUEST_BYTES:
            yield Request(Signal.TRACES, build_request(waiting))
            waiting, size = [], 0
    if waiting:
        yield Request(Signal.TRACES, build_request(waiting))


def _origin(span: PlainSpan) -> Origin:
    resource = Resource(attributes=_pairs(span.resource))
    scope = InstrumentationScope(name=span.scope_name, version=span.scope_version)
    return Origin(resource.SerializeToString(), "", scope.SerializeToString(), "")


def _span(span: PlainSpan) -> bytes:
    message = Span(
        trace_id=span.trace_id,
        span_id=span.span_id,
        parent_span_id=span.parent_id,
        trace_state=span.trace_state,
        name=span.name,
        kind=span.kind,  # type: ignore[arg-type]
        start_time_unix_nano=_time(span.start_ns),
        end_time_unix_nano=_time(span.end_ns),
        attributes=_pairs(span.attributes),
        events=[
            Span.Event(name=one.name, time_unix_nano=_time(one.time_ns), attributes=_pairs(one.attributes))
            for one in span.events
        ],
        links=[
            Span.Link(trace_id=one.trace_id, span_id=one.span_id, attributes=_pairs(one.attributes))
            for one in span.links
        ],
    )
    message.status.code = span.status  # type: ignore[assignment]
    message.status.message = span.status_message
    return message.SerializeToString()


def _time(time_ns: int) -> int:
    return time_ns if 0 <= time_ns <= _MAX_TIME_NS else 0


def _pairs(attributes: Mapping[str, object]) -> list[KeyValue]:
    return [KeyValue(key=key, value=_value(value, 0)) for key, value in attributes.items() if value is not None]


def _value(value: object, depth: int) -> AnyValue:
    if isinstance(value, str):
        return AnyValue(string_value=value)
    if isinstance(value, bool):
        return AnyValue(bool_value=value)
    if isinstance(value, int):
        return AnyValue(int_value=value) if value in _INT64 else AnyValue(string_value=str(value))
    if isinstance(value, float):
        return AnyValue(double_value=value)
    if isinstance(value, bytes):
        return AnyValue(bytes_value=value)
    if isinstance(value, dict | list) and depth >= MAX_DEPTH:
        return AnyValue(string_value=json_of(value))
    made = AnyValue()
    if isinstance(value, list):
        made.array_value.values.extend(_value(item, depth + 1) for item in value)
    elif isinstance(value, dict):
        made.kvlist_value.values.extend(KeyValue(key=key, value=_value(item, depth + 1)) for key, item in value.items())
        made.kvlist_value.SetInParent()
    return made


def json_of(value: object) -> str:
    """A value as JSON text; what is nested too deep to be written is null in it."""
    try:
        return orjson.dumps(value).decode()
    except orjson.JSONEncodeError:
        return orjson.dumps(_shallow(value, _MAX_TEXT_DEPTH)).decode()


def _shallow(value: object, depth: int) -> object:
    if isinstance(value, dict):
        return {key: _shallow(item, depth - 1) for key, item in value.items()} if depth else None
    if isinstance(value, list):
        return [_shallow(item, depth - 1) for item in value] if depth else None
    return str(value) if isinstance(value, int) and value not in _INT64 else value
