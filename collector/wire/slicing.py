"""From the bytes of a request to records: each span and log record cut out, checked, and told where it belongs.

In go serialised ExportTraceServiceRequests and ExportLogsServiceRequests, out come records that hold plain bytes, and
the items that had to be left out with the reason. Nothing is re-encoded and no attribute is read. No part of a parsed
request is kept: one sub-message would hold the memory of the whole.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import cast

from google.protobuf.message import DecodeError, Message
from google.protobuf.unknown_fields import UnknownFieldSet

from collector.intake import MalformedRequestError
from collector.records import PLACE_BITS, LogRecord, Origin, SpanRecord
from collector.wire.building import length_prefix
from collector.wire.damage import Budget, BudgetSpentError, find_damage, malformed
from collector.wire.origins import OriginKey, Origins
from collector.wire.skeleton import (
    LinkSkeleton,
    ResourcesSkeleton,
    ScopesSkeleton,
    SpanSkeleton,
    parse_anything,
    parse_log_record,
    parse_log_record_head,
    parse_metrics,
    parse_request,
    parse_resource,
    parse_scope,
    parse_span,
    parse_span_head,
    parse_spans,
)

Headers = tuple[tuple[str, str], ...]

_NO_TRACE = bytes(16)
_NO_SPAN = bytes(8)
_HAS_IS_REMOTE = 0x100  # SpanFlags of trace.proto
_IS_REMOTE = 0x200
_SIGNAL_NAMES = {"spans": "traces", "logs": "logs"}
# Checking a span unpacks it to up to thirty times its bytes. Of what is larger only the outermost fields are read.
CHECK_WHOLE_BYTES = 4 << 20
# Spans of larger requests are read in groups, so that what they unpack to isn't there all at once.
READ_AT_ONCE_BYTES = 4 << 20
_GROUP_SPANS = 1000
_GROUP_BYTES = 1 << 20
_METRIC_KINDS = ("gauge", "sum", "histogram", "exponential_histogram", "summary")


@dataclass(frozen=True, slots=True)
class Limits:
    """What one request may hold; resources count as scopes."""

    items: int
    scopes: int


# Far beyond any batch, and bounded work.
OF_A_BATCH = Limits(items=250_000, scopes=50_000)


@dataclass(frozen=True, slots=True)
class Rejection:
    """One item that can't be taken: its number in the request, counted over all scopes, and why."""

    index: int
    reason: str


@dataclass(frozen=True, slots=True)
class Sliced:
    """A traces request taken apart, in its order."""

    records: list[SpanRecord]
    rejected: list[Rejection]


@dataclass(frozen=True, slots=True)
class SlicedLogs:
    """A logs request taken apart, in its order."""

    records: list[LogRecord]
    rejected: list[Rejection]


def slice_spans(
    request: bytes, headers: Headers, origins: Origins, limits: Limits | None = OF_A_BATCH, number: int = 0
) -> Sliced:
    """Take a serialised ExportTraceServiceRequest apart.

    A span is rejected if its trace id isn't 16 bytes or is all zeros, if its span id isn't 8 bytes or is all zeros, if
    its parent's or a link's id is there and has another length (backends refuse whole requests for that), or if it is
    no message.

    Args:
        request: protobuf bytes, decompressed.
        headers: the request headers that have to travel with the spans, sorted.
        origins: where equal origins become one object.
        limits: how much it may hold; None for requests that nobody else waits behind.
        number: of the journal's record of this request; 0 if it has none.

    Raises:
        MalformedRequestError: the request can't be cut into spans at all, or holds more than that.
    """
    records: list[SpanRecord] = []
    rejected: list[Rejection] = []
    budget = Budget()
    index = -1
    first_place = number << PLACE_BITS
    whole = _heads_at_once(request)
    for place, origin, items in _scopes(request, "spans", headers, origins, budget, limits):
        heads = _heads_in_groups(items) if whole is None else whole
        for number, span in enumerate(items):
            index += 1
            read = next(heads, None)
            if isinstance(origin, str):
                rejected.append(Rejection(index, origin))
                continue
            try:
                head = read or (parse_span if len(span) <= CHECK_WHOLE_BYTES else parse_span_head)(span)
            except DecodeError:
                fault = _fault(span, "Span", f"{place}.spans[{number}]", budget)
                if fault is not None:
                    rejected.append(Rejection(index, fault))
                    continue
                head = parse_span_head(span)
            trace_id = head.trace_id
            span_id = head.span_id
            parent_span_id = head.parent_span_id
            if (
                len(trace_id) != 16
                or len(span_id) != 8
                or trace_id == _NO_TRACE
                or span_id == _NO_SPAN
                or (parent_span_id and len(parent_span_id) != 8)
                or (head.links and not _are_sound(head.links))
            ):
                rejected.append(Rejection(index, f"{place}.spans[{number}]: {_id_fault(head)}"))
                continue
            flags = head.flags
            records.append(
                SpanRecord(
                    trace_id,
                    span_id,
                    b"" if parent_span_id == _NO_SPAN else parent_span_id,
                    bool(flags & _IS_REMOTE) if flags & _HAS_IS_REMOTE else None,
                    origin,
                    span,
                    first_place + index,
                )
            )
    return Sliced(records, rejected)


