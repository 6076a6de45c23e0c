"""Which spans and records are held for judging, told from their bytes."""

from __future__ import annotations

import pytest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, InstrumentationScope, KeyValue
from opentelemetry.proto.logs.v1.logs_pb2 import LogRecord
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from processors.conventions.wanted import is_own, wants, wants_log

SCOPE = InstrumentationScope(name="library", version="2").SerializeToString()
OWN_SCOPE = InstrumentationScope(name="spanjudge", version="2").SerializeToString()


def span(key: str, value: str = "x") -> bytes:
    attributes = [KeyValue(key="z", value=AnyValue(int_value=1)), KeyValue(key=key, value=AnyValue(string_value=value))]
    return Span(name="n", attributes=attributes).SerializeToString()


@pytest.mark.parametrize(
    "key",
    [
        "gen_ai.operation.name",
        "openinference.span.kind",
        "llm.input_messages.0.message.role",
        "traceloop.span.kind",
        "langfuse.observation.type",
        "langsmith.span.kind",
        "ai.operationId",
    ],
)
def test_spans_of_every_dialect_are_wanted(key: str) -> None:
    assert wants(span(key), SCOPE)
    assert not is_own(span(key), SCOPE)


def test_spans_whose_content_is_in_events_are_wanted() -> None:
    assert wants(Span(events=[Span.Event(name="gen_ai.choice")]).SerializeToString(), SCOPE)


@pytest.mark.parametrize("key", ["http.request.method", "db.statement", "rpc.system"])
def test_other_spans_are_not(key: str) -> None:
    assert not wants(span(key), SCOPE)


def test_evaluations_are_never_wanted_whoever_made_them() -> None:
    for data, scope in (
        (span("gen_ai.operation.name"), OWN_SCOPE),
        (span("gen_ai.operation.name", "evaluation"), SCOPE),
    ):
        assert is_own(data, scope)
        assert not wants(data, scope)


def test_a_scope_whose_name_only_begins_like_ours_is_somebody_elses() -> None:
    other = InstrumentationScope(name="spanjudge-plugin").SerializeToString()
    assert wants(span("gen_ai.operation.name"), other)


def test_log_records_with_content_of_model_calls_are_wanted() -> None:
    told = LogRecord(event_name="gen_ai.choice").SerializeToString()
    assert wants_log(told, SCOPE)
    assert not wants_log(LogRecord(event_name="exception").SerializeToString(), SCOPE)
    assert not wants_log(told, OWN_SCOPE)
