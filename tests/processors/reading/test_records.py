"""Log records that name another span than the one they are about."""

from __future__ import annotations

from dataclasses import replace

from evaluators.cases import JsonValue
from processors.otlp import Log, Span
from processors.reading.joining import joined

DETAILS = "gen_ai.client.inference.operation.details"


def record(span_id: str, response: str | None) -> Log:
    attributes = {"gen_ai.response.id": response} if response is not None else {}
    return Log(trace_id="t", span_id=span_id, event_name=DETAILS, attributes=attributes)


def model_call(span_id: str, response: str) -> Span:
    return Span(trace_id="t", span_id=span_id, attributes={"gen_ai.response.id": response})


def places(*logs: Log) -> dict[str, int]:
    spans = [Span(trace_id="t", span_id="run"), model_call("m1", "r1"), model_call("m2", "r2")]
    return {span.span_id: len(span.events) for span in joined(spans, logs)}


def test_a_record_that_names_a_response_belongs_to_the_call_that_got_it() -> None:
    assert places(record("run", "r2"), record("run", "r1")) == {"run": 0, "m1": 1, "m2": 1}


def test_a_record_of_no_known_response_belongs_to_the_span_it_names() -> None:
    assert places(record("run", "r9"), record("run", None)) == {"run": 2, "m1": 0, "m2": 0}


def test_a_record_on_the_span_with_its_response_stays_there_whatever_others_have_the_same() -> None:
    spans = [model_call("m1", "r1"), model_call("copy", "r1")]

    assert [len(span.events) for span in joined(spans, [record("m1", "r1")])] == [1, 0]


def test_a_record_that_came_twice_with_more_attributes_is_one() -> None:
    body: dict[str, JsonValue] = {"index": 0, "message": {"content": "Lent."}}
    choice = Log(trace_id="t", span_id="m1", event_name="gen_ai.choice", body=body, time_ns=7)
    again = replace(choice, attributes={"collector": "b"})
    other = replace(choice, body={**body, "index": 1})
    assert places(choice, again, other) == {"run": 0, "m1": 2, "m2": 0}