def _heads_at_once(request: bytes) -> Iterator[SpanSkeleton] | None:
    """The heads of all spans in order; None if they have to be read in groups.

    Once for all is not only faster: for every ten thousand messages that were read protobuf gives all free memory back
    to the system, from which it then has to come anew.
    """
    if len(request) > READ_AT_ONCE_BYTES:
        return None
    try:
        parsed = parse_spans(request)
    except DecodeError:  # by damage, or depth, of one span
        return None
    return (
        span
        for resources in parsed.resources
        for scopes in chain(resources.scopes, resources.old_scopes)
        for span in scopes.items
    )


def _heads_in_groups(spans: Sequence[bytes]) -> Iterator[SpanSkeleton | None]:
    """The heads of these spans in order; None for those that have to be read one by one."""
    group: list[bytes] = []
    group_bytes = 0
    for span in spans:
        if group and (len(group) == _GROUP_SPANS or group_bytes + len(span) > _GROUP_BYTES):
            yield from _heads_of_group(group)
            group, group_bytes = [], 0
        group.append(span)
        group_bytes += len(span)
    yield from _heads_of_group(group)


def _heads_of_group(spans: Sequence[bytes]) -> Iterator[SpanSkeleton | None]:
    if len(spans) < 2:
        return iter([None] * len(spans))
    scope = b"".join([part for span in spans for part in (b"\x12", length_prefix(len(span)), span)])
    resource = b"\x12" + length_prefix(len(scope)) + scope
    try:
        parsed = parse_spans(b"\x0a" + length_prefix(len(resource)) + resource)
    except DecodeError:
        return iter([None] * len(spans))
    return iter(parsed.resources[0].scopes[0].items)


def slice_logs(request: bytes, headers: Headers, origins: Origins, limits: Limits | None = OF_A_BATCH) -> SlicedLogs:
    """Take a serialised ExportLogsServiceRequest apart.

    A log record needn't belong to a trace: without ids, or with ids that are all zeros, its ids are empty here. It is
    rejected if an id has a wrong length or if it is no message. Arguments and errors are those of `slice_spans`.
    """
    records: list[LogRecord] = []
    rejected: list[Rejection] = []
    budget = Budget()
    index = -1
    for place, origin, items in _scopes(request, "logs", headers, origins, budget, limits):
        for number, record in enumerate(items):
            index += 1
            if isinstance(origin, str):
                rejected.append(Rejection(index, origin))
                continue
            try:
                head = (parse_log_record if len(record) <= CHECK_WHOLE_BYTES else parse_log_record_head)(record)
            except DecodeError:
                fault = _fault(record, "LogRecord", f"{place}.log_records[{number}]", budget)
                if fault is not None:
                    rejected.append(Rejection(index, fault))
                    continue
                head = parse_log_record_head(record)
            trace_id = head.trace_id
            span_id = head.span_id
            if len(trace_id) not in (0, 16) or len(span_id) not in (0, 8):
                fault = f"trace_id has {len(trace_id)} bytes and span_id {len(span_id)}; 0 or 16 and 0 or 8 are due"
                rejected.append(Rejection(index, f"{place}.log_records[{number}]: {fault}"))
                continue
            if not trace_id or trace_id == _NO_TRACE:
                trace_id = span_id = b""
            elif span_id == _NO_SPAN:
                span_id = b""
            records.append(LogRecord(trace_id, span_id, origin, record))
    return SlicedLogs(records, rejected)


def count_data_points(request: bytes) -> int:
    """How many data points a serialised ExportMetricsServiceRequest holds; raises MalformedRequestError."""
    try:
        parsed = parse_metrics(request)
    except DecodeError:
        raise malformed("an OTLP metrics request", request, "MetricsRequest", "metrics") from None
    left = OF_A_BATCH.items
    scopes_left = OF_A_BATCH.scopes - len(parsed.resources)
    points = 0
    for resources in parsed.resources:
        scopes_left -= len(resources.scopes)
        if scopes_left < 0:
            raise _too_many(OF_A_BATCH.scopes, "scopes", "metrics")
        for scopes in resources.scopes:
            left -= len(scopes.metrics)
            if left < 0:
                raise _too_many(OF_A_BATCH.items, "items", "metrics")
            points += sum(len(getattr(metric, kind).data_points) for metric in scopes.metrics for kind in _METRIC_KINDS)
    return points


