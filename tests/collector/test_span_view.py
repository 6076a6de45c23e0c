"""What the console reads out of a span."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from collector.exporters.span_view import MAX_SCORES, SpanView, UnreadableRequestError, clean, read_spans
from tests.collector.console_spans import TRACE_ID, Value, bad, good, request, span


def only(*attributes: dict[str, Value], **fields: Any) -> SpanView:
    merged: dict[str, Any] = {}
    for given_attributes in attributes:
        merged |= given_attributes
    (view,) = read_spans(request(span(1, **merged, **fields)))
    return view


def test_ids_name_service_and_times_are_read() -> None:
    (view,) = read_spans(request(span(1, 7, "find hotels", duration_ms=250), service="desk"))
    assert (view.trace_id, view.span_id, view.parent_id) == (TRACE_ID, "0000000000000001", "0000000000000007")
    assert (view.name, view.service, view.duration_s) == ("find hotels", "desk", 0.25)


def test_a_score_is_read_with_its_label_codes_and_reason() -> None:
    (score,) = only(bad("tool_selection", "unknown_tool", "No such tool was offered.")).scores
    assert (score.evaluator, score.label, score.score, score.passed) == ("tool_selection", "incorrect", 0.0, False)
    assert (score.codes, score.explanation, score.failed) == (("unknown_tool",), "No such tool was offered.", True)


def test_scores_of_several_evaluators_come_in_the_order_of_their_names() -> None:
    view = only(good("tool_selection"), good("step_efficiency"), good("tool_invocation"))
    assert [score.evaluator for score in view.scores] == ["step_efficiency", "tool_invocation", "tool_selection"]


def test_a_status_without_a_score_is_unscored_and_no_fault() -> None:
    (score,) = only({"eval__task_completion__label": "unscored", "eval__task_completion__status": "needs_judge"}).scores
    assert (score.unscored, score.failed, score.status) == (True, False, "needs_judge")


@pytest.mark.parametrize(
    "attributes",
    [{"eval__late": True}, {"eval__x__run__mean": 0.5}, {"evaluation__x__label": "bad"}, {"eval__x__metadata": "m"}],
)
def test_attributes_that_are_no_verdict_are_not_taken_for_one(attributes: dict[str, Value]) -> None:
    assert only(attributes).scores == ()


@pytest.mark.parametrize(
    ("key", "value", "kind"),
    [
        ("openinference__span__kind", "TOOL", "tool"),
        ("gen_ai__operation__name", "chat", "llm"),
        ("gen_ai__operation__name", "execute_tool", "tool"),
        ("gen_ai__operation__name", "invoke_agent", "agent"),
        ("traceloop__span__kind", "workflow", "agent"),
        ("gen_ai__operation__name", "something new", ""),
    ],
)
def test_the_kind_is_told_in_one_word(key: str, value: str, kind: str) -> None:
    assert only({key: value}).kind == kind


def test_a_parent_in_another_process_is_told_from_one_that_is_missing() -> None:
    remote, unknown = read_spans(request(span(1, 9, flags=0x300), span(2, 9, flags=0)))
    assert (remote.remote_parent, unknown.remote_parent) == (True, False)


def test_impossible_clocks_give_no_duration() -> None:
    (view,) = read_spans(request(span(1, duration_ms=-5)))
    assert view.duration_s is None


def test_an_invalid_byte_in_one_name_hides_no_other_span() -> None:
    broken = request(span(1, name="a" * 9), span(2, name="fine")).replace(b"a" * 9, b"\xff" * 9)
    assert [view.name for view in read_spans(broken)] == ["�" * 9, "fine"]


def delimited(field: int, content: bytes) -> bytes:
    size, length = b"", len(content)
    while length > 0x7F:
        size, length = size + bytes([length & 0x7F | 0x80]), length >> 7
    return bytes([field << 3 | 2]) + size + bytes([length]) + content


def test_a_value_nested_beyond_all_measure_hides_no_other_span() -> None:
    deep = b""
    for _ in range(2_000):
        deep = delimited(5, delimited(1, deep))
    nested = span(1, name="deep").SerializeToString() + delimited(
        9, delimited(1, b"eval.a.issues") + delimited(2, deep)
    )
    scope_spans = delimited(2, nested) + delimited(2, span(2, name="fine").SerializeToString())
    views = read_spans(delimited(1, delimited(2, scope_spans)))
    assert [view.name for view in views] == ["deep", "fine"]


def test_bytes_that_are_no_request_are_refused() -> None:
    with pytest.raises(UnreadableRequestError):
        read_spans(b"\x0a\xff\xff\xff\xff\x0fnothing")


@pytest.mark.parametrize(
    ("hostile", "shown"),
    [
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b]0;title\x07name", "name"),
        ("\x9b2Jname", "name"),
        ("one\r\ntwo\tthree", "one two three"),
        ("abc\u202edef\u200b", "abcdef"),
        ("a\u2028b", "a b"),
        ("[bold]kept[/bold]", "[bold]kept[/bold]"),
        ("北京 ✈ été", "北京 ✈ été"),
    ],
)
def test_text_is_cleaned_to_one_harmless_line(hostile: str, shown: str) -> None:
    assert clean(hostile, 80) == shown


@given(st.text(max_size=300), st.integers(1, 60))
def test_cleaned_text_is_short_and_has_no_control_characters(text: str, limit: int) -> None:
    line = clean(text, limit)
    assert len(line) <= limit
    assert not any(ord(char) < 32 or 127 <= ord(char) < 160 for char in line)


@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(request_bytes: bytes) -> None:
    try:
        views = read_spans(request_bytes)
    except UnreadableRequestError:
        return
    assert all(isinstance(view, SpanView) for view in views)


def test_a_span_full_of_verdicts_is_cut_short() -> None:
    many = only(*(good(f"evaluator_{number:04}") for number in range(1_000)))
    assert [score.evaluator for score in many.scores] == [f"evaluator_{number:04}" for number in range(MAX_SCORES)]


def test_an_empty_request_has_no_spans() -> None:
    assert read_spans(ExportTraceServiceRequest().SerializeToString()) == []
