"""Processor time per span of cutting requests into spans and building them again, against generated OTLP messages.

In: requests of 100 spans. Measured in one run, best of several rounds: slicing, and building with an attribute appended
to every span. Against it the same work with generated messages: parse, read the ids, copy each span out of the request
(so that holding one span doesn't hold all), extend, put together, serialise. Then the conversion of OTLP JSON against
that of protobuf's json_format. Prints microseconds per span and ratios.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from google.protobuf import json_format
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from bench.traffic import SPANS_PER_REQUEST, requests
from collector import process_memory
from collector.otlp_json import convert
from collector.records import Outbound, Signal, SpanRecord
from collector.wire import Origins, build_request, slice_spans

ROUNDS = 7
REQUESTS = 20

_SCORES = Span()
for _name in ("eval.x.score", "eval.x.label", "eval.x.passed"):
    _SCORES.attributes.add(key=_name).value.string_value = "correct"
_TAIL = _SCORES.SerializeToString()


def build(records: Sequence[SpanRecord]) -> bytes:
    """A request of these spans, each with scores."""
    return build_request(Outbound(record.origin, record.span, _TAIL) for record in records)


def with_generated_messages(serialised: bytes) -> bytes:
    """The same as slicing and building."""
    held: list[tuple[bytes, bytes, bytes, Span]] = []
    parsed = ExportTraceServiceRequest.FromString(serialised)
    out = ExportTraceServiceRequest()
    for resource in parsed.resource_spans:
        resource_out = out.resource_spans.add()
        resource_out.resource.CopyFrom(resource.resource)
        for scope in resource.scope_spans:
            scope_out = resource_out.scope_spans.add()
            scope_out.scope.CopyFrom(scope.scope)
            held.clear()
            for span in scope.spans:
                copy = Span()
                copy.CopyFrom(span)
                held.append((copy.trace_id, copy.span_id, copy.parent_span_id, copy))
            for *_, span in held:
                span.attributes.extend(_SCORES.attributes)
                scope_out.spans.append(span)
    return out.SerializeToString()


def json_text(serialised: bytes) -> bytes:
    """The request in OTLP JSON, without ids: json_format writes them in base64, which isn't OTLP's way."""
    parsed = ExportTraceServiceRequest.FromString(serialised)
    for resource in parsed.resource_spans:
        for scope in resource.scope_spans:
            for span in scope.spans:
                span.trace_id = span.span_id = span.parent_span_id = b""
    return json_format.MessageToJson(parsed, indent=None).encode()


def us_per_span(work: Callable[[], object]) -> float:
    """Best of the rounds."""
    best = float("inf")
    for _ in range(ROUNDS):
        begun = time.process_time()
        work()
        best = min(best, time.process_time() - begun)
    return best / (REQUESTS * SPANS_PER_REQUEST) * 1e6


def measure(kind: str) -> None:
    """Measure with one kind of spans, and print."""
    origins = Origins()
    sent = list(requests(kind, REQUESTS))
    texts = [json_text(one) for one in sent]
    sliced = [slice_spans(one, (), origins).records for one in sent]
    slice_us = us_per_span(lambda: [slice_spans(one, (), origins) for one in sent])
    build_us = us_per_span(lambda: [build(records) for records in sliced])
    messages_us = us_per_span(lambda: [with_generated_messages(one) for one in sent])
    json_us = us_per_span(lambda: [convert(Signal.TRACES, one) for one in texts])
    json_format_us = us_per_span(
        lambda: [json_format.Parse(one, ExportTraceServiceRequest()).SerializeToString() for one in texts]
    )
    print(f"{kind}, {len(sent[0]) // SPANS_PER_REQUEST} bytes a span")
    print(f"  slice {slice_us:.2f} us + build {build_us:.2f} us", end="")
    print(f"; with generated messages {messages_us:.2f} us: x {messages_us / (slice_us + build_us):.1f}")
    print(f"  from JSON {json_us:.1f} us; with json_format {json_format_us:.0f} us: x {json_format_us / json_us:.1f}")


def main() -> None:
    """Measure both kinds of spans, and print."""
    process_memory.settle()
    for kind in ("agent", "tiny"):
        measure(kind)


if __name__ == "__main__":
    main()
