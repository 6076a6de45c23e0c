"""Documents: what they are wrapped in, what is none, and that nothing in them breaks the reading."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from collector.receivers.formats import documents
from collector.receivers.formats.documents import described, read_document
from collector.receivers.formats.shape import MOST_FLAWS, Findings
from tests.collector.formats.reading import TRACE, read

SPAN = {"trace_id": TRACE, "span_id": "eee19b7ec3c1b174", "name": "find", "start_time": 1796065375}


@pytest.mark.parametrize(
    "document",
    [
        SPAN,
        [SPAN],
        {"data": [SPAN]},
        {"traces": [{"spans": [SPAN]}]},
        {"result": {"items": [SPAN], "next": 1}},
        [[SPAN]],
    ],
)
def test_spans_are_found_in_whatever_is_wrapped_around_them(document: object) -> None:
    spans, findings = read(document)
    assert ([span.name for span in spans], findings.flaws) == (["find"], [])


@pytest.mark.parametrize(
    "document",
    [
        {"data": [], "total": 0},
        {"name": "package", "version": "1.0", "dependencies": {"x": "1"}},
        {"id": 1, "name": "Anna", "children": [{"id": 2, "name": "Ben"}]},
        [{"question": "x", "answer": "y"}],
        {"messages": [{"role": "user", "content": "hello"}]},
        [],
        7,
        "text",
        None,
    ],
)
def test_what_holds_no_spans_is_of_no_form(document: object) -> None:
    assert read_document(document, Findings()) is None


def test_one_thing_among_spans_that_is_none_is_named_with_its_place() -> None:
    spans, findings = read({"data": [SPAN, {"note": "x"}, 3]})
    assert len(spans) == 1
    assert findings.flaws == [
        (".data[1]", "neither a span nor a trace: an object with the keys note"),
        (".data[2]", "neither a span nor a trace: a number"),
    ]


def test_of_very_many_flaws_the_first_are_told_and_the_others_counted() -> None:
    _, findings = read([SPAN, *[{"note": "x"}] * 100])
    assert (len(findings.flaws), findings.more_flaws) == (MOST_FLAWS, 100 - MOST_FLAWS)


def test_a_document_is_described_by_its_keys_and_never_by_its_content() -> None:
    document = {
        "total": 1,
        "rows": [{"question": "secret", "answer": "secret"}],
        **{f"k{n}": "secret" for n in range(9)},
    }
    text = described(document)
    assert text == (
        "an object with the keys total, rows, k0, k1, k2, k3, k4, k5 and 3 more; rows is an array of 1, the first an "
        "object with the keys question, answer"
    )


KEYS = st.sampled_from(
    [
        *("data", "spans", "traces", "trace_id", "traceId", "traceID", "span_id", "spanId", "spanID", "id", "name"),
        *("operationName", "parent_id", "parentSpanId", "references", "refType", "processes", "processID", "process"),
        *("tags", "key", "type", "value", "logs", "fields", "startTime", "start_time", "duration", "end_time"),
        *("resourceSpans", "scopeSpans", "batches", "resource", "scope", "attributes", "events", "links", "status"),
        *("context", "context.trace_id", "context.span_id", "columns", "index", "children", "observations"),
        *("parentObservationId", "run_type", "inputs", "child_runs", "info", "localEndpoint", "annotations"),
        *("timestamp", "kind", "input", "output", "metadata", "startTimeUnixNano", "low", "high"),
    ]
)
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.sampled_from([TRACE, "eee19b7ec3c1b174", "0", "", "GENERATION", "CHILD_OF", "int64", "2026-11-30T19:02:55Z"])
    | st.text(st.characters(exclude_categories=["Cs"]), max_size=5)
)
JSON: Any = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=8), max_leaves=40
)


@settings(max_examples=400, deadline=None)
@given(JSON)
def test_no_document_breaks_the_reading(document: object) -> None:
    findings = Findings()
    for request in read_document(document, findings) or ():
        assert isinstance(request.request, bytes)


@settings(max_examples=200, deadline=None)
@given(st.dictionaries(KEYS, JSON, max_size=12))
def test_no_span_breaks_the_reading(fields: dict[str, object]) -> None:
    findings = Findings()
    document = {"data": [SPAN, {**SPAN, **fields}]}
    found = read_document(document, findings)
    assert found is not None
    assert len(list(found)) >= 1


OTLP_SPAN = {"traceId": TRACE, "spanId": SPAN["span_id"], "startTimeUnixNano": "1796065375000000000"}
JAEGER_SPAN = {"traceID": TRACE, "spanID": SPAN["span_id"], "operationName": "find", "startTime": 1796065375000000}


@pytest.mark.parametrize("around", [lambda inner: {"a": inner}, lambda inner: [inner]], ids=["objects", "lists"])
@pytest.mark.parametrize("depth", [20, 250, 900])
@pytest.mark.parametrize(
    "span",
    [
        lambda deep: {**SPAN, "attributes": {"x": deep}},
        lambda deep: {**SPAN, "input": deep},
        lambda deep: {**SPAN, "parents": deep},
        lambda deep: {**SPAN, "children": [{"name": "x", "a": deep}]},
        lambda deep: {**OTLP_SPAN, "attributes": [{"key": "x", "value": deep}]},
        lambda deep: {"resourceSpans": [{"scopeSpans": [{"spans": [{**OTLP_SPAN, "attributes": {"x": deep}}]}]}]},
        lambda deep: {"spans": [{**JAEGER_SPAN, "tags": [{"key": "x", "value": deep}]}], "processes": {}},
        lambda deep: {"traceId": TRACE, "id": SPAN["span_id"], "timestamp": 1, "tags": {"x": deep}},
        lambda deep: {"id": TRACE, "observations": [{**SPAN, "id": "1", "type": "SPAN", "input": deep}]},
        lambda deep: {**SPAN, "id": SPAN["span_id"], "run_type": "llm", "inputs": deep},
    ],
)
def test_values_nested_as_deep_as_json_may_be_cost_no_span(
    span: Callable[[Any], Any], depth: int, around: Callable[[Any], Any]
) -> None:
    deep: Any = "x"
    for _ in range(depth):
        deep = around(deep)
    findings = Findings()
    found = read_document([SPAN, span(deep), SPAN], findings)
    assert found is not None
    requests = [ExportTraceServiceRequest.FromString(one.request) for one in found]
    spans = [one for request in requests for resource in request.resource_spans for one in resource.scope_spans]
    assert sum(len(one.spans) for one in spans) + len(findings.flaws) >= 3
    assert sum(len(one.spans) for one in spans) >= 2


def test_events_with_events_in_them_are_read_as_they_are() -> None:
    events: list[object] = []
    for _ in range(500):
        events = [{"name": "x", "timeUnixNano": [1, 1], "events": events}]
    (span,), _ = read({"resourceSpans": [{"scopeSpans": [{"spans": [{**OTLP_SPAN, "events": events}]}]}]})
    assert [event.time_unix_nano for event in span.events] == [1_000_000_001]


def test_the_place_of_what_is_very_deep_is_told_in_short() -> None:
    tree: dict[str, Any] = {**SPAN, "span_id": 1.5}
    for depth in range(300):
        tree = {**SPAN, "span_id": f"{depth + 1:016x}", "children": [tree]}
    spans, findings = read(tree)
    assert len(spans) == 300
    ((place, message),) = findings.flaws
    assert len(place) < 300 and place.startswith(".children[0].children[0]") and "…" in place
    assert message == "an id is no text"


def test_spans_without_ids_have_different_ones_however_deep_they_are() -> None:
    untold = {"name": "x", "start_time": 1796065375}
    tree: dict[str, Any] = {**untold, "children": [untold, untold]}
    for _ in range(300):
        tree = {**untold, "children": [tree]}
    spans, _ = read({**tree, "trace_id": TRACE, "span_id": SPAN["span_id"]})
    assert len({span.span_id for span in spans}) == len(spans) > 300


def test_spans_nested_a_thousand_deep_are_all_read() -> None:
    tree: dict[str, Any] = {**SPAN, "name": "innermost"}
    for depth in range(900):
        tree = {**SPAN, "span_id": f"{depth + 1:016x}", "children": [tree]}
    assert len(read(tree)[0]) == 901


def test_a_wide_and_deep_document_of_another_kind_is_put_aside_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    wide: Any = {"a": 1}
    for _ in range(4):
        wide = {f"k{number}": wide for number in range(50)}
    looks = 0

    def counted(_: object) -> None:
        nonlocal looks
        looks += 1

    monkeypatch.setattr(documents, "form_of", counted)
    assert read_document(wide, Findings()) is None
    assert looks <= 2000
