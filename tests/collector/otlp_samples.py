"""Small OTLP requests for tests, some of them wrong on purpose."""

from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
from opentelemetry.proto.trace.v1.trace_pb2 import Span

TRACE_ID = bytes(range(1, 17))
SPAN_ID = bytes(range(17, 25))


def field(number: int, data: bytes) -> bytes:
    """A length-delimited field."""
    return number_bytes(number << 3 | 2) + number_bytes(len(data)) + data


def number_bytes(number: int) -> bytes:
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*out, number])


def span(name: str = "op", trace_id: bytes = TRACE_ID, span_id: bytes = SPAN_ID, **fields: object) -> bytes:
    times = {"start_time_unix_nano": 1_544_712_660_000_000_000, "end_time_unix_nano": 1_544_712_661_000_000_000}
    made = Span(trace_id=trace_id, span_id=span_id, name=name, **{**times, **fields})  # type: ignore[arg-type]
    return made.SerializeToString(deterministic=True)


def request(*spans: bytes, resource: bytes = b"", scope: bytes = b"") -> bytes:
    """A traces request with one resource and one scope."""
    scopes = (field(1, scope) if scope else b"") + b"".join(field(2, one) for one in spans)
    return field(1, (field(1, resource) if resource else b"") + field(2, scopes))


def spans_of(serialised: bytes) -> list[Span]:
    parsed = ExportTraceServiceRequest.FromString(serialised)
    return [found for resource in parsed.resource_spans for scope in resource.scope_spans for found in scope.spans]


def nested(levels: int) -> AnyValue:
    """A value in arrays in arrays; each level is two messages deep."""
    value = AnyValue(int_value=1)
    for _ in range(levels):
        outer = AnyValue()
        outer.array_value.values.append(value)
        value = outer
    return value


def deep_span(levels: int) -> bytes:
    """A valid span with an attribute nested deeper than protobuf's parsers go."""
    value = field(1, b"end")
    for _ in range(levels):
        value = field(5, field(1, value))
    return span() + field(9, field(1, b"deep") + field(2, value))


def logs_request(*, trace_id: bytes = TRACE_ID, span_id: bytes = SPAN_ID) -> bytes:
    made = ExportLogsServiceRequest()
    scope = made.resource_logs.add().scope_logs.add()
    scope.scope.name = "lib"
    scope.log_records.add(
        time_unix_nano=1, trace_id=trace_id, span_id=span_id, body=AnyValue(string_value="hello"), event_name="said"
    )
    return made.SerializeToString()


def metrics_request(points: int = 2) -> bytes:
    made = ExportMetricsServiceRequest()
    scope = made.resource_metrics.add().scope_metrics.add()
    for number in range(points):
        scope.metrics.add(name="requests.count").sum.data_points.add(as_int=number, time_unix_nano=1)
    return made.SerializeToString()


def attribute(key: str, text: str) -> KeyValue:
    return KeyValue(key=key, value=AnyValue(string_value=text))
