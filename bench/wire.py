"""Processor time per span of cutting requests into spans and building them again, against parsing and serialising.

In: requests of 100 spans. Measured in one run, best of several rounds: slicing, building with an attribute appended to
every span, both together; and the same done with the generated OTLP messages. Then the conversion of OTLP JSON against
that of protobuf's json_format. Prints microseconds per span and ratios.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from google.protobuf import json_format
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from bench.traffic import SPANS_PER_REQUEST, requests
from collector.otlp_json import convert
from collector.records import Outbound, Signal
from collector.wire import Origins, build_request, slice_spans

ROUNDS = 7
REQUESTS = 20


def us_per_span(work: Callable[[], object]) -> float:
    """Best of the rounds."""
    best = float("inf")
    for _ in range(ROUNDS):
        begun = time.process_time()
        work()
        best = min(best, time.process_time() - begun)
    return best / (REQUESTS * SPANS_PER_REQUEST) * 1e6


def json_text(request: bytes) -> bytes:
    """The request in OTLP JSON; ids in base64 have the wrong length there, so they are left out."""
    parsed = ExportTraceServiceRequest.FromString(request)
    for resource in parsed.resource_spans:
        for scope in resource.scope_spans:
            for span in scope.spans:
                span.trace_id = span.span_id = span.parent_span_id = b""
    return json_format.MessageToJson(parsed, indent=None).encode()


def main() -> None:
    """Measure and print."""
    tail_message = Span()
    for name in ("eval.x.score", "eval.x.label", "eval.x.passed"):
        tail_message.attributes.add(key=name).value.string_value = "correct"
    tail = tail_message.SerializeToString()
    for kind in ("agent", "tiny"):
        sent = list(requests(kind, REQUESTS))
        origins = Origins()
        sliced = [slice_spans(one, (), origins).records for one in sent]

        def slicing(sent: list[bytes] = sent, origins: Origins = origins) -> None:
            for one in sent:
                slice_spans(one, (), origins)

        def building(sliced: list[list[object]] = sliced) -> None:  # type: ignore[assignment]
            for records in sliced:
                build_request(Outbound(record.origin, record.span, tail) for record in records)  # type: ignore[attr-defined]

        def parsing(sent: list[bytes] = sent) -> None:
            for one in sent:
                request = ExportTraceServiceRequest.FromString(one)
                for resource in request.resource_spans:
                    for scope in resource.scope_spans:
                        for span in scope.spans:
                            span.attributes.extend(tail_message.attributes)
                request.SerializeToString()

        sliced_us, built_us, parsed_us = us_per_span(slicing), us_per_span(building), us_per_span(parsing)
        texts = [json_text(one) for one in sent]

        def converting(texts: list[bytes] = texts) -> None:
            for one in texts:
                convert(Signal.TRACES, one)

        def json_formatting(texts: list[bytes] = texts) -> None:
            for one in texts:
                json_format.Parse(one, ExportTraceServiceRequest()).SerializeToString()

        converted_us, formatted_us = us_per_span(converting), us_per_span(json_formatting)
        print(f"{kind}: {len(sent[0]) // SPANS_PER_REQUEST} bytes a span")
        print(f"  slice {sliced_us:.2f} us, build {built_us:.2f} us, together {sliced_us + built_us:.2f} us")
        ratio = parsed_us / (sliced_us + built_us)
        print(f"  parse, extend and serialise {parsed_us:.2f} us: {ratio:.1f} times as much")
        ratio = formatted_us / converted_us
        print(f"  from JSON {converted_us:.1f} us; with json_format {formatted_us:.0f} us: {ratio:.0f} times as much")


if __name__ == "__main__":
    main()
