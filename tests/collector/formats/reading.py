"""Reading a document in a test: its spans as protobuf messages, and what was told."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
from opentelemetry.proto.trace.v1.trace_pb2 import ResourceSpans, Span

from collector.receivers.formats.documents import read_document
from collector.receivers.formats.shape import Findings

TRACE = "5b8efff798038103d269b633813fc60c"


def requests(document: object) -> tuple[list[ResourceSpans], Findings]:
    findings = Findings()
    found = read_document(document, findings)
    assert found is not None, "the document is of a known form"
    parsed = [ExportTraceServiceRequest.FromString(one.request) for one in found]
    return [resource for one in parsed for resource in one.resource_spans], findings


def read(document: object) -> tuple[list[Span], Findings]:
    resources, findings = requests(document)
    return [span for resource in resources for scope in resource.scope_spans for span in scope.spans], findings


def one_span(document: object) -> Span:
    (span,), findings = read(document)
    assert findings.flaws == []
    return span


def attributes(pairs: Any) -> Mapping[str, object]:
    return {pair.key: value_of(pair) for pair in pairs}


def value_of(pair: KeyValue) -> object:
    return plain(pair.value)


def plain(value: AnyValue) -> object:
    kind = value.WhichOneof("value")
    if kind == "array_value":
        return [plain(item) for item in value.array_value.values]
    if kind == "kvlist_value":
        return attributes(value.kvlist_value.values)
    return getattr(value, kind) if kind else None
