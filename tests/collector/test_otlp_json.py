"""OTLP in JSON becomes the protobuf request that says the same."""

import json
import math
from collections.abc import Mapping

import pytest
from google.protobuf import json_format
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message
from hypothesis import given
from hypothesis import strategies as st
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from collector.intake import MalformedRequestError
from collector.json_text import has_more_values
from collector.otlp_json import convert
from collector.records import Signal
from tests.collector.otlp_samples import SPAN_ID, TRACE_ID, spans_of

REQUESTS: Mapping[Signal, type[Message]] = {
    Signal.TRACES: ExportTraceServiceRequest,
    Signal.LOGS: ExportLogsServiceRequest,
    Signal.METRICS: ExportMetricsServiceRequest,
}
ID_LENGTHS = {"trace_id": 16, "span_id": 8, "parent_span_id": 8}
INTEGERS = {
    FieldDescriptor.TYPE_INT32: (-(1 << 31), (1 << 31) - 1),
    FieldDescriptor.TYPE_SINT32: (-(1 << 31), (1 << 31) - 1),
    FieldDescriptor.TYPE_UINT32: (0, (1 << 32) - 1),
    FieldDescriptor.TYPE_FIXED32: (0, (1 << 32) - 1),
    FieldDescriptor.TYPE_INT64: (-(1 << 63), (1 << 63) - 1),
    FieldDescriptor.TYPE_SFIXED64: (-(1 << 63), (1 << 63) - 1),
    FieldDescriptor.TYPE_UINT64: (0, (1 << 64) - 1),
    FieldDescriptor.TYPE_FIXED64: (0, (1 << 64) - 1),
}


def scalars(field: FieldDescriptor) -> st.SearchStrategy[object]:
    if field.type in INTEGERS:
        return st.integers(*INTEGERS[field.type])
    if field.enum_type is not None:
        return st.sampled_from([value.number for value in field.enum_type.values])
    if field.type == FieldDescriptor.TYPE_DOUBLE:
        return st.floats(allow_nan=False)
    if field.type == FieldDescriptor.TYPE_BOOL:
        return st.booleans()
    if field.type == FieldDescriptor.TYPE_STRING:
        return st.text(max_size=8)
    if field.name in ID_LENGTHS:
        return st.binary(min_size=ID_LENGTHS[field.name], max_size=ID_LENGTHS[field.name])
    return st.binary(max_size=8)


def fill(draw: st.DrawFn, message: Message, depth: int) -> None:
    """A few fields of a message, chosen and filled at random."""
    possible: list[FieldDescriptor] = list(message.DESCRIPTOR.fields)
    fields = draw(st.lists(st.sampled_from(possible), max_size=4, unique_by=lambda one: one.number))
    for field in fields:
        if field.message_type is not None:
            if depth > 8:
                continue
            target = getattr(message, field.name)
            for _ in range(draw(st.integers(1, 2)) if field.is_repeated else 1):
                inner = target.add() if field.is_repeated else target
                inner.SetInParent()
                fill(draw, inner, depth + 1)
        elif field.is_repeated:
            getattr(message, field.name).extend(draw(st.lists(scalars(field), max_size=3)))
        else:
            setattr(message, field.name, draw(scalars(field)))


@st.composite
def any_request(draw: st.DrawFn) -> tuple[Signal, Message]:
    signal = draw(st.sampled_from(Signal))
    message = REQUESTS[signal]()
    fill(draw, message, 0)
    return signal, message


def with_hex_ids(value: object) -> object:
    """json_format writes ids in base64; OTLP wants them in hexadecimal."""
    if isinstance(value, dict):
        return {
            key: json_id(item) if key in ("traceId", "spanId", "parentSpanId", *ID_LENGTHS) else with_hex_ids(item)
            for key, item in value.items()
        }
    return [with_hex_ids(item) for item in value] if isinstance(value, list) else value


def json_id(text: str) -> str:
    holder = AnyValue()
    json_format.ParseDict({"bytesValue": text}, holder)
    return holder.bytes_value.hex()


