"""OTLP requests in JSON → the same requests in protobuf.

Goes in: the JSON text of an Export{Trace,Logs,Metrics}ServiceRequest. Comes out: its protobuf bytes. The tables that
drive it are made from opentelemetry-proto's descriptors, so every field of every signal is there. Field names are
taken in lowerCamelCase and as in the .proto files, unknown ones are ignored, null is the default.

Fields are written from the last to the first into one list that is reversed at the end: the length in front of a
message is then known when it is due, and no byte is copied once per level of nesting.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from google.protobuf.descriptor import Descriptor, FieldDescriptor
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from collector.intake import MalformedRequestError
from collector.json_scalars import SCALARS, ToBytes, WrongValueError, enum, hex_id, kind_of, varint
from collector.json_text import JsonTextError, has_more_values, read_json
from collector.records import Signal

_ID_LENGTHS = {"trace_id": 16, "span_id": 8, "parent_span_id": 8}
_DESCRIPTORS: dict[Signal, Descriptor] = {
    Signal.TRACES: ExportTraceServiceRequest.DESCRIPTOR,
    Signal.LOGS: ExportLogsServiceRequest.DESCRIPTOR,
    Signal.METRICS: ExportMetricsServiceRequest.DESCRIPTOR,
}
_WAY_DOWN = {
    Signal.TRACES: ("resourceSpans", "scopeSpans", "spans"),
    Signal.LOGS: ("resourceLogs", "scopeLogs", "logRecords"),
    Signal.METRICS: ("resourceMetrics", "scopeMetrics", "metrics"),
}
_MAX_PLACE_CHARS = 300
_MAX_ITEMS = 1_000_000  # in one array; far beyond any batch
_MAX_VALUES = 5_000_000  # in one text: far beyond any batch, and some hundred megabytes of memory
_MAX_DEPTH = 100  # messages in messages: what readers of protobuf take
_PLAIN_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_.]{0,39}")

# Appends a field's bytes to the reversed output; takes the JSON value and the depth, returns how many bytes it wrote.
_Write = Callable[[list[bytes], object, int], int]


@dataclass(frozen=True, slots=True)
class Converted:
    """A request in protobuf; `warning` is for the sender when nothing was found because of unknown names."""

    request: bytes
    warning: str = ""


def convert(signal: Signal, text: bytes) -> Converted:
    """Convert the JSON text of a request.

    Raises:
        MalformedRequestError: it is no JSON text, no object, or a value has the wrong type; names the place.
    """
    if has_more_values(text, _MAX_VALUES):
        raise MalformedRequestError(f"more than {_MAX_VALUES} values in one {signal} request; send smaller batches")
    try:
        document = read_json(text)
    except JsonTextError as error:
        raise MalformedRequestError(f"not JSON: {error} (line {error.line}, column {error.column})") from None
    return convert_document(signal, document)


def convert_document(signal: Signal, document: object) -> Converted:
    """Convert a request that was read from JSON already; raises MalformedRequestError."""
    out: list[bytes] = []
    try:
        _REQUESTS[signal].write(out, document, 0)
    except WrongValueError as error:
        place = "".join(reversed(error.path)).removeprefix(".")
        if len(place) > _MAX_PLACE_CHARS:
            place = f"{place[:_MAX_PLACE_CHARS]}…"
        raise MalformedRequestError(
            f"not an OTLP {signal} request in JSON: {f'{place}: ' if place else ''}{error}"
        ) from None
    out.reverse()
    return Converted(b"".join(out), _warning(signal, document) if isinstance(document, dict) else "")


def signals_of(document: dict[str, object]) -> list[Signal]:
    """Which requests an object holds, by its top-level names."""
    return [signal for signal, levels in _LEVELS.items() if not levels[0][0].isdisjoint(document)]


class _Message:
    """Writes one kind of message; `fields` holds the writer of each field under both its names."""

    __slots__ = ("fields",)

    def __init__(self) -> None:
        self.fields: dict[str, _Write] = {}

    def write(self, out: list[bytes], value: object, depth: int) -> int:
        if type(value) is not dict:
            raise WrongValueError(f"an object is due, not {kind_of(value)}")
        if depth > _MAX_DEPTH:
            raise WrongValueError(f"values are nested deeper than {_MAX_DEPTH} messages")
        size = 0
        for name, item in reversed(value.items()):
            write = self.fields.get(name)
            if write is not None and item is not None:
                try:
                    size += write(out, item, depth)
                except WrongValueError as error:
                    error.path.append(f".{name}")
                    raise
        return size


def _message_field(tag: bytes, message: _Message) -> _Write:
    def write(out: list[bytes], value: object, depth: int) -> int:
        size = 0 if value is None else message.write(out, value, depth + 1)  # null in an array: an empty message
        head = tag + varint(size)
        out.append(head)
        return size + len(head)

    return write


def _scalar_field(tag: bytes, to_bytes: ToBytes, has_length: bool, default: bytes | None) -> _Write:
    """`default` is what isn't written, None where even the default means something (oneofs and optional fields)."""

    def write(out: list[bytes], value: object, depth: int) -> int:
        data = to_bytes(value)
        if data == default:
            return 0
        head = tag + varint(len(data)) if has_length else tag
        out.append(data)
        out.append(head)
        return len(data) + len(head)

    return write


