"""Requests are cut into spans and log records whose bytes are those that came."""

import pytest
from google.protobuf.message import DecodeError
from hypothesis import given
from hypothesis import strategies as st
from opentelemetry.proto.common.v1.common_pb2 import InstrumentationScope
from opentelemetry.proto.resource.v1.resource_pb2 import Resource
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from collector.intake import MalformedRequestError
from collector.records import Outbound
from collector.wire import (
    Origins,
    build_logs_request,
    build_request,
    count_data_points,
    describe_rejections,
    recognise_signal,
    slice_logs,
    slice_spans,
    slicing,
)
from collector.wire.skeleton import parse_span
from tests.collector.otlp_samples import (
    SPAN_ID,
    TRACE_ID,
    attribute,
    deep_span,
    field,
    logs_request,
    metrics_request,
    request,
    span,
    spans_of,
)

IDS = st.binary(min_size=8, max_size=8).filter(any)
TRACE_IDS = st.binary(min_size=16, max_size=16).filter(any)
UNKNOWN_FIELDS = st.builds(field, st.integers(100, 900), st.binary(max_size=20)) | st.just(b"")
TEXT = st.text(max_size=12)


@st.composite
def spans(draw: st.DrawFn) -> bytes:
    made = Span(
        trace_id=draw(TRACE_IDS),
        span_id=draw(IDS),
        parent_span_id=draw(IDS | st.just(b"")),
        name=draw(TEXT),
        kind=draw(st.integers(0, 5)),  # type: ignore[arg-type]
        flags=draw(st.integers(0, 2**32 - 1)),
        attributes=[attribute(draw(TEXT), draw(TEXT)) for _ in range(draw(st.integers(0, 3)))],
        links=[Span.Link(trace_id=draw(TRACE_IDS), span_id=draw(IDS)) for _ in range(draw(st.integers(0, 2)))],
    )
    return made.SerializeToString() + draw(UNKNOWN_FIELDS)


@st.composite
def requests(draw: st.DrawFn) -> tuple[bytes, list[bytes]]:
    """A request and its spans, with equal and different origins and unknown fields at every level."""
    everything: list[bytes] = []
    out = b""
    for _ in range(draw(st.integers(0, 3))):
        resource = Resource(attributes=[attribute("service.name", draw(st.sampled_from("ab")))]).SerializeToString()
        resources = field(1, resource + draw(UNKNOWN_FIELDS)) + draw(UNKNOWN_FIELDS)
        for _ in range(draw(st.integers(0, 3))):
            scope = InstrumentationScope(name=draw(st.sampled_from("xy"))).SerializeToString()
            inside = draw(st.lists(spans(), max_size=4))
            everything += inside
            items = b"".join(field(2, one) for one in inside)
            resources += field(2, field(1, scope + draw(UNKNOWN_FIELDS)) + items + draw(UNKNOWN_FIELDS))
        out += field(1, resources)
    return out, everything


@given(requests())
def test_every_span_comes_out_with_its_own_bytes_in_order(made: tuple[bytes, list[bytes]]) -> None:
    serialised, expected = made
    sliced = slice_spans(serialised, (), Origins())
    assert [record.span for record in sliced.records] == expected
    assert sliced.rejected == []


@given(requests())
def test_a_request_built_from_records_says_what_the_first_one_said(made: tuple[bytes, list[bytes]]) -> None:
    serialised, _ = made
    records = slice_spans(serialised, (), Origins()).records
    again = slice_spans(build_request(Outbound(record.origin, record.span) for record in records), (), Origins())
    by_origin: dict[object, list[bytes]] = {}
    for record in records:
        by_origin.setdefault(record.origin, []).append(record.span)
    assert {origin: [r.span for r in again.records if r.origin == origin] for origin in by_origin} == by_origin
    assert len(again.records) == len(records)


