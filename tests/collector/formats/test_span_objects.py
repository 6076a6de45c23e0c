"""Spans as JSON objects in whatever words: found by what their keys mean."""

from __future__ import annotations

import json
from typing import Any

import pytest
from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status

from tests.collector.formats.reading import TRACE, attributes, one_span, read, requests

SPAN = "eee19b7ec3c1b174"
PARENT = "eee19b7ec3c1b173"
START_NS = 1_796_065_375_000_000_000
END_NS = START_NS + 1_500_000_000

IN_MANY_WORDS: dict[str, dict[str, object]] = {
    "camel case": {
        "traceId": TRACE,
        "spanId": SPAN,
        "parentSpanId": PARENT,
        "name": "find",
        "kind": "CLIENT",
        "startTime": "2026-11-30T19:02:55Z",
        "endTime": "2026-11-30T19:02:56.5Z",
        "status": {"code": "ERROR", "message": "closed"},
        "attributes": {"a": 1},
        "instrumentationScope": {"name": "desk", "version": "1.2"},
        "resource": {"attributes": {"service.name": "library"}},
    },
    "snake case, nanoseconds": {
        "trace_id": TRACE,
        "span_id": SPAN,
        "parent_span_id": PARENT,
        "span_name": "find",
        "span_kind": "SPAN_KIND_CLIENT",
        "start_time_unix_nano": START_NS,
        "end_time_unix_nano": END_NS,
        "status_code": "STATUS_CODE_ERROR",
        "status_message": "closed",
        "attributes": {"a": 1},
        "scope_name": "desk",
        "scope_version": "1.2",
        "resource_attributes": {"service.name": "library"},
    },
    "a context, a duration in ISO 8601": {
        "context": {"trace_id": f"0x{TRACE}", "span_id": f"0x{SPAN}"},
        "parent_id": f"0x{PARENT}",
        "name": "find",
        "kind": "SpanKind.CLIENT",
        "start_time": "2026-11-30T19:02:55.000000Z",
        "duration": "PT1.5S",
        "status": {"status_code": "ERROR", "description": "closed"},
        "attributes": {"a": 1},
        "scope": {"name": "desk", "version": "1.2"},
        "resource": {"attributes": {"service.name": "library"}, "schema_url": ""},
    },
    "tags, a duration in milliseconds": {
        "TraceID": TRACE,
        "SpanID": SPAN,
        "Parent": {"SpanID": PARENT},
        "DisplayName": "find",
        "Kind": "Client",
        "StartTimeUtc": "2026-11-30T19:02:55Z",
        "DurationMs": 1500,
        "Status": "Error",
        "StatusDescription": "closed",
        "Tags": [{"Key": "a", "Value": 1}],
        "InstrumentationScope": {"Name": "desk", "Version": "1.2"},
        "serviceName": "library",
    },
    "pairs of seconds and nanoseconds": {
        "_spanContext": {"traceId": TRACE, "spanId": SPAN},
        "parentSpanContext": {"traceId": TRACE, "spanId": PARENT},
        "name": "find",
        "kind": "CLIENT",
        "startTime": [1796065375, 0],
        "endTime": [1796065376, 500_000_000],
        "status": {"code": 2, "message": "closed"},
        "attributes": {"a": 1},
        "instrumentationScope": {"name": "desk", "version": "1.2"},
        "resource": {"_attributes": {"service.name": "library"}},
    },
}


@pytest.mark.parametrize("words", IN_MANY_WORDS)
def test_a_span_is_the_same_in_many_words(words: str) -> None:
    (resource,), findings = requests([IN_MANY_WORDS[words]])
    assert findings.flaws == []
    assert attributes(resource.resource.attributes) == {"service.name": "library"}
    (scope,) = resource.scope_spans
    assert (scope.scope.name, scope.scope.version) == ("desk", "1.2")
    (span,) = scope.spans
    assert (span.trace_id.hex(), span.span_id.hex(), span.parent_span_id.hex()) == (TRACE, SPAN, PARENT)
    assert (span.name, span.kind) == ("find", Span.SPAN_KIND_CLIENT)
    assert (span.start_time_unix_nano, span.end_time_unix_nano) == (START_NS, END_NS)
    assert (span.status.code, span.status.message) == (Status.STATUS_CODE_ERROR, "closed")
    assert attributes(span.attributes) == {"a": 1}


def span(**fields: object) -> dict[str, object]:
    return {"trace_id": TRACE, "span_id": SPAN, "name": "find", "start_time": "2026-11-30T19:02:55Z", **fields}


def test_an_end_that_nobody_tells_stays_unknown() -> None:
    assert one_span([span()]).end_time_unix_nano == 0


def test_a_duration_without_a_unit_has_the_unit_of_the_start_and_that_is_told() -> None:
    (found,), findings = read([span(start_time=1796065375000, duration=1500)])
    assert found.end_time_unix_nano == END_NS
    assert any("without a unit" in note for note in findings.notes)


