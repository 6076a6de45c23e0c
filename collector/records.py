"""The units that move through the collector: spans as bytes with the few fields the collector needs to know.

A record's bytes are never parsed again and never changed; what is added to a span is kept apart and concatenated when
a request is built.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple, NewType

Ref = NewType("Ref", int)
"""A reference to something kept in the store: a span that is held, or a parcel that is on its way out."""

PLACE_BITS = 24
"""A place in the journal is the number of a record, and in these lowest bits the item's index in its request."""


class Signal(StrEnum):
    """The OTLP signals that are taken."""

    TRACES = "traces"
    LOGS = "logs"
    METRICS = "metrics"


@dataclass(frozen=True, slots=True)
class Origin:
    """What all spans of one scope in one request share. Interned: equal origins are one object.

    `resource`, `scope` are serialised protobuf messages; `headers` are the allow-listed request headers that have to
    travel with the spans (sorted name-value pairs); spans of different headers never share a request. `resource_rest`
    and `scope_rest` are the serialised fields of ResourceSpans and ScopeSpans that this version of OTLP doesn't know.
    """

    resource: bytes
    resource_schema_url: str
    scope: bytes
    scope_schema_url: str
    headers: tuple[tuple[str, str], ...] = ()
    resource_rest: bytes = b""
    scope_rest: bytes = b""

    @property
    def size_bytes(self) -> int:
        """Bytes of all its parts but the headers, about."""
        parts = self.resource, self.resource_rest, self.scope, self.scope_rest
        return sum(map(len, parts)) + len(self.resource_schema_url) + len(self.scope_schema_url)


class SpanRecord(NamedTuple):
    """One span: its serialised bytes, where it belongs and where it came from.

    A tuple, because one is made for every span that passes and a frozen dataclass costs four times as much.

    `remote_parent` is what the span's flags say about its parent: True, False, or None where they don't say.
    `parent_span_id` is empty for a root.  `place` is where the journal has it (see `PLACE_BITS`); 0 without one.
    """

    trace_id: bytes
    span_id: bytes
    parent_span_id: bytes
    remote_parent: bool | None
    origin: Origin
    span: bytes
    place: int = 0


class LogRecord(NamedTuple):
    """One log record that names a trace, as bytes."""

    trace_id: bytes
    span_id: bytes
    origin: Origin
    record: bytes


class Outbound(NamedTuple):
    """A span as it leaves: its bytes and the serialised attributes that are appended to them (empty: unscored).

    `place` is where the journal has it; 0 if it has no such place.
    """

    origin: Origin
    span: bytes
    tail: bytes = b""
    place: int = 0


class Parcel(NamedTuple):
    """What a destination's queue takes: a serialised Export*ServiceRequest with one or more items.

    Requests of one signal and equal headers can be joined by concatenating their bytes (protobuf merges repeated
    fields), so a batch is a join of parcels. `items` counts spans, log records or data points. `number` is that of the
    journal's record of it; 0 without a journal.
    """

    signal: Signal
    request: bytes
    items: int
    headers: tuple[tuple[str, str], ...] = ()
    number: int = 0

    def waybill(self) -> Waybill:
        """All of it but its bytes."""
        return Waybill(self.signal, self.items, self.headers, len(self.request), self.number)


class Waybill(NamedTuple):
    """What is known of a parcel without its bytes."""

    signal: Signal
    items: int
    headers: tuple[tuple[str, str], ...]
    size_bytes: int
    number: int = 0
