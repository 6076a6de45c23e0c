"""OTLP in JSON as others write it gives the request that it would have been."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from collector.exporters.json_encoding import to_json
from collector.records import Signal
from tests.collector.formats.reading import TRACE, attributes, one_span, read, requests

SENT = (Path(__file__).parents[2] / "data" / "files" / "openinference.pb").read_bytes()
KINDS = ["UNSPECIFIED", "INTERNAL", "SERVER", "CLIENT", "PRODUCER", "CONSUMER"]
CODES = ["UNSET", "OK", "ERROR"]


def document() -> dict[str, Any]:
    written: dict[str, Any] = json.loads(to_json(Signal.TRACES, SENT))
    return written


def spans_in(written: dict[str, Any]) -> list[dict[str, Any]]:
    return [span for one in written["resourceSpans"] for scope in one["scopeSpans"] for span in scope["spans"]]


def with_base64_ids(written: dict[str, Any]) -> dict[str, Any]:
    for span in spans_in(written):
        for key in ("traceId", "spanId", "parentSpanId"):
            if key in span:
                span[key] = base64.b64encode(bytes.fromhex(span[key])).decode()
    return written


def with_names_of_enums(written: dict[str, Any]) -> dict[str, Any]:
    for span in spans_in(written):
        span["kind"] = f"SPAN_KIND_{KINDS[span.get('kind', 0)]}"
        status = span.setdefault("status", {})
        status["code"] = f"STATUS_CODE_{CODES[status.get('code', 0)]}"
    return written


def in_batches(written: dict[str, Any]) -> dict[str, Any]:
    return {"batches": written["resourceSpans"]}


def in_the_answer_of_tempo(written: dict[str, Any]) -> dict[str, Any]:
    return {"trace": with_base64_ids(with_names_of_enums(written)), "metrics": {"inspectedBytes": "1"}}


def in_the_answer_of_jaeger(written: dict[str, Any]) -> dict[str, Any]:
    return {"result": written}


def before_scopes(written: dict[str, Any]) -> dict[str, Any]:
    for resource in written["resourceSpans"]:
        resource["instrumentationLibrarySpans"] = resource.pop("scopeSpans")
        for scope in resource["instrumentationLibrarySpans"]:
            scope["instrumentationLibrary"] = scope.pop("scope")
    return written


def with_halves_of_times(written: dict[str, Any]) -> dict[str, Any]:
    for span in spans_in(written):
        for key in ("startTimeUnixNano", "endTimeUnixNano"):
            high, low = divmod(int(span[key]), 1 << 32)
            span[key] = {"low": low - (1 << 32 if low >= 1 << 31 else 0), "high": high, "unsigned": True}
    return written


def with_plain_attributes(written: dict[str, Any]) -> dict[str, Any]:
    for span in spans_in(written):
        span["attributes"] = {
            one["key"]: int(value) if kind == "intValue" else value
            for one in span["attributes"]
            for kind, value in one["value"].items()
        }
    return written


def in_snake_case(written: Any) -> Any:
    if isinstance(written, list):
        return [in_snake_case(one) for one in written]
    if isinstance(written, dict):
        snake = {"".join(f"_{c.lower()}" if c.isupper() else c for c in key): value for key, value in written.items()}
        return {key: in_snake_case(value) for key, value in snake.items()}
    return written


def one_by_one(written: dict[str, Any]) -> list[object]:
    return list(written["resourceSpans"])


def as_a_list_of_requests(written: dict[str, Any]) -> list[object]:
    return [{"resourceSpans": [one]} for one in written["resourceSpans"]]


VARIANTS = [
    with_base64_ids,
    with_names_of_enums,
    in_batches,
    in_the_answer_of_tempo,
    in_the_answer_of_jaeger,
    before_scopes,
    with_halves_of_times,
    with_plain_attributes,
    in_snake_case,
    one_by_one,
    as_a_list_of_requests,
]


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_variant_is_the_request_that_was_sent(variant: Callable[[dict[str, Any]], object]) -> None:
    resources, findings = requests(variant(document()))
    sent = ExportTraceServiceRequest.FromString(SENT).resource_spans
    assert (findings.flaws, findings.notes) == ([], {})

    def told(found: Any) -> list[tuple[object, ...]]:
        return [
            (str(resource.resource), str(scope.scope), str(span))
            for resource in found
            for scope in resource.scope_spans
            for span in scope.spans
        ]

    assert told(resources) == told(sent)


def test_bare_spans_with_every_field_of_a_value_written_out_are_read() -> None:
    empty = dict.fromkeys(["array_value", "bool_value", "bytes_value", "double_value", "kvlist_value", "string_value"])
    span = {
        "trace_id": TRACE,
        "span_id": "eee19b7ec3c1b174",
        "name": "find",
        "start_time_unix_nano": 1,
        "attributes": [{"key": "tokens", "value": {**empty, "int_value": 3}}],
    }
    assert attributes(one_span({"data": [span], "next_cursor": None}).attributes) == {"tokens": 3}


def test_a_span_that_no_variant_explains_costs_itself_alone_and_is_named() -> None:
    written = document()
    spans = written["resourceSpans"][0]["scopeSpans"][0]["spans"]
    spans[0]["traceId"] = "no id"
    spans[1] = "no span"
    found, findings = read(written)
    assert len(found) == len(spans_in(document())) - 2
    assert [place for place, _ in findings.flaws] == [
        ".resourceSpans[0].scopeSpans[0].spans[0]",
        ".resourceSpans[0].scopeSpans[0].spans[1]",
    ]
    assert "traceId: 32 hexadecimal digits are due" in findings.flaws[0][1]


def test_a_flaw_in_a_later_resource_is_named_by_its_own_place() -> None:
    (resource,) = document()["resourceSpans"]
    broken = json.loads(json.dumps(resource))
    broken["scopeSpans"][0]["spans"][0]["spanId"] = "no id"
    _, findings = read({"resourceSpans": [resource, broken, {"scopeSpans": 1}, 7]})
    assert [place for place, _ in findings.flaws] == [
        ".resourceSpans[1].scopeSpans[0].spans[0]",
        "",
        ".resourceSpans[3]",
    ]
    assert "resourceSpans[2].scopeSpans: an array is due" in findings.flaws[1][1]


@pytest.mark.parametrize("trace_id", ["AQIDBAUGBwgJCgsMDQ4PEA==", TRACE[:-1]])
def test_one_id_in_base64_or_too_short_among_hexadecimal_ones_is_refused(trace_id: str) -> None:
    span = {"traceId": trace_id, "spanId": "00f067aa0ba902b7", "startTimeUnixNano": "1"}
    found, findings = read({"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]})
    assert not found
    assert findings.flaws
