"""When the console prints a trace, told with a clock that the tests turn."""

from __future__ import annotations

import pytest
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from collector.exporters import trace_gathering
from collector.exporters.span_view import SpanView, read_spans
from collector.exporters.trace_gathering import IDLE_S, SETTLE_S, Gathering
from tests.collector.console_spans import good, request, span


def views(*spans: Span) -> list[SpanView]:
    return read_spans(request(*spans))


def other_trace(number: int) -> str:
    return f"{number:032x}"


def test_a_trace_is_due_a_moment_after_its_top_span() -> None:
    gathering = Gathering()
    gathering.add(views(span(2, 1, **good("a"))), now_s=0)
    gathering.add(views(span(1)), now_s=1)
    assert gathering.take_due(1 + SETTLE_S - 0.01) == []
    (trace,) = gathering.take_due(1 + SETTLE_S)
    assert len(trace.spans) == 2


def test_a_part_that_follows_the_top_span_at_once_is_printed_with_it() -> None:
    gathering = Gathering()
    gathering.add(views(span(1)), now_s=0)
    gathering.add(views(span(2, 1, **good("a"))), now_s=SETTLE_S / 2)
    assert gathering.take_due(SETTLE_S) == []
    (trace,) = gathering.take_due(SETTLE_S * 1.5)
    assert len(trace.spans) == 2


def test_without_a_top_span_a_trace_is_due_after_a_quiet_time() -> None:
    gathering = Gathering()
    gathering.add(views(span(2, 1, **good("a"))), now_s=0)
    assert gathering.next_due_s == IDLE_S
    assert gathering.take_due(IDLE_S - 0.01) == []
    assert len(gathering.take_due(IDLE_S)) == 1


def test_a_span_with_its_parent_in_another_process_is_a_top_span() -> None:
    gathering = Gathering()
    gathering.add(views(span(2, 1, flags=0x300, **good("a"))), now_s=0)
    assert len(gathering.take_due(SETTLE_S)) == 1


def test_a_trace_without_a_score_is_counted_and_not_printed() -> None:
    gathering = Gathering()
    gathering.add(views(span(1), span(2, trace_id=other_trace(1))), now_s=0)
    assert gathering.take_due(SETTLE_S) == []
    assert gathering.take_counts() == (2, 0)
    assert gathering.take_counts() == (0, 0)


def test_what_comes_after_printing_is_a_continuation() -> None:
    gathering = Gathering()
    gathering.add(views(span(1, **good("a"))), now_s=0)
    gathering.take_due(SETTLE_S)
    gathering.add(views(span(2, 1, **good("b")), span(3, 1)), now_s=100)
    (trace,) = gathering.take_all()
    assert trace.continued


def test_unscored_spans_after_printing_count_as_no_new_trace() -> None:
    gathering = Gathering()
    gathering.add(views(span(1, **good("a"))), now_s=0)
    gathering.take_due(SETTLE_S)
    gathering.add(views(span(3, 1)), now_s=100)
    assert gathering.take_all() == []
    assert gathering.take_counts() == (0, 0)


def test_the_same_span_twice_is_one_span() -> None:
    gathering = Gathering()
    gathering.add(views(span(1, **good("a"))), now_s=0)
    gathering.add(views(span(1, **good("a"))), now_s=0)
    (trace,) = gathering.take_all()
    assert len(trace.spans) == 1


def test_one_giant_trace_keeps_a_bounded_number_of_spans(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trace_gathering, "MAX_SPANS_OF_TRACE", 10)
    gathering = Gathering()
    gathering.add(views(span(1, **good("a")), *(span(number, 1) for number in range(2, 40))), now_s=0)
    (trace,) = gathering.take_all()
    assert (len(trace.spans), trace.omitted) == (10, 29)


def test_the_trace_that_waited_longest_goes_when_there_are_too_many_spans(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trace_gathering, "MAX_WEIGHT", 20)
    gathering = Gathering()
    for number in range(1, 13):
        gathering.add(views(span(2, 1, trace_id=other_trace(number), **good("a"))), now_s=0)
    assert [trace.trace_id for trace in gathering.take_due(0)] == [other_trace(1), other_trace(2)]


def test_of_traces_that_are_due_together_the_one_that_began_first_comes_first() -> None:
    gathering = Gathering()
    for number in (3, 1, 2):
        gathering.add(views(span(1, start_ms=number, trace_id=other_trace(number), **good("a"))), now_s=0)
    assert [trace.trace_id for trace in gathering.take_all()] == [other_trace(number) for number in (1, 2, 3)]


def test_what_nobody_takes_is_dropped_and_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trace_gathering, "MAX_WEIGHT", 2)
    monkeypatch.setattr(trace_gathering, "MAX_WAITING_TRACES", 3)
    gathering = Gathering()
    for number in range(1, 8):
        gathering.add(views(span(1, trace_id=other_trace(number), **good("a"))), now_s=0)
    assert gathering.take_counts() == (0, 3)
    assert [trace.trace_id for trace in gathering.take_all()] == [other_trace(number) for number in (4, 5, 6, 7)]
