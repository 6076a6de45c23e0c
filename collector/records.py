"""The units that move through the collector: spans as bytes with the few fields the collector needs to know.

A record's bytes are never parsed again and never changed; what is added to a span is kept apart and concatenated when
a request is built.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import NewType

Ref = NewType("Ref", int)
"""A reference to a span kept in the store. Queues carry these, not spans."""


class Signal(StrEnum):
    """The OTLP signals that are taken."""

    TRACES = "traces"
    LOGS = "logs"
    METRICS = "metrics"


@dataclass(frozen=True, slots=True)
class Origin:
    """What all spans of one scope in one request share. Interned: equal origins are one object.

    `resource`, `scope` are serialised protobuf messages; `headers` are the allow-listed request headers that have to
    travel with the spans (sorted name-value pairs); spans of different headers never share a request.
    """

    resource: bytes
    resource_schema_url: str
    scope: bytes
    scope_schema_url: str
    headers: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class SpanRecord:
    """One span: its serialised bytes, where it belongs and where it came from.

    `remote_parent` is what the span's flags say about its parent: True, False, or None where they don't say.
    `parent_span_id` is empty for a root.
    """

    trace_id: bytes
    span_id: bytes
    parent_span_id: bytes
    remote_parent: bool | None
    origin: Origin
    span: bytes


@dataclass(frozen=True, slots=True)
class LogRecord:
    """One log record that names a trace, as bytes."""

    trace_id: bytes
    span_id: bytes
    origin: Origin
    record: bytes


@dataclass(frozen=True, slots=True)
class Outbound:
    """A span as it leaves: its bytes and the serialised attributes that are appended to them (empty: unscored)."""

    origin: Origin
    span: bytes
    tail: bytes = b""