@given(st.binary(max_size=200))
def test_random_bytes_are_malformed_or_taken_never_a_crash(data: bytes) -> None:
    for read in (
        lambda: slice_spans(data, (), Origins()),
        lambda: slice_logs(data, (), Origins()),
        lambda: count_data_points(data),
        lambda: recognise_signal(data),
    ):
        try:
            read()
        except MalformedRequestError as error:
            assert str(error)


@given(requests(), st.data())
def test_damaged_requests_are_refused_or_give_only_spans_that_can_be_read(
    made: tuple[bytes, list[bytes]], data: st.DataObject
) -> None:
    damaged = bytearray(made[0])
    if damaged:
        damaged[data.draw(st.integers(0, len(damaged) - 1))] ^= 1 << data.draw(st.integers(0, 7))
        del damaged[data.draw(st.integers(0, len(damaged))) :]
    try:
        sliced = slice_spans(bytes(damaged), (), Origins())
    except MalformedRequestError:
        return
    for record in sliced.records:
        parse_span(record.span)
        assert len(record.trace_id) == 16
        assert len(record.span_id) == 8
    assert all(rejection.reason for rejection in sliced.rejected)


REJECTED = [
    ("no trace id", span(trace_id=b""), "trace_id has 0 bytes, not 16"),
    ("a short trace id", span(trace_id=b"\x01" * 15), "trace_id has 15 bytes, not 16"),
    ("a trace id of zeros", span(trace_id=bytes(16)), "trace_id is all zeros"),
    ("no span id", span(span_id=b""), "span_id has 0 bytes, not 8"),
    ("a span id of zeros", span(span_id=bytes(8)), "span_id is all zeros"),
    ("a long parent id", span(parent_span_id=b"\x01" * 9), "parent_span_id has 9 bytes, not 8"),
    (
        "a link with half an id",
        span(links=[Span.Link(trace_id=b"\x01" * 8)]),
        "a link's trace_id or span_id has a wrong length",
    ),
    ("a cut-off field", span()[:-3], "field 8 is cut off (byte"),
    ("a cut-off attribute", span() + field(9, b"\x0a\x05ab"), "spans[0].attributes[0]: field 1 says 5 bytes and 2"),
    ("a broken value", span() + field(9, field(1, b"k") + field(2, b"\x0a\x09")), "attributes[0].value: field 1"),
    ("a broken event", span() + field(11, b"\x09\x01"), "spans[0].events[0]: field 1 is cut off"),
    ("an endless number", span() + b"\x30" + b"\xff" * 11, "a number is longer than 64 bits"),
    ("field number 0", span() + b"\x02\x00", "field number 0 is out of range"),
    ("an unknown wire type", span() + b"\x0f", "has the wire type 7"),
    ("a group that isn't closed", span() + b"\xa3\x06\x08\x01", "a number is cut off"),
    ("a group closed that wasn't open", span() + b"\xa4\x06", "has the wire type 4"),
]


@pytest.mark.parametrize(("bad", "reason"), [row[1:] for row in REJECTED], ids=[row[0] for row in REJECTED])
def test_a_span_that_cannot_be_taken_is_rejected_with_the_place_and_the_reason(bad: bytes, reason: str) -> None:
    sliced = slice_spans(request(bad, span("good")), (), Origins())
    assert [record.span for record in sliced.records] == [span("good")]
    (rejection,) = sliced.rejected
    assert rejection.index == 0
    assert rejection.reason.startswith("resource_spans[0].scope_spans[0].spans[0]")
    assert reason in rejection.reason


def test_rejections_are_described_by_the_first_few_and_a_count() -> None:
    sliced = slice_spans(request(*[span(span_id=b"")] * 5), (), Origins())
    text = describe_rejections(sliced.rejected)
    assert text.count("span_id has 0 bytes") == 3
    assert text.endswith("; and 2 more")