def describe_rejections(rejected: Sequence[Rejection]) -> str:
    """What the sender is told in a partial success: the first few reasons, then how many more there were."""
    told = "; ".join(rejection.reason for rejection in rejected[:3])
    more = len(rejected) - 3
    return f"{told}; and {more} more" if more > 0 else told


def _scopes(
    request: bytes, signal: str, headers: Headers, origins: Origins, budget: Budget, limits: Limits | None
) -> Iterator[tuple[str, Origin | str, Sequence[bytes]]]:
    """Per scope of the request: how to call it, its origin (or why it has none), and its serialised items."""
    try:
        parsed = parse_request(request)
    except DecodeError:
        raise malformed(f"an OTLP {_SIGNAL_NAMES[signal]} request", request, "Request", signal) from None
    items = 0
    scope_count = len(parsed.resources)
    for i, resources in enumerate(parsed.resources):
        scope_count += len(resources.scopes) + len(resources.old_scopes)
        if limits is not None and scope_count > limits.scopes:
            raise _too_many(limits.scopes, "scopes", _SIGNAL_NAMES[signal])
        resource = _joined(resources.resource)
        resource_schema_url = resources.schema_url
        resource_rest = _unknown_fields(resources, "resource", "scopes", "schema_url", "old_scopes")
        for j, scopes in enumerate(chain(resources.scopes, resources.old_scopes)):
            items += len(scopes.items)
            if limits is not None and items > limits.items:
                raise _too_many(limits.items, "items", _SIGNAL_NAMES[signal])
            key = OriginKey(
                resource,
                resource_schema_url,
                resource_rest,
                _joined(scopes.scope),
                scopes.schema_url,
                _unknown_fields(scopes, "scope", "items", "schema_url"),
                headers,
            )
            place = f"resource_{signal}[{i}].scope_{signal}[{j}]"
            origin: Origin | str | None = origins.find(key)
            if origin is None:
                origin = _fault_of_origin(key, f"resource_{signal}[{i}]", place, budget) or origins.add(key)
            yield place, origin, scopes.items


def _too_many(limit: int, of_what: str, signal: str) -> MalformedRequestError:
    return MalformedRequestError(f"more than {limit} {of_what} in one {signal} request; send smaller batches")


def _joined(parts: Sequence[bytes]) -> bytes:
    return parts[0] if len(parts) == 1 else b"".join(parts)


def _unknown_fields(message: ResourcesSkeleton | ScopesSkeleton, *known: str) -> bytes:
    """The serialised fields of a message besides the known ones."""
    whole = cast("Message", message)
    if not len(UnknownFieldSet(whole)):
        return b""
    rest = type(whole)()
    rest.CopyFrom(whole)
    for name in known:
        rest.ClearField(name)
    return rest.SerializeToString()


def _fault_of_origin(key: OriginKey, resource_place: str, scope_place: str, budget: Budget) -> str | None:
    try:
        (parse_resource if len(key.resource) <= CHECK_WHOLE_BYTES else parse_anything)(key.resource)
        (parse_scope if len(key.scope) <= CHECK_WHOLE_BYTES else parse_anything)(key.scope)
    except DecodeError:
        return _fault(key.resource, "Resource", f"{resource_place}.resource", budget) or _fault(
            key.scope, "Scope", f"{scope_place}.scope", budget
        )
    return None


def _fault(data: bytes, message: str, place: str, budget: Budget) -> str | None:
    """Why these bytes, which the parser refused, can't be taken; None if they are only nested too deep for it."""
    try:
        return find_damage(data, message, place, budget)
    except BudgetSpentError:
        return f"{place}: is broken, or nested deeper than 100 messages and too large to check"


def _are_sound(links: Sequence[LinkSkeleton]) -> bool:
    return all(len(link.trace_id) in (0, 16) and len(link.span_id) in (0, 8) for link in links)


def _id_fault(head: SpanSkeleton) -> str:
    for name, value, length in (("trace_id", head.trace_id, 16), ("span_id", head.span_id, 8)):
        if len(value) != length:
            return f"{name} has {len(value)} bytes, not {length}"
        if not any(value):
            return f"{name} is all zeros"
    if len(head.parent_span_id) not in (0, 8):
        return f"parent_span_id has {len(head.parent_span_id)} bytes, not 8"
    return "a link's trace_id or span_id has a wrong length"
