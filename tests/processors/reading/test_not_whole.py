"""What a transcript must not depend on: how and in which order a trace came, and what stands round its runs.

Each is tried on a recorded run of every dialect, so on what instrumentations really write.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

from evaluators.cases import JsonValue
from processors.otlp import Log, Span, SpanKind, decode_log, decode_span
from processors.reading.transcribe import transcribe
from processors.transcript import Transcript
from processors.transcript_json import transcript_json
from tests.processors.recorded_runs import runs_of_each_dialect, saved

GONE = "f" * 16
REMOTE = 0x301
YEARS_NS = 30 * 365 * 24 * 3600 * 10**9


class Telemetry(NamedTuple):
    """The spans and log records of one trace in order of arrival."""

    spans: list[Span]
    logs: list[Log]

    @property
    def transcript(self) -> Transcript:
        """What is understood of it."""
        return transcribe(self.spans[0].trace_id, self.spans, self.logs)


@cache
def traces_of(run: Path) -> list[Telemetry]:
    """The traces of a recorded run."""
    return [
        Telemetry(
            [decode_span(one.origin.resource, one.origin.scope, one.span) for one in trace.spans],
            [decode_log(one.origin.resource, one.origin.scope, one.record) for one in trace.logs],
        )
        for trace in saved(run).traces
    ]


def understood(trace: Telemetry) -> dict[str, JsonValue]:
    """Everything that was understood, apart from spans that tell nothing."""
    told = transcript_json(trace.transcript)
    return {key: value for key, value in told.items() if not key.startswith("un")}


RUNS = pytest.mark.parametrize("run", runs_of_each_dialect(), ids=lambda run: run.parent.name)


def is_root(span: Span, spans: Sequence[Span]) -> bool:
    return span.parent_id not in {one.span_id for one in spans}


def encloses(span: Span, spans: Sequence[Span]) -> bool:
    return any(one.parent_id == span.span_id for one in spans)


def with_roots(trace: Telemetry, change: Callable[[Span], Span]) -> Telemetry:
    return trace._replace(spans=[change(span) if is_root(span, trace.spans) else span for span in trace.spans])


def shuffled(seed: int) -> Callable[[Telemetry], Telemetry]:
    def change(trace: Telemetry) -> Telemetry:
        order = random.Random(seed)
        spans = order.sample(trace.spans, len(trace.spans))
        # Only their order of arrival tells records of one moment apart, and a request keeps it.
        moments = list(dict.fromkeys((log.span_id, log.time_ns) for log in trace.logs))
        places = {moment: place for place, moment in enumerate(order.sample(moments, len(moments)))}
        return Telemetry(spans, sorted(trace.logs, key=lambda log: places[log.span_id, log.time_ns]))

    return change


def everything_twice(trace: Telemetry) -> Telemetry:
    return Telemetry([*trace.spans, *trace.spans[::-1]], [*trace.logs, *trace.logs])


def from_several_services(trace: Telemetry) -> Telemetry:
    return trace._replace(
        spans=[replace(span, resource={"service.name": f"s{at % 3}"}) for at, span in enumerate(trace.spans)]
    )


def called_from_another_process(trace: Telemetry) -> Telemetry:
    return with_roots(trace, lambda span: replace(span, parent_id=GONE, flags=REMOTE))


def below_a_parent_that_never_comes(trace: Telemetry) -> Telemetry:
    return with_roots(trace, lambda span: replace(span, parent_id=GONE))


def below_a_server(trace: Telemetry) -> Telemetry:
    start_ns = min(span.start_ns for span in trace.spans)
    server = Span(
        trace_id=trace.spans[0].trace_id,
        span_id=GONE,
        name="POST /chat",
        kind=SpanKind.SERVER,
        start_ns=start_ns - 1000,
        end_ns=start_ns + 10**12,
        attributes={"http.request.method": "POST"},
    )
    below = below_a_parent_that_never_comes(trace)
    return below._replace(spans=[*below.spans, server])


def with_a_root_that_ends_at_once(trace: Telemetry) -> Telemetry:
    return with_roots(trace, lambda span: replace(span, end_ns=span.start_ns))


def with_a_root_whose_clock_is_behind(trace: Telemetry) -> Telemetry:
    end_ns = max(span.end_ns for span in trace.spans)

    def change(span: Span) -> Span:
        return replace(span, start_ns=end_ns + 1, end_ns=end_ns + 2) if encloses(span, trace.spans) else span

    return with_roots(trace, change)


def years_earlier(trace: Telemetry) -> Telemetry:
    return trace._replace(
        spans=[replace(span, start_ns=span.start_ns - YEARS_NS, end_ns=span.end_ns - YEARS_NS) for span in trace.spans]
    )


CHANGES: dict[str, Callable[[Telemetry], Telemetry]] = {
    "in another order": shuffled(1),
    "in a third order": shuffled(2),
    "the other way round": lambda trace: Telemetry(trace.spans[::-1], trace.logs),
    "everything twice": everything_twice,
    "from several services": from_several_services,
    "called from another process": called_from_another_process,
    "below a parent that never comes": below_a_parent_that_never_comes,
    "below a server's span": below_a_server,
    "with a root that ends at once": with_a_root_that_ends_at_once,
    "with a root whose clock is behind": with_a_root_whose_clock_is_behind,
    "years earlier": years_earlier,
}


@RUNS
@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_the_transcript_stays_the_same(run: Path, change: Callable[[Telemetry], Telemetry]) -> None:
    for trace in traces_of(run):
        assert understood(change(trace)) == understood(trace)


@RUNS
def test_two_runs_in_one_trace_are_told_apart(run: Path) -> None:
    """As where a front end keeps one trace for a whole conversation: several roots, or several below one span."""
    for trace in traces_of(run):

        def renamed(name: str | None) -> str | None:
            return None if name is None else f"{int(name, 16) ^ 0x5A5A:016x}"

        def later(span: Span) -> Span:
            return replace(
                span,
                span_id=renamed(span.span_id) or "",
                parent_id=renamed(span.parent_id),
                start_ns=span.start_ns + 3600 * 10**9,
                end_ns=span.end_ns + 3600 * 10**9,
            )

        again = Telemetry(
            [later(span) for span in trace.spans],
            [replace(log, span_id=renamed(log.span_id) or "" if log.span_id else "") for log in trace.logs],
        )
        alone = trace.transcript
        both = Telemetry([*trace.spans, *again.spans], [*trace.logs, *again.logs]).transcript
        if alone.headless:
            continue
        assert [len(one.calls) for one in both.runs] == [len(one.calls) for one in alone.runs] * 2
        assert [one.final_answer for one in both.runs] == [one.final_answer for one in alone.runs] * 2