TAKEN = [
    ("invalid UTF-8 in a name", span() + field(5, b"\xff\xfe")),
    ("invalid UTF-8 in an attribute", span() + field(9, field(1, b"\xff") + field(2, field(1, b"\xc3(")))),
    ("nesting deeper than parsers go", deep_span(400)),
    ("an unknown group", span() + b"\xa3\x06\x08\x01\xa4\x06"),
    ("a name that occurs twice", span("first") + field(5, b"second")),
    ("a link without ids", span(links=[Span.Link()])),
    ("a kind that nobody knows", span(kind=99)),
    ("a field with another wire type than expected", span() + field(7, b"x")),
]


@pytest.mark.parametrize("odd", [row[1] for row in TAKEN], ids=[row[0] for row in TAKEN])
def test_an_odd_span_is_taken_as_it_is(odd: bytes) -> None:
    sliced = slice_spans(request(odd), (), Origins())
    assert [record.span for record in sliced.records] == [odd]


def test_a_deep_span_in_a_huge_crowd_of_fields_is_rejected_after_bounded_work() -> None:
    crowded = deep_span(400) + b"\x50\x01" * 300_000
    (rejection,) = slice_spans(request(crowded), (), Origins()).rejected
    assert "too large to check" in rejection.reason


@pytest.mark.parametrize(
    ("damaged", "place"),
    [
        (b"\x0a\x05\x12", "request: field 1 says 5 bytes and 1 are left (byte 0 of 3)"),
        (field(1, b"\x12\x7f\x00"), "request.resource_spans[0]: field 2 says 127 bytes"),
        (field(1, field(2, span()[:20])), "request.resource_spans[0].scope_spans[0]"),
        (b'{"key": "value"}', "request: field 4 says 107 bytes"),
    ],
)
def test_a_request_that_cannot_be_cut_is_refused_naming_the_place(damaged: bytes, place: str) -> None:
    with pytest.raises(MalformedRequestError) as caught:
        slice_spans(damaged, (), Origins())
    assert "not an OTLP traces request in protobuf" in str(caught.value)
    assert place in str(caught.value)


@pytest.mark.parametrize(
    ("serialised", "complaint"),
    [
        (field(1, field(2, b"\x12\x00" * 250_001)), "more than 250000 items"),
        (field(1, b"\x12\x00" * 50_001), "more than 50000 scopes"),
        (b"\x0a\x00" * 50_001, "more than 50000 scopes"),
    ],
    ids=["items", "scopes", "resources"],
)
def test_a_request_of_absurdly_many_parts_is_refused_before_they_are_looked_at(
    serialised: bytes, complaint: str
) -> None:
    for read in (
        lambda: slice_spans(serialised, (), Origins()),
        lambda: slice_logs(serialised, (), Origins()),
        lambda: count_data_points(serialised),
    ):
        with pytest.raises(MalformedRequestError, match=complaint):
            read()


def test_a_request_that_nobody_waits_behind_may_hold_any_number_of_parts() -> None:
    scopes = field(1, b"".join(field(2, field(2, span("one"))) for _ in range(50_001)))
    with pytest.raises(MalformedRequestError):
        slice_spans(scopes, (), Origins())
    assert len(slice_spans(scopes, (), Origins(), limits=None).records) == 50_001


@pytest.mark.parametrize(("more", "taken"), [(b"", 1), (field(9, b"\x0a\x09"), 1), (b"\x4a\x09", 0)])
def test_of_a_huge_span_only_the_outermost_fields_are_checked(more: bytes, taken: int) -> None:
    huge = span("huge") + b"\x4a\x00" * (2 << 20) + more
    sliced = slice_spans(request(huge), (), Origins())
    assert [record.span for record in sliced.records] == [huge] * taken
    assert len(sliced.rejected) == 1 - taken


def test_spans_of_a_broken_resource_are_rejected_and_others_taken() -> None:
    serialised = request(span("bad"), resource=b"\x0a\x09") + request(span("good"))
    sliced = slice_spans(serialised, (), Origins())
    assert [record.span for record in sliced.records] == [span("good")]
    assert sliced.rejected[0].reason.startswith("resource_spans[0].resource: field 1 says 9 bytes")