def test_a_time_without_a_zone_is_read_as_utc_and_that_is_told() -> None:
    (found,), findings = read([span(start_time="2026-11-30T19:02:55")])
    assert found.start_time_unix_nano == START_NS
    assert any("time zone" in note for note in findings.notes)


def test_nested_attributes_become_the_keys_they_were() -> None:
    message = {"role": "user", "content": "Is it there?"}
    nested = {
        "llm": {"input_messages": [{"message": message}], "model_name": "m", "invocation_parameters": {"top_p": 1}},
        "metadata": {"thread": 1},
        "langsmith": {"metadata": {"thread_id": "t"}},
        "gen_ai": {"input": {"messages": [{"role": "user"}]}},
        "tool": {"json_schema": {"type": "object"}},
        "labels": ["a", "b"],
        "nothing": None,
        "empty": [],
    }
    assert attributes(one_span([span(attributes=nested)]).attributes) == {
        "llm.input_messages.0.message.role": "user",
        "llm.input_messages.0.message.content": "Is it there?",
        "llm.model_name": "m",
        "llm.invocation_parameters": '{"top_p":1}',
        "metadata": '{"thread":1}',
        "langsmith.metadata.thread_id": "t",
        "gen_ai.input.messages": '[{"role":"user"}]',
        "tool.json_schema": '{"type":"object"}',
        "labels": ["a", "b"],
        "empty": [],
    }


def test_events_and_links_are_kept() -> None:
    event = {"name": "exception", "timestamp": "2026-11-30T19:02:56Z", "attributes": {"exception.message": "closed"}}
    link = {"context": {"trace_id": TRACE, "span_id": PARENT}, "attributes": {"why": "retry"}}
    found = one_span([span(events=[event], links=[link])])
    assert (found.events[0].name, found.events[0].time_unix_nano) == ("exception", START_NS + 1_000_000_000)
    assert attributes(found.events[0].attributes) == {"exception.message": "closed"}
    assert (found.links[0].trace_id.hex(), found.links[0].span_id.hex()) == (TRACE, PARENT)


def test_what_stands_beside_the_attributes_becomes_an_attribute_where_they_say_nothing() -> None:
    told = span(type="llm", input={"messages": []}, output="yes", model="m", session_id="desk-5", cost=0.5)
    assert attributes(one_span([told]).attributes) == {
        "openinference.span.kind": "LLM",
        "input.value": '{"messages":[]}',
        "input.mime_type": "application/json",
        "output.value": "yes",
        "llm.model_name": "m",
        "session.id": "desk-5",
        "cost": 0.5,
    }


def test_attributes_of_a_convention_are_not_contradicted() -> None:
    written = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "find_book"}
    told = span(type="tool", input={"title": "x"}, output="y", attributes=written)
    assert attributes(one_span([told]).attributes) == written


NESTED: dict[str, Any] = {
    "name": "desk",
    "type": "agent",
    "startTime": "2026-11-30T19:02:55Z",
    "duration": "PT3S",
    "children": [
        {"name": "m", "type": "llm", "startTime": "2026-11-30T19:02:55.5Z", "duration_ms": 100},
        {"name": "find", "type": "tool", "startTime": "2026-11-30T19:02:56Z", "children": [{"name": "sql"}]},
    ],
}


def test_nested_spans_have_the_span_around_them_as_parent_and_get_ids_where_they_have_none() -> None:
    spans, findings = read(NESTED)
    by_name = {one.name: one for one in spans}
    assert len({one.trace_id for one in spans}) == 1
    assert len({one.span_id for one in spans}) == 4
    assert by_name["desk"].parent_span_id == b""
    assert by_name["m"].parent_span_id == by_name["find"].parent_span_id == by_name["desk"].span_id
    assert by_name["sql"].parent_span_id == by_name["find"].span_id
    assert by_name["m"].end_time_unix_nano - by_name["m"].start_time_unix_nano == 100_000_000
    assert any("without ids" in note for note in findings.notes)
    assert [one.SerializeToString() for one in read(NESTED)[0]] == [one.SerializeToString() for one in spans]


def test_two_files_with_spans_without_ids_are_two_traces() -> None:
    other = json.loads(json.dumps(NESTED)) | {"name": "other desk"}
    assert read(NESTED)[0][0].trace_id != read(other)[0][0].trace_id


def test_spans_take_the_id_and_the_session_of_the_trace_around_them() -> None:
    inside = {"span_id": SPAN, "name": "find", "start_time": "2026-11-30T19:02:55Z", "parent_id": None}
    found = one_span({"traces": [{"trace_id": TRACE, "session_id": "desk-5", "spans": [inside]}]})
    assert found.trace_id.hex() == TRACE
    assert attributes(found.attributes) == {"session.id": "desk-5"}


def test_a_span_that_is_none_costs_itself_alone() -> None:
    spans, findings = read({"spans": [span(), 7, span(span_id=PARENT, trace_id={"x": 1}), span(span_id=PARENT)]})
    assert [one.span_id.hex() for one in spans] == [SPAN, PARENT]
    assert [place for place, _ in findings.flaws] == [".spans[1]", ".spans[2]"]


