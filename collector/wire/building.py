"""From records back to requests: spans grouped under their origins, bytes as they came, scores appended.

Serialised protobuf messages are concatenated, never parsed: a span followed by serialised attributes is the span with
these attributes added.
"""

from __future__ import annotations

from collections.abc import Iterable

from collector.records import LogRecord, Origin, Outbound
from collector.wire.skeleton import ResourcesSkeleton, ScopesSkeleton, new_request


def build_request(outbound: Iterable[Outbound]) -> bytes:
    """A serialised ExportTraceServiceRequest of these spans.

    Origins come in the order in which they are first met, the spans of one origin in the order given; scopes of equal
    resources share one ResourceSpans. The request headers of the origins are not looked at: keeping apart what must
    not share a request is up to the caller.
    """
    return _build((item.origin, item.span + item.tail if item.tail else item.span) for item in outbound)


def build_logs_request(records: Iterable[LogRecord]) -> bytes:
    """A serialised ExportLogsServiceRequest of these records; order as in `build_request`."""
    return _build((item.origin, item.record) for item in records)


def _build(items: Iterable[tuple[Origin, bytes]]) -> bytes:
    request = new_request()
    resources: dict[tuple[bytes, str, bytes], ResourcesSkeleton] = {}
    groups: dict[int, tuple[Origin, list[bytes]]] = {}  # by identity: origins are interned, and hashing them costs
    current: Origin | None = None
    group: list[bytes] = []
    for origin, data in items:
        if origin is not current:
            current = origin
            group = groups.setdefault(id(origin), (origin, []))[1]
        group.append(data)
    scopes: dict[Origin, ScopesSkeleton] = {}
    for origin, datas in groups.values():
        target = scopes.get(origin)
        if target is None:
            key = (origin.resource, origin.resource_schema_url, origin.resource_rest)
            if key not in resources:
                resources[key] = request.resources.add()
                _fill_resources(resources[key], origin)
            target = scopes[origin] = resources[key].scopes.add()
            _fill_scopes(target, origin)
        target.items.extend(datas)
    return request.SerializeToString()


def _fill_resources(target: ResourcesSkeleton, origin: Origin) -> None:
    if origin.resource:
        target.resource.append(origin.resource)
    target.schema_url = _url_bytes(origin.resource_schema_url)
    if origin.resource_rest:
        target.MergeFromString(origin.resource_rest)


def _fill_scopes(target: ScopesSkeleton, origin: Origin) -> None:
    if origin.scope:
        target.scope.append(origin.scope)
    target.schema_url = _url_bytes(origin.scope_schema_url)
    if origin.scope_rest:
        target.MergeFromString(origin.scope_rest)


def _url_bytes(url: str) -> bytes:
    return url.encode("utf-8", "surrogateescape")
