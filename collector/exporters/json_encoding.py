"""Serialised OTLP requests → OTLP JSON as the specification has it.

lowerCamelCase names, trace and span ids in hex, other bytes in base64, 64-bit integers as strings, enums as numbers,
NaN and infinities as strings, defaults left out.  A byte that isn't UTF-8 becomes U+FFFD; fields unknown to this
version of OTLP can't be written and are left out.
"""

from __future__ import annotations

import base64
import math
from collections.abc import Callable
from functools import cache
from typing import Any

import orjson
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from google.protobuf.descriptor import Descriptor, FieldDescriptor, FileDescriptor
from google.protobuf.message import DecodeError, Message
from opentelemetry.proto.collector.logs.v1 import logs_service_pb2
from opentelemetry.proto.collector.metrics.v1 import metrics_service_pb2
from opentelemetry.proto.collector.trace.v1 import trace_service_pb2

from collector.records import Signal

_FILES: dict[Signal, FileDescriptor] = {
    Signal.TRACES: trace_service_pb2.DESCRIPTOR,
    Signal.LOGS: logs_service_pb2.DESCRIPTOR,
    Signal.METRICS: metrics_service_pb2.DESCRIPTOR,
}
_REQUESTS = {
    Signal.TRACES: "ExportTraceServiceRequest",
    Signal.LOGS: "ExportLogsServiceRequest",
    Signal.METRICS: "ExportMetricsServiceRequest",
}
_IDS = ("trace_id", "span_id", "parent_span_id")
_64_BITS = (
    FieldDescriptor.TYPE_INT64,
    FieldDescriptor.TYPE_UINT64,
    FieldDescriptor.TYPE_FIXED64,
    FieldDescriptor.TYPE_SFIXED64,
    FieldDescriptor.TYPE_SINT64,
)
_FLOATS = (FieldDescriptor.TYPE_DOUBLE, FieldDescriptor.TYPE_FLOAT)
_Encode = Callable[[Any], object]


class UnreadableRequestError(Exception):
    """The bytes are no request of that signal, or are nested too deep to read."""


def to_json(signal: Signal, request: bytes) -> bytes:
    """The request as one line of JSON, without a line break.

    Raises:
        UnreadableRequestError: it can't be parsed.
    """
    try:
        message = _classes()[signal].FromString(request)
    except DecodeError:
        raise UnreadableRequestError(f"not a readable {signal} request") from None
    return orjson.dumps(_message(message))


def _message(message: Message) -> dict[str, object]:
    encoders = _encoders(message.DESCRIPTOR)
    result: dict[str, object] = {}
    for field, value in message.ListFields():
        name, encode, repeated = encoders[field.number]
        result[name] = [encode(item) for item in value] if repeated else encode(value)
    return result


@cache
def _encoders(descriptor: Descriptor) -> dict[int, tuple[str, _Encode, bool]]:
    return {
        field.number: (field.json_name, _encoder(descriptor, field), field.is_repeated) for field in descriptor.fields
    }


def _encoder(descriptor: Descriptor, field: FieldDescriptor) -> _Encode:
    if field.type == FieldDescriptor.TYPE_MESSAGE:
        return _message
    if field.type == FieldDescriptor.TYPE_BYTES:
        if (descriptor.full_name, field.name) in _texts():
            return _text
        return bytes.hex if field.name in _IDS else _base64
    if field.type in _64_BITS:
        return str
    return _float if field.type in _FLOATS else _as_it_is


def _text(value: bytes) -> str:
    return value.decode("utf-8", "replace")


def _base64(value: bytes) -> str:
    return base64.b64encode(value).decode()


def _float(value: float) -> object:
    if math.isfinite(value):
        return value
    return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"


def _as_it_is(value: object) -> object:
    return value


@cache
def _texts() -> frozenset[tuple[str, str]]:
    """Which fields hold text; in the messages parsed here they are declared as bytes."""
    return frozenset(
        (f"{file.package}.{'.'.join(names)}", field.name)
        for file in _lenient_files()
        for names, message in _messages_in(file)
        for field in message.field
        if field.type == FieldDescriptor.TYPE_STRING
    )


def _lenient_files() -> list[descriptor_pb2.FileDescriptorProto]:
    """OTLP's files in an order in which each comes after those it needs."""
    ordered: dict[str, descriptor_pb2.FileDescriptorProto] = {}

    def visit(file: FileDescriptor) -> None:
        for needed in file.dependencies:
            visit(needed)
        if file.name not in ordered:
            proto = descriptor_pb2.FileDescriptorProto()
            file.CopyToProto(proto)
            ordered[file.name] = proto

    for file in _FILES.values():
        visit(file)
    return list(ordered.values())


def _messages_in(
    file: descriptor_pb2.FileDescriptorProto,
) -> list[tuple[tuple[str, ...], descriptor_pb2.DescriptorProto]]:
    found: list[tuple[tuple[str, ...], descriptor_pb2.DescriptorProto]] = []
    open_: list[tuple[tuple[str, ...], descriptor_pb2.DescriptorProto]] = [
        ((message.name,), message) for message in file.message_type
    ]
    while open_:
        names, message = open_.pop()
        found.append((names, message))
        open_.extend(((*names, inner.name), inner) for inner in message.nested_type)
    return found


@cache
def _classes() -> dict[Signal, type[Message]]:
    """Request classes whose text fields are bytes, so that one invalid byte can't make a request unreadable."""
    pool = descriptor_pool.DescriptorPool()
    for file in _lenient_files():
        for _, message in _messages_in(file):
            for field in message.field:
                if field.type == descriptor_pb2.FieldDescriptorProto.TYPE_STRING:
                    field.type = descriptor_pb2.FieldDescriptorProto.TYPE_BYTES
        pool.Add(file)
    return {
        signal: message_factory.GetMessageClass(
            pool.FindMessageTypeByName(f"{_FILES[signal].package}.{_REQUESTS[signal]}")
        )
        for signal in Signal
    }
