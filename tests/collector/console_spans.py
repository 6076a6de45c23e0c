"""Trace requests for the console's tests."""

from __future__ import annotations

from typing import Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, ArrayValue, KeyValue
from opentelemetry.proto.trace.v1.trace_pb2 import ScopeSpans, Span

Value = str | bool | int | float | list[str]
TRACE_ID = "0af7651916cd43dd8448eb211c80319c"


def attribute(key: str, value: Value) -> KeyValue:
    if isinstance(value, bool):
        return KeyValue(key=key, value=AnyValue(bool_value=value))
    if isinstance(value, str):
        return KeyValue(key=key, value=AnyValue(string_value=value))
    if isinstance(value, int):
        return KeyValue(key=key, value=AnyValue(int_value=value))
    if isinstance(value, float):
        return KeyValue(key=key, value=AnyValue(double_value=value))
    items = [AnyValue(string_value=item) for item in value]
    return KeyValue(key=key, value=AnyValue(array_value=ArrayValue(values=items)))


def span(
    span_id: int,
    parent_id: int = 0,
    name: str = "work",
    *,
    trace_id: str = TRACE_ID,
    kind: str = "",
    start_ms: int | None = None,
    duration_ms: int = 5,
    flags: int = 0,
    **attributes: Any,
) -> Span:
    """A span; of attribute names `__` becomes a dot."""
    start_ns = 1_700_000_000_000_000_000 + (span_id if start_ms is None else start_ms) * 1_000_000
    made = Span(
        trace_id=bytes.fromhex(trace_id),
        span_id=span_id.to_bytes(8, "big"),
        parent_span_id=parent_id.to_bytes(8, "big") if parent_id else b"",
        name=name,
        start_time_unix_nano=start_ns,
        end_time_unix_nano=start_ns + duration_ms * 1_000_000,
        flags=flags,
    )
    if kind:
        made.attributes.append(attribute("openinference.span.kind", kind))
    made.attributes.extend(attribute(key.replace("__", "."), value) for key, value in attributes.items())
    return made


def good(evaluator: str, score: float = 1.0) -> dict[str, Any]:
    return _scored(evaluator, "correct", score, passed=True)


def bad(evaluator: str, code: str, explanation: str, score: float = 0.0) -> dict[str, Any]:
    issues: dict[str, Any] = {
        f"eval__{evaluator}__issue": code,
        f"eval__{evaluator}__issues": [code],
        f"eval__{evaluator}__explanation": explanation,
    }
    return _scored(evaluator, "incorrect", score, passed=False) | issues


def _scored(evaluator: str, label: str, score: float, *, passed: bool) -> dict[str, Any]:
    return {
        f"eval__{evaluator}__label": label,
        f"eval__{evaluator}__score": score,
        f"eval__{evaluator}__passed": passed,
        f"eval__{evaluator}__method": "rule",
    }


def request(*spans: Span, service: str = "travel-desk") -> bytes:
    made = ExportTraceServiceRequest()
    of_resource = made.resource_spans.add()
    of_resource.resource.attributes.append(attribute("service.name", service))
    of_resource.scope_spans.append(ScopeSpans(spans=spans))
    return made.SerializeToString()