@given(any_request(), st.booleans(), st.booleans())
def test_any_message_of_any_signal_survives_the_way_through_json(
    made: tuple[Signal, Message], proto_names: bool, enum_numbers: bool
) -> None:
    signal, message = made
    document = json_format.MessageToDict(
        message, preserving_proto_field_name=proto_names, use_integers_for_enums=enum_numbers
    )
    converted = convert(signal, json.dumps(with_hex_ids(document)).encode())
    assert REQUESTS[signal].FromString(converted.request) == message


def span_json(**fields: object) -> bytes:
    ids = {"traceId": TRACE_ID.hex(), "spanId": SPAN_ID.hex()}
    return json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": [{**ids, **fields}]}]}]}).encode()


def only_span(text: bytes) -> Span:
    (span,) = spans_of(convert(Signal.TRACES, text).request)
    return span


def value_json(value: object) -> bytes:
    return span_json(attributes=[{"key": "k", "value": value}])


def only_value(value: object) -> AnyValue:
    return only_span(value_json(value)).attributes[0].value


def test_ids_are_hexadecimal_in_either_case() -> None:
    assert only_span(span_json(traceId="5B8EFFF798038103d269b633813fc60c")).trace_id.hex().startswith("5b8efff7")


@pytest.mark.parametrize(
    ("value", "number"),
    [
        (1544712660123456789, 1544712660123456789),
        ("1544712660123456789", 1544712660123456789),
        (-(1 << 63), -(1 << 63)),
        (str((1 << 63) - 1), (1 << 63) - 1),
        (5.0, 5),
        ("-0", 0),
    ],
)
def test_an_integer_may_be_a_number_or_text_and_keeps_its_64_bits(value: object, number: int) -> None:
    assert only_value({"intValue": value}).int_value == number


@pytest.mark.parametrize(
    ("value", "number"),
    [(1, 1.0), (0.1, 0.1), ("3.14", 3.14), ("-1e3", -1000.0), ("Infinity", math.inf), ("-Infinity", -math.inf)],
)
def test_a_double_may_be_a_number_or_text(value: object, number: float) -> None:
    assert only_value({"doubleValue": value}).double_value == number


def test_a_double_may_be_no_number() -> None:
    assert math.isnan(only_value({"doubleValue": "NaN"}).double_value)


@pytest.mark.parametrize("text", ["YWL/", "YWL_"])
def test_bytes_are_base64_in_both_alphabets(text: str) -> None:
    assert only_value({"bytesValue": text}).bytes_value == b"ab\xff"


@pytest.mark.parametrize("text", ["YQ==", "YQ"])
def test_bytes_may_lack_their_padding(text: str) -> None:
    assert only_value({"bytesValue": text}).bytes_value == b"a"


def test_the_empty_string_is_a_value_and_nothing_is_none() -> None:
    assert only_value({"stringValue": ""}).WhichOneof("value") == "string_value"
    assert only_value({}).WhichOneof("value") is None
    assert only_value({"stringValue": None}).WhichOneof("value") is None
    assert only_value(None).WhichOneof("value") is None


def test_enums_may_be_numbers_names_and_unknown_numbers() -> None:
    assert only_span(span_json(kind=3)).kind == 3
    assert only_span(span_json(kind="SPAN_KIND_CLIENT")).kind == 3
    assert only_span(span_json(kind=99)).kind == 99


def test_null_is_the_default_and_unknown_fields_are_ignored() -> None:
    span = only_span(span_json(name=None, status=None, attributes=None, somethingNew={"a": [1]}))
    assert (span.name, len(span.attributes)) == ("", 0)


def test_of_equal_keys_the_last_counts() -> None:
    text = span_json(name="first").replace(b'"name"', b'"name": "zeroth", "name"')
    assert only_span(text).name == "first"


