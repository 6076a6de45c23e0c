"""Decoding: every value type, and bytes that a strict parser refuses."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from google.protobuf.message import DecodeError
from hypothesis import given, settings
from hypothesis import strategies as st
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, ArrayValue, InstrumentationScope, KeyValue, KeyValueList
from opentelemetry.proto.logs.v1.logs_pb2 import LogRecord
from opentelemetry.proto.resource.v1.resource_pb2 import Resource
from opentelemetry.proto.trace.v1.trace_pb2 import Span as SpanMessage
from opentelemetry.proto.trace.v1.trace_pb2 import Status

from processors.otlp import SpanKind, StatusCode, decode_log, decode_span


def text(value: str) -> AnyValue:
    return AnyValue(string_value=value)


def attribute(key: str, value: AnyValue) -> KeyValue:
    return KeyValue(key=key, value=value)


def span_bytes(*attributes: KeyValue) -> bytes:
    return SpanMessage(trace_id=b"\x01" * 16, span_id=b"\x02" * 8, name="n", attributes=attributes).SerializeToString()


def spoilt(data: bytes) -> bytes:
    """The same message with an invalid UTF-8 byte where an X was."""
    assert data.count(b"X") == 1
    return data.replace(b"X", b"\xff")


def field(number: int, payload: bytes) -> bytes:
    """A length-delimited field, as it is on the wire."""
    length, size = len(payload), bytearray()
    while length > 0x7F:
        size.append(length & 0x7F | 0x80)
        length >>= 7
    return bytes([number << 3 | 2, *size, length]) + payload


def test_a_span_comes_out_with_hex_ids_and_plain_values() -> None:
    message = SpanMessage(
        trace_id=bytes(range(16)),
        span_id=bytes(range(8)),
        parent_span_id=bytes(range(8, 16)),
        name="chat",
        kind=SpanMessage.SPAN_KIND_CLIENT,
        start_time_unix_nano=5,
        end_time_unix_nano=9,
        status=Status(code=Status.STATUS_CODE_ERROR, message="no"),
        attributes=[
            attribute("text", text("é")),
            attribute("number", AnyValue(int_value=-3)),
            attribute("share", AnyValue(double_value=0.5)),
            attribute("flag", AnyValue(bool_value=True)),
            attribute("list", AnyValue(array_value=ArrayValue(values=[text("a"), AnyValue(int_value=1)]))),
            attribute("map", AnyValue(kvlist_value=KeyValueList(values=[attribute("k", text("v"))]))),
            attribute("utf8", AnyValue(bytes_value=b"ok")),
            attribute("bytes", AnyValue(bytes_value=b"\xff\x00")),
            attribute("empty", AnyValue()),
        ],
        events=[SpanMessage.Event(name="e", time_unix_nano=7, attributes=[attribute("k", text("v"))])],
    )
    resource = Resource(attributes=[attribute("service.name", text("s"))])
    scope = InstrumentationScope(name="lib", version="1")

    span = decode_span(resource.SerializeToString(), scope.SerializeToString(), message.SerializeToString())

    assert (span.trace_id, span.span_id, span.parent_id) == (
        "000102030405060708090a0b0c0d0e0f",
        "0001020304050607",
        "08090a0b0c0d0e0f",
    )
    assert (span.name, span.kind, span.start_ns, span.end_ns) == ("chat", SpanKind.CLIENT, 5, 9)
    assert (span.status, span.status_message) == (StatusCode.ERROR, "no")
    assert span.attributes == {
        "text": "é",
        "number": -3,
        "share": 0.5,
        "flag": True,
        "list": ["a", 1],
        "map": {"k": "v"},
        "utf8": "ok",
        "bytes": "/wA=",
        "empty": None,
    }
    assert [(event.name, event.time_ns, dict(event.attributes)) for event in span.events] == [("e", 7, {"k": "v"})]
    assert (span.resource, span.scope_name, span.scope_version) == ({"service.name": "s"}, "lib", "1")


def test_a_root_has_no_parent() -> None:
    assert decode_span(b"", b"", span_bytes()).parent_id is None


def test_of_a_repeated_key_the_last_value_stands() -> None:
    span = decode_span(b"", b"", span_bytes(attribute("k", text("first")), attribute("k", text("last"))))
    assert span.attributes == {"k": "last"}


def test_kinds_and_states_that_otlp_does_not_define_read_as_unspecified() -> None:
    message = SpanMessage(kind=77, status=Status(code=9))  # type: ignore[arg-type]
    span = decode_span(b"", b"", message.SerializeToString())
    assert (span.kind, span.status) == (SpanKind.UNSPECIFIED, StatusCode.UNSET)


@pytest.mark.parametrize(
    "value",
    [
        text("aXb"),
        AnyValue(array_value=ArrayValue(values=[text("aXb")])),
        AnyValue(kvlist_value=KeyValueList(values=[attribute("k", text("aXb"))])),
    ],
    ids=["text", "in a list", "in a map"],
)
def test_invalid_utf8_harms_its_own_value_only(value: AnyValue) -> None:
    data = spoilt(span_bytes(attribute("bad", value), attribute("good", text("intact"))))
    with pytest.raises(DecodeError):
        SpanMessage.FromString(data)

    span = decode_span(b"", b"", data)

    assert span.attributes["good"] == "intact"
    assert "a\ufffdb" in str(span.attributes["bad"])
    assert span.span_id == "0202020202020202"


def test_invalid_utf8_in_a_resource_or_scope_harms_only_that_text() -> None:
    resource = spoilt(Resource(attributes=[attribute("host", text("X"))]).SerializeToString())
    scope = spoilt(InstrumentationScope(name="libX", version="1").SerializeToString())
    span = decode_span(resource, scope, span_bytes())
    assert (span.resource, span.scope_name, span.scope_version) == ({"host": "\ufffd"}, "lib\ufffd", "1")


def test_what_is_nested_too_deep_is_dropped_and_the_rest_kept() -> None:
    value = text("bottom").SerializeToString()
    for _ in range(200):
        value = field(5, field(1, value))  # an AnyValue with an ArrayValue of one value
    deep = field(9, field(1, b"deep") + field(2, value))
    data = deep + span_bytes(attribute("good", text("intact")))
    with pytest.raises(DecodeError):
        SpanMessage.FromString(data)

    span = decode_span(b"", b"", data)

    assert span.attributes["good"] == "intact"
    assert "bottom" not in str(span.attributes["deep"])


def test_a_log_record_takes_its_event_name_from_the_field_or_the_attribute() -> None:
    body = AnyValue(kvlist_value=KeyValueList(values=[attribute("content", text("hi"))]))
    own = LogRecord(trace_id=b"\x01" * 16, span_id=b"\x02" * 8, event_name="gen_ai.choice", body=body)
    named = LogRecord(attributes=[attribute("event.name", text("gen_ai.choice"))], observed_time_unix_nano=4)

    log = decode_log(b"", b"", own.SerializeToString())
    assert (log.trace_id, log.event_name, log.body) == ("01" * 16, "gen_ai.choice", {"content": "hi"})
    other = decode_log(b"", b"", named.SerializeToString())
    assert (other.event_name, other.body, other.time_ns) == ("gen_ai.choice", None, 4)


@settings(max_examples=300, deadline=None)
@given(st.binary(max_size=400))
@pytest.mark.parametrize("decode", [decode_span, decode_log])
def test_no_bytes_make_it_raise(decode: Callable[[bytes, bytes, bytes], object], data: bytes) -> None:
    decode(data, data, data)


@settings(max_examples=100, deadline=None)
@given(st.integers(min_value=0), st.binary(min_size=1, max_size=3))
def test_no_damage_to_a_span_makes_it_raise(place: int, damage: bytes) -> None:
    whole = span_bytes(attribute("a", text("x" * 20)), attribute("b", AnyValue(int_value=1)))
    at = place % len(whole)
    decode_span(b"", b"", whole[:at] + damage + whole[at + len(damage) :])


def test_links_name_spans_of_any_trace() -> None:
    span = SpanMessage(trace_id=b"\1" * 16, span_id=b"\2" * 8)
    span.links.add(trace_id=b"\3" * 16, span_id=b"\4" * 8)
    assert decode_span(b"", b"", span.SerializeToString()).links == (("03" * 16, "04" * 8),)
