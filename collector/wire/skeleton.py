"""OTLP's messages declared anew with strings as bytes, so that protobuf's C code slices a request without reading it.

Field numbers and wire types are those of opentelemetry-proto; two things differ. A request's skeleton stops at the
leaves: a span, a log record, a resource, a scope is one bytes field. And strings are bytes everywhere, so that an
invalid UTF-8 byte in one attribute can't make a whole request unreadable.

`resource` and `scope` are declared repeated: protobuf merges a message field that occurs twice, and merging is the
same as concatenating the bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, MutableSequence, Sequence
from typing import Protocol, cast

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from google.protobuf.message import Message

_PACKAGE = "spanjudge.skeleton"
_Field = descriptor_pb2.FieldDescriptorProto
_SCALARS = {
    "bytes": _Field.TYPE_BYTES,
    "bool": _Field.TYPE_BOOL,
    "int32": _Field.TYPE_INT32,
    "uint32": _Field.TYPE_UINT32,
    "int64": _Field.TYPE_INT64,
    "double": _Field.TYPE_DOUBLE,
    "fixed32": _Field.TYPE_FIXED32,
    "fixed64": _Field.TYPE_FIXED64,
}

# Message → fields; a field is "number name type", with * after the type where it is repeated.
SCHEMA: dict[str, tuple[str, ...]] = {
    # Requests down to their leaves. 1000 was the field of scopes until OTLP 0.15 and has their shape.
    "Request": ("1 resources Resources*",),
    "Resources": ("1 resource bytes*", "2 scopes Scopes*", "3 schema_url bytes", "1000 old_scopes Scopes*"),
    "Scopes": ("1 scope bytes*", "2 items bytes*", "3 schema_url bytes"),
    # The same down through the leaves.
    "SpansRequest": ("1 resources SpansResources*",),
    "SpansResources": ("2 scopes SpansScopes*", "1000 old_scopes SpansScopes*"),
    "SpansScopes": ("2 items Span*",),
    # Leaves.
    "Span": (
        "1 trace_id bytes",
        "2 span_id bytes",
        "3 trace_state bytes",
        "4 parent_span_id bytes",
        "5 name bytes",
        "6 kind int32",
        "7 start_time_unix_nano fixed64",
        "8 end_time_unix_nano fixed64",
        "9 attributes KeyValue*",
        "10 dropped_attributes_count uint32",
        "11 events Event*",
        "12 dropped_events_count uint32",
        "13 links Link*",
        "14 dropped_links_count uint32",
        "15 status Status",
        "16 flags fixed32",
    ),
    # A span without its depths, for spans nested deeper than the parser goes.
    "SpanHead": (
        "1 trace_id bytes",
        "2 span_id bytes",
        "4 parent_span_id bytes",
        "13 links LinkHead*",
        "16 flags fixed32",
    ),
    "LinkHead": ("1 trace_id bytes", "2 span_id bytes"),
    "Event": (
        "1 time_unix_nano fixed64",
        "2 name bytes",
        "3 attributes KeyValue*",
        "4 dropped_attributes_count uint32",
    ),
    "Link": (
        "1 trace_id bytes",
        "2 span_id bytes",
        "3 trace_state bytes",
        "4 attributes KeyValue*",
        "5 dropped_attributes_count uint32",
        "6 flags fixed32",
    ),
    "Status": ("2 message bytes", "3 code int32"),
    "LogRecord": (
        "1 time_unix_nano fixed64",
        "2 severity_number int32",
        "3 severity_text bytes",
        "5 body AnyValue",
        "6 attributes KeyValue*",
        "7 dropped_attributes_count uint32",
        "8 flags fixed32",
        "9 trace_id bytes",
        "10 span_id bytes",
        "11 observed_time_unix_nano fixed64",
        "12 event_name bytes",
    ),
    "LogRecordHead": ("9 trace_id bytes", "10 span_id bytes"),
    "Resource": ("1 attributes KeyValue*", "2 dropped_attributes_count uint32"),
    "Scope": ("1 name bytes", "2 version bytes", "3 attributes KeyValue*", "4 dropped_attributes_count uint32"),
    "KeyValue": ("1 key bytes", "2 value AnyValue"),
    "AnyValue": (
        "1 string_value bytes",
        "2 bool_value bool",
        "3 int_value int64",
        "4 double_value double",
        "5 array_value ArrayValue",
        "6 kvlist_value KeyValueList",
        "7 bytes_value bytes",
    ),
    "ArrayValue": ("1 values AnyValue*",),
    "KeyValueList": ("1 values KeyValue*",),
    # Any message at all; every field is an unknown one.
    "Anything": (),
    # Metrics are passed on whole; only their data points are counted.
    "MetricsRequest": ("1 resources ResourceMetrics*",),
    "ResourceMetrics": ("2 scopes ScopeMetrics*",),
    "ScopeMetrics": ("2 metrics Metric*",),
    "Metric": (
        "5 gauge DataPoints",
        "7 sum DataPoints",
        "9 histogram DataPoints",
        "10 exponential_histogram DataPoints",
        "11 summary DataPoints",
    ),
    "DataPoints": ("1 data_points bytes*",),
}


class ScopesSkeleton(Protocol):
    """ScopeSpans or ScopeLogs; `items` are its serialised spans or log records."""

    scope: MutableSequence[bytes]
    items: MutableSequence[bytes]
    schema_url: bytes

    def MergeFromString(self, serialized: bytes, /) -> int: ...  # noqa: D102, N802


class _Scopes(Protocol):
    def add(self) -> ScopesSkeleton: ...
    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[ScopesSkeleton]: ...


class ResourcesSkeleton(Protocol):
    """ResourceSpans or ResourceLogs."""

    resource: MutableSequence[bytes]
    scopes: _Scopes
    schema_url: bytes
    old_scopes: _Scopes

    def MergeFromString(self, serialized: bytes, /) -> int: ...  # noqa: D102, N802


class _Resources(Protocol):
    def add(self) -> ResourcesSkeleton: ...
    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[ResourcesSkeleton]: ...


class RequestSkeleton(Protocol):
    """ExportTraceServiceRequest or ExportLogsServiceRequest."""

    resources: _Resources

    def SerializeToString(self) -> bytes: ...  # noqa: D102, N802


class LinkSkeleton(Protocol):
    """A span link's ids."""

    trace_id: bytes
    span_id: bytes


