"""What Jaeger and Zipkin make of OpenTelemetry's fields is undone."""

from __future__ import annotations

from typing import Any

import pytest
from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status

from tests.collector.formats.reading import TRACE, attributes, one_span, read, requests

SPAN, PARENT, OTHER = "eee19b7ec3c1b174", "eee19b7ec3c1b173", "0e22a3b8e6d8f2a1"
TAGS = [
    {"key": "span.kind", "type": "string", "value": "client"},
    {"key": "otel.status_code", "type": "string", "value": "ERROR"},
    {"key": "otel.status_description", "type": "string", "value": "closed"},
    {"key": "error", "type": "bool", "value": True},
    {"key": "otel.scope.name", "type": "string", "value": "desk"},
    {"key": "otel.scope.version", "type": "string", "value": "1.2"},
    {"key": "internal.span.format", "type": "string", "value": "otlp"},
    {"key": "tokens", "type": "int64", "value": "9007199254740993"},
    {"key": "ratio", "type": "float64", "value": "0.5"},
    {"key": "on", "type": "bool", "value": "true"},
    {"key": "raw", "type": "binary", "value": "AAE="},
    {"key": "stop", "type": "string", "value": '["stop"]'},
]
EVENT = {
    "timestamp": 1796065375000001,
    "fields": [
        {"key": "event", "type": "string", "value": "exception"},
        {"key": "why", "type": "string", "value": "x"},
    ],
}


def jaeger(**fields: object) -> dict[str, Any]:
    span = {
        "traceID": TRACE,
        "spanID": SPAN,
        "operationName": "find",
        "references": [
            {"refType": "FOLLOWS_FROM", "traceID": "1", "spanID": OTHER},
            {"refType": "CHILD_OF", "traceID": TRACE, "spanID": PARENT},
        ],
        "startTime": 1796065375000000,
        "duration": 1500,
        "tags": TAGS,
        "logs": [EVENT],
        "processID": "p1",
        **fields,
    }
    processes = {"p1": {"serviceName": "library", "tags": [{"key": "env", "type": "string", "value": "test"}]}}
    return {"data": [{"traceID": TRACE, "spans": [span], "processes": processes}], "total": 0, "errors": None}


def test_a_jaeger_span_is_the_span_it_was() -> None:
    (resource,), findings = requests(jaeger())
    assert attributes(resource.resource.attributes) == {"service.name": "library", "env": "test"}
    (scope,) = resource.scope_spans
    assert (scope.scope.name, scope.scope.version) == ("desk", "1.2")
    (span,) = scope.spans
    assert (span.parent_span_id.hex(), span.kind) == (PARENT, Span.SPAN_KIND_CLIENT)
    assert [(link.trace_id.hex(), link.span_id.hex()) for link in span.links] == [("1".zfill(32), OTHER)]
    assert span.end_time_unix_nano - span.start_time_unix_nano == 1_500_000
    assert (span.status.code, span.status.message) == (Status.STATUS_CODE_ERROR, "closed")
    assert attributes(span.attributes) == {
        "tokens": 9007199254740993,
        "ratio": 0.5,
        "on": True,
        "raw": b"\x00\x01",
        "stop": '["stop"]',
    }
    assert (span.events[0].name, attributes(span.events[0].attributes)) == ("exception", {"why": "x"})
    assert (findings.flaws, findings.notes) == ([], {})


def test_a_jaeger_span_without_a_duration_has_no_end() -> None:
    assert one_span(jaeger(duration=None)).end_time_unix_nano == 0


def test_a_jaeger_span_that_is_broken_costs_itself_alone() -> None:
    document = jaeger()
    document["data"][0]["spans"] += [7, {"traceID": TRACE, "operationName": "x"}]
    spans, findings = read(document)
    assert len(spans) == 1
    assert findings.flaws == [(".data[0].spans[1]", "it is no object"), (".data[0].spans[2]", "it has no span id")]


def test_spans_of_a_storage_of_jaeger_carry_their_process_themselves() -> None:
    span = jaeger(process={"serviceName": "desk", "tags": []}, parentSpanID=PARENT, references=[])["data"][0]["spans"][
        0
    ]
    (resource,), _ = requests([span])
    assert attributes(resource.resource.attributes) == {"service.name": "desk"}
    assert resource.scope_spans[0].spans[0].parent_span_id.hex() == PARENT


ANNOTATIONS = [
    '{"exception": {"why": "x"}}',
    '"exception": {"why": "x"}',
    'exception|{"why": "x"}|0',
]


@pytest.mark.parametrize("annotation", ANNOTATIONS)
def test_a_zipkin_span_is_the_span_it_was(annotation: str) -> None:
    zipkin = {
        "traceId": TRACE,
        "id": SPAN,
        "parentId": PARENT,
        "name": "find",
        "kind": "CLIENT",
        "timestamp": 1796065375000000,
        "duration": 1500,
        "localEndpoint": {"serviceName": "library"},
        "tags": {"a": "1", "error": "closed", "otel.status_code": "ERROR", "otel.scope.name": "desk"},
        "annotations": [{"timestamp": 1796065375000001, "value": annotation}],
    }
    (resource,), _ = requests([zipkin])
    assert attributes(resource.resource.attributes) == {"service.name": "library"}
    assert resource.scope_spans[0].scope.name == "desk"
    (span,) = resource.scope_spans[0].spans
    assert (span.parent_span_id.hex(), span.kind) == (PARENT, Span.SPAN_KIND_CLIENT)
    assert (span.status.code, span.status.message) == (Status.STATUS_CODE_ERROR, "closed")
    assert attributes(span.attributes) == {"a": "1"}
    assert (span.events[0].name, attributes(span.events[0].attributes)) == ("exception", {"why": "x"})


@pytest.mark.parametrize(
    "reference",
    [
        {"refType": "FOLLOWS_FROM", "spanID": OTHER},
        {"refType": "FOLLOWS_FROM", "traceID": TRACE},
        {"refType": "FOLLOWS_FROM", "traceID": [TRACE], "spanID": {}},
        {"refType": ["CHILD_OF"], "traceID": 1.5, "spanID": True},
        {},
    ],
)
def test_a_reference_to_nothing_costs_itself_alone_and_is_told(reference: dict[str, Any]) -> None:
    parent = {"refType": "CHILD_OF", "traceID": TRACE, "spanID": PARENT}
    (span,), findings = read(jaeger(references=[7, reference, parent]))
    assert (span.parent_span_id.hex(), len(span.links), findings.flaws) == (PARENT, 0, [])
    assert list(findings.notes) == ["references to other spans were left out that have no id of a trace and of a span"]


@pytest.mark.parametrize(
    ("written", "name", "value"),
    [
        (r'{"said": {"what": "\ud800"}}', "said", {"what": "\ufffd"}),
        (r'"said": {"what": "x"}', "said", {"what": "x"}),
        ('{"said": {"what": NaN}}', '{"said": {"what": NaN}}', {}),
        ('{"said":' * 2000, '{"said":' * 2000, {}),
    ],
)
def test_an_annotation_is_read_as_far_as_it_is_json(written: str, name: str, value: dict[str, Any]) -> None:
    annotation = {"timestamp": 1, "value": written}
    span = one_span([{"traceId": TRACE, "id": SPAN, "timestamp": 1, "duration": 1, "annotations": [annotation]}])
    (event,) = span.events
    assert (event.name, attributes(event.attributes)) == (name, value)
