"""The run of `account_runs`, each of its spans a trace of its own, as where nothing puts a span round it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from processors.judging import TraceInput
from processors.verdicts.telling import Raw
from tests.processors.account_runs import FIRST, LAST, SECOND, span_id

MODEL_CALLS = (FIRST, SECOND, LAST)


def edited(raw: Raw, change: Callable[[Span], None]) -> Raw:
    span = Span.FromString(raw[2])
    change(span)
    return raw[0], raw[1], span.SerializeToString()


def number_of(raw: Raw) -> int:
    return int.from_bytes(Span.FromString(raw[2]).span_id)


def carrying(**attributes: str) -> Callable[[Span], None]:
    def change(span: Span) -> None:
        for key, value in attributes.items():
            span.attributes.append(KeyValue(key=key.replace("__", "."), value=AnyValue(string_value=value)))

    return change


def trace_id(number: int) -> bytes:
    return number.to_bytes(16)


def bare(spans: Iterable[Raw], numbers: Sequence[int] = MODEL_CALLS, shift: int = 0) -> list[TraceInput]:
    """Each of these spans as a trace of its own; `shift` gives all of them other ids."""

    def alone(span: Span) -> None:
        span.ClearField("parent_span_id")
        span.trace_id = trace_id(int.from_bytes(span.span_id) + shift)
        span.span_id = span_id(int.from_bytes(span.span_id) + shift)

    return [
        TraceInput(trace_id=trace_id(number_of(raw) + shift), spans=[edited(raw, alone)])
        for raw in spans
        if number_of(raw) in numbers
    ]