def test_spans_in_the_field_that_scopes_had_before_otlp_0_15_are_found() -> None:
    serialised = field(1, field(1000, field(2, span())))
    assert [record.span for record in slice_spans(serialised, (), Origins()).records] == [span()]


@pytest.mark.parametrize(
    ("flags", "remote"), [(0, None), (1, None), (0x100, False), (0x300, True), (0x200, None), (0x301, True)]
)
def test_remote_parent_is_what_the_flags_say(flags: int, remote: bool | None) -> None:
    (record,) = slice_spans(request(span(flags=flags)), (), Origins()).records
    assert record.remote_parent is remote


@pytest.mark.parametrize(
    ("given_id", "parent"), [(b"", b""), (bytes(8), b""), (b"\x01" * 8, b"\x01" * 8)], ids=["none", "zeros", "an id"]
)
def test_a_parent_of_zeros_is_no_parent(given_id: bytes, parent: bytes) -> None:
    (record,) = slice_spans(request(span(parent_span_id=given_id)), (), Origins()).records
    assert record.parent_span_id == parent


def test_a_resource_that_occurs_twice_is_merged_as_protobuf_does() -> None:
    first = Resource(attributes=[attribute("a", "1")]).SerializeToString()
    second = Resource(attributes=[attribute("b", "2")]).SerializeToString()
    serialised = field(1, field(1, first) + field(2, field(2, span())) + field(1, second))
    (record,) = slice_spans(serialised, (), Origins()).records
    assert [one.key for one in Resource.FromString(record.origin.resource).attributes] == ["a", "b"]


def test_equal_origins_are_one_object_across_requests() -> None:
    origins = Origins()
    first = slice_spans(request(span(), resource=b"", scope=field(1, b"lib")), (), origins).records[0]
    second = slice_spans(request(span(), resource=b"", scope=field(1, b"lib")), (), origins).records[0]
    assert first.origin is second.origin


def test_different_headers_make_different_origins() -> None:
    origins = Origins()
    first = slice_spans(request(span()), (("x-project-name", "a"),), origins).records[0]
    second = slice_spans(request(span()), (("x-project-name", "b"),), origins).records[0]
    assert first.origin != second.origin


def test_remembered_origins_are_bounded_in_number_and_bytes() -> None:
    few = Origins(max_entries=3)
    small = Origins(max_bytes=1000)
    for number in range(50):
        made = request(span(), scope=field(1, b"%0100d" % number))
        slice_spans(made, (), few)
        slice_spans(made, (), small)
    assert len(few) == 3
    assert 0 < len(small) < 11


def test_records_hold_plain_bytes_that_pin_nothing() -> None:
    (record,) = slice_spans(request(span(), resource=field(2, b"")), (), Origins()).records
    parts = (record.trace_id, record.span_id, record.span, record.origin.resource, record.origin.scope)
    assert {type(part) for part in parts} == {bytes}


def test_log_records_come_out_with_their_bytes_and_ids() -> None:
    sliced = slice_logs(logs_request(), (), Origins())
    (record,) = sliced.records
    assert (record.trace_id, record.span_id) == (TRACE_ID, SPAN_ID)
    assert build_logs_request(sliced.records) == logs_request()


@pytest.mark.parametrize("trace_id", [b"", bytes(16)], ids=["none", "zeros"])
def test_a_log_record_needs_no_trace(trace_id: bytes) -> None:
    (record,) = slice_logs(logs_request(trace_id=trace_id), (), Origins()).records
    assert (record.trace_id, record.span_id) == (b"", b"")


def test_a_log_record_with_an_id_of_another_length_is_rejected() -> None:
    sliced = slice_logs(logs_request(trace_id=b"\x01"), (), Origins())
    assert sliced.records == []
    assert "trace_id has 1 bytes and span_id 8" in sliced.rejected[0].reason


