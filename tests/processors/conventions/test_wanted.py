"""Which spans and records are held for judging, told from their bytes."""

from __future__ import annotations

import pytest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, InstrumentationScope, KeyValue
from opentelemetry.proto.logs.v1.logs_pb2 import LogRecord
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from collector.records import LogRecord as SavedLog
from processors.conventions.registry import MARKS, Readers
from processors.conventions.wanted import is_own, wants, wants_log
from processors.otlp import Log, decode_log, decode_span
from processors.reading.transcribe import transcribe
from tests.processors.recorded_runs import recorded_runs, saved

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


@pytest.mark.parametrize("mark", MARKS)
def test_every_mark_of_a_reader_is_found(mark: bytes) -> None:
    text = mark.decode()
    assert wants(span("key", text) if text.startswith('"') else span(text), SCOPE)


def test_spans_whose_content_is_in_events_are_wanted() -> None:
    assert wants(Span(events=[Span.Event(name="gen_ai.choice")]).SerializeToString(), SCOPE)


@pytest.mark.parametrize("key", ["http.request.method", "db.statement", "rpc.system"])
def test_other_spans_are_not(key: str) -> None:
    assert not wants(span(key), SCOPE)


@pytest.mark.parametrize("operation", ["chat", "evaluation", "execute_tool", "invoke_agent"])
def test_spans_of_our_own_are_never_wanted_whatever_they_say(operation: str) -> None:
    assert is_own(OWN_SCOPE)
    assert not wants(span("gen_ai.operation.name", operation), OWN_SCOPE)


def test_an_evaluation_by_others_is_wanted_so_that_what_is_below_it_is_known_for_a_judges_work() -> None:
    assert wants(span("gen_ai.operation.name", "evaluation"), SCOPE)


def test_a_scope_whose_name_only_begins_like_ours_is_somebody_elses() -> None:
    other = InstrumentationScope(name="spanjudge-plugin").SerializeToString()
    assert wants(span("gen_ai.operation.name"), other)


def test_log_records_with_content_of_model_calls_are_wanted() -> None:
    told = LogRecord(event_name="gen_ai.choice").SerializeToString()
    assert wants_log(told, SCOPE)
    assert not wants_log(LogRecord(event_name="exception").SerializeToString(), SCOPE)
    assert not wants_log(told, OWN_SCOPE)


@pytest.mark.parametrize("key", ["tool_calls", "langfuse.observation." + "x" * 120, "app.tool.name"])
def test_a_key_is_found_whatever_its_length_is_written_as(key: str) -> None:
    """Ten, the length of `tool_calls`, is written as the byte that begins a key."""
    assert wants(span(key), SCOPE)


def test_a_span_is_wanted_by_its_name_alone() -> None:
    assert wants(Span(name="claude_code.interaction").SerializeToString(), SCOPE)
    assert not wants(span("app.note", "we use langfuse.observation"), SCOPE)


def test_every_recorded_span_that_a_reader_knows_is_wanted() -> None:
    known = 0
    for run in recorded_runs():
        for trace in saved(run).traces:
            readers = Readers()
            for one in trace.spans:
                resource, scope = one.origin.resource, one.origin.scope
                if readers.read(decode_span(resource, scope, one.span)) is not None and not is_own(scope):
                    known += 1
                    assert wants(one.span, scope), run
    assert known > 1_000


def test_every_recorded_log_record_that_tells_something_is_wanted() -> None:
    for run in recorded_runs():
        for trace in saved(run).traces:
            unwanted = [one for one in trace.logs if not wants_log(one.record, one.origin.scope)]
            if unwanted:
                spans = [decode_span(one.origin.resource, one.origin.scope, one.span) for one in trace.spans]
                kept = [one for one in trace.logs if wants_log(one.record, one.origin.scope)]
                assert transcribe("t", spans, decoded(kept)) == transcribe("t", spans, decoded(trace.logs)), run


def decoded(logs: list[SavedLog]) -> list[Log]:
    return [decode_log(one.origin.resource, one.origin.scope, one.record) for one in logs]