def test_a_single_root_with_a_trace_id_beside_it_is_a_trace() -> None:
    root = {"id": "1", "name": "desk", "start": "2026-11-30T19:02:55Z", "children": [{"id": "2", "name": "find"}]}
    spans, _ = read({"export": {"traceId": TRACE, "sessionId": "desk-5", "root": root}})
    assert [(one.name, one.trace_id.hex()) for one in spans] == [("desk", TRACE), ("find", TRACE)]
    assert all(attributes(one.attributes) == {"session.id": "desk-5"} for one in spans)
    assert spans[1].parent_span_id == spans[0].span_id


DETAILS: dict[str, dict[str, Any]] = {
    "span_data": {
        "object": "trace.span",
        "id": f"span_{SPAN}",
        "trace_id": f"trace_{TRACE}",
        "started_at": "2026-11-30T19:02:55Z",
        "ended_at": "2026-11-30T19:02:56.5Z",
        "span_data": {"type": "function", "name": "find", "input": "{}", "output": "there"},
    },
    "span_attributes and metrics": {
        "span_id": f"span_{SPAN}",
        "root_span_id": TRACE,
        "span_parents": None,
        "span_attributes": {"type": "tool", "name": "find"},
        "metrics": {"start": 1796065375, "end": 1796065376.5},
        "input": "{}",
        "output": "there",
    },
}


@pytest.mark.parametrize("where", DETAILS)
def test_fields_that_stand_in_an_object_of_their_own_are_found(where: str) -> None:
    found = one_span([DETAILS[where]])
    assert (found.trace_id.hex(), found.name) == (TRACE, "find")
    assert (found.start_time_unix_nano, found.end_time_unix_nano) == (START_NS, END_NS)
    assert attributes(found.attributes) == {
        "openinference.span.kind": "TOOL",
        "input.value": "{}",
        "output.value": "there",
    }


def test_a_span_with_content_and_without_a_kind_is_a_step_of_a_chain() -> None:
    told = attributes(one_span([span(input="a", output="b")]).attributes)
    assert told["openinference.span.kind"] == "CHAIN"


def test_a_call_of_a_model_may_have_its_parts_beside_each_other() -> None:
    told = span(type="llm", messages=[{"role": "user"}], tools=[{"name": "find"}], response={"content": "hi"})
    assert attributes(one_span([told]).attributes) == {
        "openinference.span.kind": "LLM",
        "input.value": '[{"role":"user"}]',
        "input.mime_type": "application/json",
        "output.value": '{"content":"hi"}',
        "output.mime_type": "application/json",
        "llm.tools.0.tool.json_schema": '{"name":"find"}',
    }


def test_an_object_that_tells_of_a_trace_as_a_whole_is_no_broken_span() -> None:
    spans, findings = read([{"object": "trace", "id": f"trace_{TRACE}", "workflow_name": "desk"}, span()])
    assert (len(spans), findings.flaws) == (1, [])
    assert any("passed over" in note for note in findings.notes)


ATTRIBUTES_BESIDE = [
    {"openinference.span.kind": "LLM", "llm.model_name": "m", "input.value": "x", "session.id": "desk-5"},
    {
        "openinference": {"span": {"kind": "LLM"}},
        "llm": {"model_name": "m"},
        "input": {"value": "x"},
        "session_id": "desk-5",
    },
]


def test_attributes_may_stand_among_the_fields_of_the_span() -> None:
    flat, nested = ({**span(), **beside} for beside in ATTRIBUTES_BESIDE)
    assert attributes(one_span([flat]).attributes) == ATTRIBUTES_BESIDE[0]
    assert attributes(one_span([nested]).attributes) == ATTRIBUTES_BESIDE[0]


def test_a_list_of_spans_that_name_no_trace_is_one_trace() -> None:
    root = {"id": "1", "name": "desk", "parent_id": None, "start": "2026-11-30T19:02:55Z"}
    spans, findings = read([root, {**root, "id": "2", "name": "find", "parent_id": "1"}])
    assert [one.name for one in spans] == ["desk", "find"]
    assert spans[0].trace_id == spans[1].trace_id
    assert spans[1].parent_span_id == spans[0].span_id
    assert any("taken for one" in note for note in findings.notes)


def test_spans_inside_a_broken_one_are_read_all_the_same() -> None:
    inside = span(span_id=PARENT, name="inside")
    spans, findings = read({"spans": [span(trace_id={"x": 1}, children=[inside]), span()]})
    assert [(one.name, one.parent_span_id) for one in spans] == [("inside", b""), ("find", b"")]
    assert [place for place, _ in findings.flaws] == [".spans[0]"]


def test_a_kind_that_is_a_number_is_left_out_and_that_is_told() -> None:
    (found,), findings = read([span(kind=2)])
    assert found.kind == Span.SPAN_KIND_UNSPECIFIED
    assert any("kinds of spans" in note for note in findings.notes)