class SpanSkeleton(Protocol):
    """What is read of a span at receive; the rest of it is only checked for framing."""

    trace_id: bytes
    span_id: bytes
    parent_span_id: bytes
    flags: int
    links: Sequence[LinkSkeleton]


class SpansSkeleton(Protocol):
    """All spans of a request, read in one go."""

    resources: Sequence[_SpansResources]


class _SpansResources(Protocol):
    scopes: Sequence[_SpansScopes]
    old_scopes: Sequence[_SpansScopes]


class _SpansScopes(Protocol):
    items: Sequence[SpanSkeleton]


class LogRecordSkeleton(Protocol):
    """What is read of a log record at receive."""

    trace_id: bytes
    span_id: bytes


class _DataPoints(Protocol):
    data_points: Sequence[bytes]


class MetricSkeleton(Protocol):
    """A metric; at most one of the kinds holds its points."""

    gauge: _DataPoints
    sum: _DataPoints
    histogram: _DataPoints
    exponential_histogram: _DataPoints
    summary: _DataPoints


class _ScopeMetrics(Protocol):
    metrics: Sequence[MetricSkeleton]


class _ResourceMetrics(Protocol):
    scopes: Sequence[_ScopeMetrics]


class MetricsRequestSkeleton(Protocol):
    """ExportMetricsServiceRequest."""

    resources: Sequence[_ResourceMetrics]


def _declare() -> dict[str, type[Message]]:
    file = descriptor_pb2.FileDescriptorProto(name="spanjudge/skeleton.proto", package=_PACKAGE, syntax="proto3")
    for message_name, fields in SCHEMA.items():
        message = file.message_type.add(name=message_name)
        for declaration in fields:
            number, name, kind = declaration.split()
            field = message.field.add(name=name, number=int(number))
            field.label = _Field.LABEL_REPEATED if kind.endswith("*") else _Field.LABEL_OPTIONAL
            kind = kind.removesuffix("*")
            if kind in _SCALARS:
                field.type = _SCALARS[kind]
            else:
                field.type = _Field.TYPE_MESSAGE
                field.type_name = f".{_PACKAGE}.{kind}"
    pool = descriptor_pool.DescriptorPool()  # a pool of our own: nothing of it meets the real OTLP descriptors
    pool.Add(file)
    return {name: message_factory.GetMessageClass(pool.FindMessageTypeByName(f"{_PACKAGE}.{name}")) for name in SCHEMA}


_CLASSES = _declare()


# Bound C methods, called once per span: no wrapper around them. All raise google.protobuf.message.DecodeError.
parse_request = cast("Callable[[bytes], RequestSkeleton]", _CLASSES["Request"].FromString)
parse_spans = cast("Callable[[bytes], SpansSkeleton]", _CLASSES["SpansRequest"].FromString)
parse_span = cast("Callable[[bytes], SpanSkeleton]", _CLASSES["Span"].FromString)
parse_span_head = cast("Callable[[bytes], SpanSkeleton]", _CLASSES["SpanHead"].FromString)
parse_log_record = cast("Callable[[bytes], LogRecordSkeleton]", _CLASSES["LogRecord"].FromString)
parse_log_record_head = cast("Callable[[bytes], LogRecordSkeleton]", _CLASSES["LogRecordHead"].FromString)
parse_resource = cast("Callable[[bytes], object]", _CLASSES["Resource"].FromString)
parse_scope = cast("Callable[[bytes], object]", _CLASSES["Scope"].FromString)
parse_metrics = cast("Callable[[bytes], MetricsRequestSkeleton]", _CLASSES["MetricsRequest"].FromString)
parse_anything = cast("Callable[[bytes], Message]", _CLASSES["Anything"].FromString)
