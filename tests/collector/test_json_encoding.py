"""OTLP requests as OTLP JSON, value by value, and back again through the receiver's reader."""

from __future__ import annotations

import json
import math

import pytest
from google.protobuf.message import Message
from hypothesis import given
from hypothesis import strategies as st
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from collector.exporters.json_encoding import UnreadableRequestError, to_json
from collector.otlp_json import convert
from collector.records import Signal


def request_with(span: Span) -> bytes:
    request = ExportTraceServiceRequest()
    request.resource_spans.add().scope_spans.add().spans.append(span)
    return request.SerializeToString()


def span_json(span: Span) -> dict[str, object]:
    found: dict[str, object] = json.loads(to_json(Signal.TRACES, request_with(span)))["resourceSpans"][0]["scopeSpans"][
        0
    ]["spans"][0]
    return found


def value_json(value: AnyValue) -> object:
    span = Span()
    span.attributes.add(key="k").value.CopyFrom(value)
    return span_json(span)["attributes"][0]["value"]  # type: ignore[index]


def test_ids_are_hex_times_are_text_enums_are_numbers_and_defaults_are_left_out() -> None:
    span = Span(
        trace_id=bytes(range(16)),
        span_id=b"\xab" * 8,
        parent_span_id=b"\xcd" * 8,
        name="chat",
        kind=Span.SPAN_KIND_CLIENT,
        start_time_unix_nano=1544712660123456789,
    )
    span.links.add(trace_id=b"\x01" * 16, span_id=b"\x02" * 8)
    span.status.code = 2  # type: ignore[assignment]
    assert span_json(span) == {
        "traceId": "000102030405060708090a0b0c0d0e0f",
        "spanId": "abababababababab",
        "parentSpanId": "cdcdcdcdcdcdcdcd",
        "name": "chat",
        "kind": 3,
        "startTimeUnixNano": "1544712660123456789",
        "links": [{"traceId": "01" * 16, "spanId": "02" * 8}],
        "status": {"code": 2},
    }


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (AnyValue(string_value="ü\n"), {"stringValue": "ü\n"}),
        (AnyValue(string_value=""), {"stringValue": ""}),
        (AnyValue(bool_value=False), {"boolValue": False}),
        (AnyValue(int_value=-(2**63)), {"intValue": "-9223372036854775808"}),
        (AnyValue(int_value=0), {"intValue": "0"}),
        (AnyValue(double_value=0.1), {"doubleValue": 0.1}),
        (AnyValue(double_value=math.nan), {"doubleValue": "NaN"}),
        (AnyValue(double_value=math.inf), {"doubleValue": "Infinity"}),
        (AnyValue(double_value=-math.inf), {"doubleValue": "-Infinity"}),
        (AnyValue(bytes_value=b"\x00\xff"), {"bytesValue": "AP8="}),
        (AnyValue(), {}),
    ],
)
def test_each_kind_of_value_is_written_as_the_specification_has_it(value: AnyValue, expected: object) -> None:
    assert value_json(value) == expected


def test_a_byte_that_isnt_utf8_harms_only_itself() -> None:
    request = request_with(Span(name="axb", span_id=b"\x01" * 8)).replace(b"axb", b"a\xffb")
    (span,) = json.loads(to_json(Signal.TRACES, request))["resourceSpans"][0]["scopeSpans"][0]["spans"]
    assert span == {"name": "a�b", "spanId": "01" * 8}


def test_a_request_is_one_line() -> None:
    assert b"\n" not in to_json(Signal.TRACES, request_with(Span(name="a\nb")))


@pytest.mark.parametrize("request_", [b"\xff\xff", b"\x0a\x05\x12"])
def test_what_is_no_request_is_refused(request_: bytes) -> None:
    with pytest.raises(UnreadableRequestError):
        to_json(Signal.TRACES, request_)


def one_nan(number: float) -> float:
    # JSON has one word for all of them.
    return math.nan if math.isnan(number) else number


def _array(values: list[AnyValue]) -> AnyValue:
    value = AnyValue()
    value.array_value.values.extend(values)
    return value


VALUES = st.recursive(
    st.one_of(
        st.builds(AnyValue, string_value=st.text(st.characters(exclude_categories=["Cs"]), max_size=5)),
        st.builds(AnyValue, bool_value=st.booleans()),
        st.builds(AnyValue, int_value=st.integers(-(2**63), 2**63 - 1)),
        st.builds(AnyValue, double_value=st.floats().map(one_nan)),
        st.builds(AnyValue, bytes_value=st.binary(max_size=5)),
    ),
    lambda inner: st.lists(inner, max_size=3).map(_array),
    max_leaves=5,
)


@given(VALUES, st.binary(min_size=16, max_size=16), st.integers(0, 2**64 - 1), st.integers(0, 2**32 - 1))
def test_traces_survive_the_way_through_json(value: AnyValue, trace_id: bytes, time_ns: int, flags: int) -> None:
    span = Span(trace_id=trace_id, span_id=trace_id[:8], start_time_unix_nano=time_ns, flags=flags, name="n")
    span.attributes.add(key="k").value.CopyFrom(value)
    span.events.add(name="e", time_unix_nano=time_ns).attributes.add(key="k").value.CopyFrom(value)
    survives(Signal.TRACES, ExportTraceServiceRequest.FromString(request_with(span)))


@given(VALUES, st.floats(allow_nan=False), st.integers(-(2**63), 2**63 - 1), st.lists(st.integers(0, 2**64 - 1)))
def test_logs_and_metrics_survive_the_way_through_json(
    value: AnyValue, number: float, whole: int, counts: list[int]
) -> None:
    logs = ExportLogsServiceRequest()
    record = logs.resource_logs.add(schema_url="s").scope_logs.add().log_records.add(severity_number=9)  # type: ignore[arg-type]
    record.body.CopyFrom(value)
    survives(Signal.LOGS, logs)
    metrics = ExportMetricsServiceRequest()
    group = metrics.resource_metrics.add().scope_metrics.add().metrics
    group.add(name="g").gauge.data_points.add(as_double=number)
    group.add(name="s").sum.data_points.add(as_int=whole)
    histogram = group.add(name="h").histogram.data_points.add(
        bucket_counts=counts, explicit_bounds=[number], max=number
    )
    histogram.exemplars.add(trace_id=b"\x01" * 16, span_id=b"\x02" * 8)
    survives(Signal.METRICS, metrics)


def survives(signal: Signal, request: Message) -> None:
    # By bytes: NaN is unequal to itself.
    original = request.SerializeToString(deterministic=True)
    converted = type(request).FromString(convert(signal, to_json(signal, original)).request)
    assert converted.SerializeToString(deterministic=True) == original
