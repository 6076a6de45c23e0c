"""From serialised OTLP to plain values: one span or log record at a time.

In go the bytes as they were received, resource, scope and item apart; out come frozen `Span`s and `Log`s with ids as
lower-case hex and attributes as plain Python values.  Nothing here knows a convention, and nothing raises for what the
bytes contain: invalid UTF-8 becomes U+FFFD, what is nested too deep is dropped, and no other span is touched by either.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from functools import lru_cache
from typing import NamedTuple, TypeAlias, TypeVar

from google.protobuf.message import DecodeError
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, InstrumentationScope, KeyValue
from opentelemetry.proto.logs.v1.logs_pb2 import LogRecord
from opentelemetry.proto.resource.v1.resource_pb2 import Resource
from opentelemetry.proto.trace.v1.trace_pb2 import Span as SpanMessage

from evaluators.cases import JsonValue
from processors.otlp_repair import LOG_RECORD, RESOURCE, SCOPE, SPAN, Shape, repaired

MessageT = TypeVar("MessageT", SpanMessage, LogRecord, Resource, InstrumentationScope)
Attributes: TypeAlias = Mapping[str, JsonValue]


class StatusCode(IntEnum):
    """OTLP's span status."""

    UNSET = 0
    OK = 1
    ERROR = 2


class SpanKind(IntEnum):
    """OTLP's span kind; numbers that OTLP doesn't define read as UNSPECIFIED."""

    UNSPECIFIED = 0
    INTERNAL = 1
    SERVER = 2
    CLIENT = 3
    PRODUCER = 4
    CONSUMER = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """An event on a span, or a log record that was joined to it (only those have a body)."""

    name: str
    attributes: Attributes = field(default_factory=dict)
    body: JsonValue = None
    time_ns: int = 0


class Link(NamedTuple):
    """A span that another one names as its cause or companion, in the same trace or in another one."""

    trace_id: str
    span_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """One span. `parent_id` is None for a root; times are nanoseconds since 1970 as the sender's clock had them.

    `dropped_attributes` and `dropped_events` are the numbers that the SDK left out because of its count limits; of the
    former, those of its events are counted too.
    """

    trace_id: str
    span_id: str
    parent_id: str | None = None
    name: str = ""
    kind: SpanKind = SpanKind.UNSPECIFIED
    start_ns: int = 0
    end_ns: int = 0
    attributes: Attributes = field(default_factory=dict)
    events: tuple[Event, ...] = ()
    links: tuple[Link, ...] = ()
    status: StatusCode = StatusCode.UNSET
    status_message: str = ""
    dropped_attributes: int = 0
    dropped_events: int = 0
    flags: int = 0
    resource: Attributes = field(default_factory=dict, repr=False)
    scope_name: str = ""
    scope_version: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Log:
    """One log record that names a trace. `event_name` is the field, or else the attribute that stands for it."""

    trace_id: str
    span_id: str
    event_name: str = ""
    body: JsonValue = None
    attributes: Attributes = field(default_factory=dict)
    time_ns: int = 0
    resource: Attributes = field(default_factory=dict, repr=False)
    scope_name: str = ""
    scope_version: str = ""


def decode_span(resource: bytes, scope: bytes, span: bytes) -> Span:
    """The span that these three serialised messages describe. Never raises for their content."""
    message = _parse(SpanMessage, span, SPAN)
    scope_name, scope_version = _scope(scope)
    return Span(
        trace_id=message.trace_id.hex(),
        span_id=message.span_id.hex(),
        parent_id=message.parent_span_id.hex() or None,
        name=message.name,
        kind=_kind(message.kind),
        start_ns=message.start_time_unix_nano,
        end_ns=message.end_time_unix_nano,
        attributes=_attributes(message.attributes),
        events=tuple(
            Event(name=event.name, attributes=_attributes(event.attributes), time_ns=event.time_unix_nano)
            for event in message.events
        ),
        links=tuple(Link(link.trace_id.hex(), link.span_id.hex()) for link in message.links),
        status=_status(message.status.code),
        status_message=message.status.message,
        dropped_attributes=message.dropped_attributes_count
        + sum(event.dropped_attributes_count for event in message.events),
        dropped_events=message.dropped_events_count,
        flags=message.flags,
        resource=_resource(resource),
        scope_name=scope_name,
        scope_version=scope_version,
    )


def decode_log(resource: bytes, scope: bytes, record: bytes) -> Log:
    """The log record that these three serialised messages describe. Never raises for their content."""
    message = _parse(LogRecord, record, LOG_RECORD)
    attributes = _attributes(message.attributes)
    named = attributes.get("event.name", attributes.get("logrecord.event.name"))
    scope_name, scope_version = _scope(scope)
    return Log(
        trace_id=message.trace_id.hex(),
        span_id=message.span_id.hex(),
        event_name=message.event_name or (named if isinstance(named, str) else ""),
        body=_value(message.body),
        attributes=attributes,
        time_ns=message.time_unix_nano or message.observed_time_unix_nano,
        resource=_resource(resource),
        scope_name=scope_name,
        scope_version=scope_version,
    )


def _parse(message_type: type[MessageT], data: bytes, shape: Shape) -> MessageT:
    try:
        return message_type.FromString(data)
    except DecodeError:
        pass
    try:
        return message_type.FromString(repaired(data, shape))
    except DecodeError:
        return message_type()


@lru_cache(maxsize=256)
def _resource(data: bytes) -> Attributes:
    return _attributes(_parse(Resource, data, RESOURCE).attributes)


@lru_cache(maxsize=256)
def _scope(data: bytes) -> tuple[str, str]:
    scope = _parse(InstrumentationScope, data, SCOPE)
    return scope.name, scope.version


def _attributes(pairs: Sequence[KeyValue] | Iterable[KeyValue]) -> Attributes:
    # Of keys that are repeated the last one stands, as an SDK's own "set again" would have it.
    return {pair.key: _value(pair.value) for pair in pairs}


def _value(value: AnyValue) -> JsonValue:
    which = value.WhichOneof("value")
    if which == "string_value":
        return value.string_value
    if which == "int_value":
        return value.int_value
    if which == "double_value":
        return value.double_value
    if which == "bool_value":
        return value.bool_value
    if which == "array_value":
        return [_value(item) for item in value.array_value.values]
    if which == "kvlist_value":
        return {pair.key: _value(pair.value) for pair in value.kvlist_value.values}
    if which == "bytes_value":
        return _text_or_base64(value.bytes_value)
    return None


def _text_or_base64(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError:
        return base64.b64encode(data).decode()


def _kind(number: int) -> SpanKind:
    try:
        return SpanKind(number)
    except ValueError:
        return SpanKind.UNSPECIFIED


def _status(number: int) -> StatusCode:
    try:
        return StatusCode(number)
    except ValueError:
        return StatusCode.UNSET
