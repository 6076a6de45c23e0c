"""From records back to requests: spans grouped under their origins, bytes as they came, scores appended.

Serialised protobuf messages are concatenated, never parsed: a span followed by serialised attributes is the span with
these attributes added.  Everything is copied once, when the parts of the whole request are joined.
"""

from __future__ import annotations

from collections.abc import Iterable

from collector.records import LogRecord, Origin, Outbound

# Tags of ResourceSpans, ScopeSpans and their counterparts for logs, which have the same numbers.
_RESOURCES = _RESOURCE = _SCOPE = b"\x0a"
_SCOPES = _ITEM = b"\x12"
_SCHEMA_URL = b"\x1a"

Parts = list[bytes]


def build_request(outbound: Iterable[Outbound]) -> bytes:
    """A serialised ExportTraceServiceRequest of these spans.

    Origins come in the order in which they are first met, the spans of one origin in the order given; scopes of equal
    resources share one ResourceSpans. The request headers of the origins are not looked at: keeping apart what must
    not share a request is up to the caller.
    """
    return _build(outbound)


def build_logs_request(records: Iterable[LogRecord]) -> bytes:
    """A serialised ExportLogsServiceRequest of these records; order as in `build_request`."""
    return _build((item.origin, item.record, b"", 0) for item in records)


def _build(items: Iterable[tuple[Origin, bytes, bytes, int]]) -> bytes:
    groups: dict[int, tuple[Origin, Parts]] = {}  # by identity: origins are interned, and hashing them costs
    current: Origin | None = None
    parts: Parts = []
    for origin, data, tail, _ in items:
        if origin is not current:
            current = origin
            parts = groups.setdefault(id(origin), (origin, []))[1]
        size = len(data) + len(tail)
        # The usual length of a varint in line: a call costs as much as the rest.
        if 0x80 <= size < 0x4000:
            parts += (bytes((0x12, size & 0x7F | 0x80, size >> 7)), data, tail)
        else:
            parts += (_ITEM, length_prefix(size), data, tail)
    scopes: dict[Origin, Parts] = {}
    for origin, parts in groups.values():
        if origin in scopes:
            scopes[origin] += parts
        else:
            scopes[origin] = parts
    resources: dict[tuple[bytes, str, bytes], Parts] = {}
    for origin, parts in scopes.items():
        key = (origin.resource, origin.resource_schema_url, origin.resource_rest)
        body = [*_field(_SCOPE, origin.scope), *parts, *_url(origin.scope_schema_url), origin.scope_rest]
        resources.setdefault(key, []).extend(_message(_SCOPES, body))
    request: Parts = []
    for (resource, schema_url, rest), parts in resources.items():
        request += _message(_RESOURCES, [*_field(_RESOURCE, resource), *parts, *_url(schema_url), rest])
    return b"".join(request)


def length_prefix(size: int) -> bytes:
    """A length as protobuf writes it: a varint."""
    if size < 0x80:
        return bytes((size,))
    if size < 0x4000:
        return bytes((size & 0x7F | 0x80, size >> 7))
    encoded = bytearray()
    while size >= 0x80:
        encoded.append(size & 0x7F | 0x80)
        size >>= 7
    encoded.append(size)
    return bytes(encoded)


def _message(tag: bytes, body: Parts) -> Parts:
    return [tag, length_prefix(sum(map(len, body))), *body]


def _field(tag: bytes, value: bytes) -> Parts:
    return [tag, length_prefix(len(value)), value] if value else []


def _url(url: str) -> Parts:
    return _field(_SCHEMA_URL, url.encode("utf-8", "surrogateescape"))
