"""Cutting requests in two: nothing is lost, nothing is doubled, nothing else changes."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from collector.exporters.splitting import count_items, halve
from tests.collector.backends import span_names, trace_request

UNKNOWN_FIELD = bytes([0xFA, 0x3E, 3]) + b"new"  # field 1007 of a message from the future


def request_of(shape: list[list[int]]) -> bytes:
    """Resources of scopes with so many spans each; all named by their number."""
    request = ExportTraceServiceRequest()
    number = 0
    for scopes in shape:
        resource = request.resource_spans.add(schema_url="https://a")
        resource.resource.attributes.add(key="service.name").value.string_value = "agent"
        for count in scopes:
            scope = resource.scope_spans.add()
            scope.scope.name = "library"
            for _ in range(count):
                scope.spans.add(name=str(number))
                number += 1
    return request.SerializeToString()


@given(st.lists(st.lists(st.integers(0, 5), max_size=4), max_size=4))
def test_halves_hold_all_items_in_order(shape: list[list[int]]) -> None:
    request = request_of(shape)
    total = count_items(request)
    halves = halve(request)
    if total < 2:
        assert halves is None
        return
    assert halves is not None
    assert [name for half in halves for name in span_names(half)] == [str(number) for number in range(total)]
    assert [count_items(half) for half in halves] == [total // 2, total - total // 2]
    for half in halves:
        for resource in ExportTraceServiceRequest.FromString(half).resource_spans:
            assert resource.schema_url == "https://a"
            assert resource.resource.attributes[0].value.string_value == "agent"
            assert all(scope.scope.name == "library" and scope.spans for scope in resource.scope_spans)


def test_bytes_within_items_and_unknown_fields_stay() -> None:
    odd = ExportTraceServiceRequest.FromString(trace_request("a"))
    span = odd.resource_spans[0].scope_spans[0].spans[0].SerializeToString() + UNKNOWN_FIELD + b"\x2a\x01\xff"
    leaf = b"\x12" + bytes([len(span)]) + span
    scope = b"\x12" + bytes([2 * len(leaf)]) + leaf * 2
    resource = scope + UNKNOWN_FIELD
    request = b"\x0a" + bytes([len(resource) & 0x7F | 0x80, len(resource) >> 7]) + resource
    halves = halve(request)
    assert halves is not None
    assert halves[0] == halves[1]
    assert span in halves[0]
    assert UNKNOWN_FIELD in halves[0].replace(span, b"")


def test_metrics_are_cut_between_metrics() -> None:
    request = ExportMetricsServiceRequest()
    metrics = request.resource_metrics.add().scope_metrics.add().metrics
    for name in ("a", "b", "c"):
        metrics.add(name=name).gauge.data_points.add(as_int=1)
    halves = halve(request.SerializeToString())
    assert halves is not None
    names = [
        [
            metric.name
            for metric in ExportMetricsServiceRequest.FromString(half).resource_metrics[0].scope_metrics[0].metrics
        ]
        for half in halves
    ]
    assert names == [["a"], ["b", "c"]]


def test_what_is_no_request_cant_be_cut() -> None:
    assert halve(b"\xff\xff\xff") is None