def _repeated(write_item: _Write) -> _Write:
    def write(out: list[bytes], value: object, depth: int) -> int:
        if type(value) is not list:
            raise WrongValueError(f"an array is due, not {kind_of(value)}")
        if len(value) > _MAX_ITEMS:
            raise WrongValueError(f"more than {_MAX_ITEMS} items; send smaller batches")
        size = 0
        index = len(value)
        try:
            for item in reversed(value):
                index -= 1
                size += write_item(out, item, depth)
        except WrongValueError as error:
            error.path.append(f"[{index}]")
            raise
        return size

    return write


def _packed(tag: bytes, to_bytes: ToBytes) -> _Write:
    def write(out: list[bytes], value: object, depth: int) -> int:
        if type(value) is not list:
            raise WrongValueError(f"an array is due, not {kind_of(value)}")
        if not value:
            return 0
        items = []
        for index, item in enumerate(value):
            try:
                items.append(to_bytes(item))
            except WrongValueError as error:
                error.path.append(f"[{index}]")
                raise
        data = b"".join(items)
        head = tag + varint(len(data))
        out.append(data)
        out.append(head)
        return len(data) + len(head)

    return write


def _message_writer(descriptor: Descriptor, known: dict[str, _Message]) -> _Message:
    message = known.get(descriptor.full_name)
    if message is None:
        message = known[descriptor.full_name] = _Message()  # before its fields: messages hold themselves
        for field in descriptor.fields:
            message.fields[field.name] = message.fields[field.json_name] = _field_writer(field, known)
    return message


def _field_writer(field: FieldDescriptor, known: dict[str, _Message]) -> _Write:
    if field.message_type is not None:
        write = _message_field(varint(field.number << 3 | 2), _message_writer(field.message_type, known))
        return _repeated(write) if field.is_repeated else write
    if field.enum_type is not None:
        wire_type, to_bytes = 0, enum({value.name: value.number for value in field.enum_type.values})
    else:
        wire_type, to_bytes = SCALARS[field.type]
        if field.type == FieldDescriptor.TYPE_BYTES and field.name in _ID_LENGTHS:
            to_bytes = hex_id(_ID_LENGTHS[field.name])
    if field.is_packed:
        return _packed(varint(field.number << 3 | 2), to_bytes)
    tag = varint(field.number << 3 | wire_type)
    if field.is_repeated:
        return _repeated(_scalar_field(tag, to_bytes, wire_type == 2, None))
    default = None if field.has_presence else _DEFAULTS[wire_type]
    return _scalar_field(tag, to_bytes, wire_type == 2, default)


_DEFAULTS = {0: b"\0", 1: bytes(8), 2: b"", 5: bytes(4)}


def _request_writers() -> dict[Signal, _Message]:
    known: dict[str, _Message] = {}
    return {signal: _message_writer(descriptor, known) for signal, descriptor in _DESCRIPTORS.items()}


_REQUESTS = _request_writers()


def _levels(request: Descriptor, names: tuple[str, ...]) -> list[tuple[frozenset[str], frozenset[str]]]:
    """For the request, its resources and its scopes: the names of the field that leads on, and all names there are."""
    levels = []
    message = request
    for name in names:
        field = message.fields_by_camelcase_name[name]
        known = frozenset(name for field in message.fields for name in (field.name, field.json_name))
        levels.append((frozenset((field.name, field.json_name)), known))
        if field.message_type is not None:
            message = field.message_type
    return levels


_LEVELS = {signal: _levels(_DESCRIPTORS[signal], names) for signal, names in _WAY_DOWN.items()}


def _warning(signal: Signal, document: dict[str, object]) -> str:
    """What to tell the sender if the request holds no item, but names that OTLP doesn't have.

    A misspelt name would otherwise vanish behind a success.
    """
    unknown: dict[str, None] = {}
    level: list[object] = [document]
    for leading_on, known in _LEVELS[signal]:
        below: list[object] = []
        for item in level:
            if not isinstance(item, dict):
                continue
            for name, value in item.items():
                if name in leading_on and isinstance(value, list):
                    below.extend(value)
                elif name not in known and value is not None:
                    unknown[name] = None
        level = below
    if level or not unknown:
        return ""
    names = ", ".join(name if _PLAIN_NAME.fullmatch(name) else "(not shown)" for name in list(unknown)[:3])
    return (
        f"nothing was found in this request, but the unknown names {names}; {'.'.join(_WAY_DOWN[signal])} is expected"
    )