def test_a_broken_log_record_is_rejected() -> None:
    serialised = field(1, field(2, field(2, b"\x0a")))
    assert "logs" in slice_logs(serialised, (), Origins()).rejected[0].reason


def test_data_points_are_counted_over_all_metrics() -> None:
    assert count_data_points(metrics_request(3)) == 3
    assert count_data_points(b"") == 0
    with pytest.raises(MalformedRequestError, match="not an OTLP metrics request"):
        count_data_points(b"\x0a\x05")


def test_scores_appended_to_a_span_are_attributes_of_it() -> None:
    (record,) = slice_spans(request(span()), (), Origins()).records
    tail = Span(attributes=[attribute("eval.x.label", "correct")]).SerializeToString()
    built = build_request([Outbound(record.origin, record.span, tail)])
    assert record.span + tail in built
    assert [one.key for one in spans_of(built)[0].attributes] == ["eval.x.label"]


def test_scopes_of_one_resource_share_it_in_the_built_request() -> None:
    resource = Resource(attributes=[attribute("service.name", "svc")]).SerializeToString()
    serialised = request(span("a"), resource=resource, scope=field(1, b"one")) + request(
        span("b"), resource=resource, scope=field(1, b"two")
    )
    records = slice_spans(serialised, (), Origins()).records
    assert build_request(Outbound(one.origin, one.span) for one in records).count(resource) == 1


def test_a_schema_url_that_is_no_utf8_leaves_as_it_came() -> None:
    serialised = field(1, field(2, field(2, span()) + field(3, b"\xff")) + field(3, b"\xfe"))
    (record,) = slice_spans(serialised, (), Origins()).records
    assert build_request([Outbound(record.origin, record.span)]) == serialised


def test_the_real_parser_would_refuse_the_invalid_utf8_that_is_taken_here() -> None:
    with pytest.raises(DecodeError):
        Span.FromString(TAKEN[0][1])


@pytest.mark.parametrize(
    ("serialised", "signal"),
    [
        (request(span()), "traces"),
        (request(span(trace_id=b"", name="")), "traces"),
        (request(Span(trace_id=TRACE_ID, span_id=SPAN_ID, name="x").SerializeToString()), "traces"),
        (logs_request(), "logs"),
        (logs_request(trace_id=b"", span_id=b""), "logs"),
        (metrics_request(), "metrics"),
        (field(1, field(2, field(2, field(1, b"sixteen.bytes.xy")))), "metrics"),
        (b"", "traces"),
        (request(), "traces"),
    ],
)
def test_the_signal_is_recognised_by_the_first_leaf(serialised: bytes, signal: str) -> None:
    assert recognise_signal(serialised) == signal


@pytest.mark.parametrize("count", [1, 2, 999, 1000, 1001, 2500])
def test_spans_that_are_read_in_groups_are_the_same_as_those_read_at_once(
    count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    spans = [span(name=f"operation {number}", span_id=(number + 1).to_bytes(8, "big")) for number in range(count)]
    spans[count // 2] += field(4, b"wrong") if count > 2 else b""
    body = request(*spans) + request(*spans[:2])
    at_once = slice_spans(body, (), Origins())
    monkeypatch.setattr(slicing, "READ_AT_ONCE_BYTES", 0)
    in_groups = slice_spans(body, (), Origins())
    assert in_groups == at_once
    assert len(in_groups.rejected) == (count > 2)


def test_broken_and_deep_spans_cost_others_of_their_group_nothing() -> None:
    spans = [span(span_id=(number + 1).to_bytes(8, "big")) for number in range(3000)]
    spans[5], spans[1500], spans[2999] = span()[:-1], deep_span(200), span()[:-2]
    sliced = slice_spans(request(*spans), (), Origins())
    assert [rejection.index for rejection in sliced.rejected] == [5, 2999]
    assert [record.span for record in sliced.records] == [*spans[:5], *spans[6:2999]]