@pytest.mark.parametrize(
    ("escaped", "name"),
    [
        (rb"na\u00efve \ud83d\ude00", "naïve 😀"),
        (rb"\ud83d", "\ufffd"),
        (rb"\ude00 tail", "\ufffd tail"),
        (rb"\ud83d\ud83d\ude00", "\ufffd😀"),
        (rb"\\ud83d \ud83d", "\\ud83d \ufffd"),
        (b"caf\xe9", "caf\ufffd"),
        (b"\xed\xa0\xbd", "\ufffd\ufffd\ufffd"),
    ],
    ids=["a pair", "first half", "second half", "half and pair", "escaped backslash", "Latin-1", "raw surrogate"],
)
def test_broken_text_costs_a_replacement_character_and_no_span(escaped: bytes, name: str) -> None:
    assert only_span(span_json(name="NAME").replace(b"NAME", escaped)).name == name


def test_a_text_of_nothing_but_broken_escapes_is_refused_after_bounded_work() -> None:
    with pytest.raises(MalformedRequestError, match="surrogate"):
        convert(Signal.TRACES, span_json(name="NAME").replace(b"NAME", rb"\ud83d" * 500_002))


def test_a_byte_order_mark_is_passed_over() -> None:
    assert convert(Signal.TRACES, b"\xef\xbb\xbf{}").request == b""


REFUSED = [
    (b"", "not JSON"),
    (b"{", "not JSON"),
    (b'{"a": NaN}', "not JSON"),
    (b"[]", "an object is due, not an array"),
    (b'"text"', "an object is due, not a string"),
    (b"null", "an object is due, not null"),
    (b'{"resourceSpans": {}}', "resourceSpans: an array is due, not an object"),
    (b'{"resourceSpans": [7]}', "resourceSpans[0]: an object is due, not a number"),
    (span_json(traceId="AQIDBAUGBwgJCgsMDQ4PEA=="), "spans[0].traceId: 32 hexadecimal digits are due"),
    (span_json(traceId=TRACE_ID.hex()[:-1]), "spans[0].traceId: 32 hexadecimal digits are due"),
    (span_json(traceId=TRACE_ID.hex() + "00"), "spans[0].traceId: 32 hexadecimal digits are due"),
    (span_json(traceId=" " + TRACE_ID.hex()[:-1]), "spans[0].traceId: 32 hexadecimal digits are due"),
    (span_json(spanId=17), "spans[0].spanId: hexadecimal text is due, not a number"),
    (span_json(links=[{"spanId": "zz"}]), "spans[0].links[0].spanId: 16 hexadecimal digits are due"),
    (span_json(name=5), "spans[0].name: a string is due, not a number"),
    (span_json(kind="CLIENT"), "spans[0].kind: a number or a name of this enum is due"),
    (span_json(startTimeUnixNano=-1), "startTimeUnixNano: an integer from 0 to 18446744073709551615 is due"),
    (span_json(startTimeUnixNano="1_0"), "startTimeUnixNano: an integer is due, and this text is none"),
    (span_json(flags=1 << 32), "flags: an integer from 0 to 4294967295 is due"),
    (value_json({"intValue": "3.f14"}), "attributes[0].value.intValue: an integer is due"),
    (value_json({"intValue": True}), "value.intValue: an integer is due, not a boolean"),
    (value_json({"intValue": 1 << 64}), "value.intValue: an integer is due, and this number is none"),
    (value_json({"intValue": 1.5}), "value.intValue: an integer is due, and this number is none"),
    (value_json({"doubleValue": "nan"}), "value.doubleValue: a number is due, and this text is none"),
    (value_json({"doubleValue": False}), "value.doubleValue: a number is due, not a boolean"),
    (value_json({"boolValue": "true"}), "value.boolValue: true or false is due, not a string"),
    (value_json({"bytesValue": "***"}), "value.bytesValue: base64 text is due, and this is none"),
    (value_json({"arrayValue": {"values": [{}, {"stringValue": 1}]}}), "arrayValue.values[1].stringValue: a string"),
]


@pytest.mark.parametrize(("text", "complaint"), REFUSED, ids=[row[1] for row in REFUSED])
def test_what_does_not_fit_is_refused_naming_the_place(text: bytes, complaint: str) -> None:
    with pytest.raises(MalformedRequestError) as caught:
        convert(Signal.TRACES, text)
    assert complaint in str(caught.value)


def test_a_refusal_quotes_nothing_of_the_content() -> None:
    with pytest.raises(MalformedRequestError) as caught:
        convert(Signal.TRACES, value_json({"intValue": "my secret"}))
    assert "secret" not in str(caught.value)


def nested_json(levels: int) -> bytes:
    before, after = b'{"arrayValue":{"values":[', b"]}}"
    return value_json("VALUE").replace(b'"VALUE"', before * levels + b'{"intValue":"1"}' + after * levels)


def test_values_may_be_nested_as_deep_as_readers_of_protobuf_go() -> None:
    spans_of(convert(Signal.TRACES, nested_json(47)).request)
    with pytest.raises(MalformedRequestError, match="nested deeper than 100 messages"):
        convert(Signal.TRACES, nested_json(48))


@pytest.mark.parametrize("levels", [300, 5_000, 100_000])
def test_absurd_nesting_is_refused(levels: int) -> None:
    with pytest.raises(MalformedRequestError):
        convert(Signal.TRACES, nested_json(levels))


def test_absurdly_many_items_are_refused() -> None:
    with pytest.raises(MalformedRequestError, match="resourceSpans: more than 1000000 items"):
        convert(Signal.TRACES, b'{"resourceSpans":[' + b"{}," * 1_000_000 + b"{}]}")


def test_a_text_of_absurdly_many_values_is_refused_before_it_is_read() -> None:
    with pytest.raises(MalformedRequestError, match="more than 5000000 values in one traces request"):
        convert(Signal.TRACES, b'{"unknown":[' + b"{}," * 3_000_000 + b"{}]}")


def test_what_stands_in_strings_is_no_value_however_much_it_looks_like_one() -> None:
    (span,) = spans_of(
        convert(Signal.TRACES, value_json({"stringValue": "TEXT"}).replace(b"TEXT", b"[{," * 2_000_000)).request
    )
    assert len(span.attributes[0].value.string_value) == 6_000_000


@given(
    st.recursive(
        st.none() | st.text(alphabet='a"\\,[{\n'),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(alphabet='"\\,[{'), inner),
    ),
    st.integers(0, 10),
)
def test_values_are_counted_by_the_marks_outside_strings(value: object, limit: int) -> None:
    assert has_more_values(json.dumps(value).encode(), limit) == (marks_of(value) > limit)


def marks_of(value: object) -> int:
    """An opening bracket, and a comma after each item but the last."""
    if isinstance(value, dict):
        value = list(value.values())
    return 1 + max(len(value) - 1, 0) + sum(map(marks_of, value)) if isinstance(value, list) else 0


@given(st.binary(max_size=60) | st.text(alphabet='{}[]":,0a\\ud8', max_size=40).map(str.encode))
def test_random_text_is_refused_or_converted_never_a_crash(text: bytes) -> None:
    try:
        convert(Signal.TRACES, text)
    except MalformedRequestError as error:
        assert "JSON" in str(error)


@pytest.mark.parametrize(
    ("text", "named"),
    [
        (b'{"ResourceSpans": []}', "ResourceSpans"),
        (b'{"spans": [{"name": "x"}]}', "spans"),
        (b'{"resourceSpans": [{"instrumentationLibrarySpans": [{}]}]}', "instrumentationLibrarySpans"),
        (b'{"resourceSpans": [{"scopeSpans": [{"Spans": []}]}]}', "Spans"),
        (b'{"a b": 1}', "(not shown)"),
    ],
)
def test_a_request_without_items_but_with_unknown_names_is_warned_about(text: bytes, named: str) -> None:
    warning = convert(Signal.TRACES, text).warning
    assert f"unknown names {named}" in warning
    assert "resourceSpans.scopeSpans.spans" in warning


@pytest.mark.parametrize(
    "text", [b"{}", b'{"resourceSpans": []}', b'{"extra": null}', span_json(unknownField=1), b'{"resource_spans":[{}]}']
)
def test_there_is_no_warning_where_nothing_got_lost(text: bytes) -> None:
    assert convert(Signal.TRACES, text).warning == ""
