"""What a trace's verdicts must not depend on: order, copies, neighbours, ids, clocks, and what others said about it."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from processors.judging import TraceInput, TraceJudge
from processors.reading.transcribe import transcribe_trace
from processors.verdicts.telling import Raw
from tests.processors.account_runs import (
    AGENT,
    CONVENTIONS,
    FIRST,
    LAST,
    REJECTED,
    SERVICE,
    TRACE_ID,
    Convention,
    judged,
    outcome,
    span_id,
)
from tests.processors.ordinary import ordinary_evaluators

YEAR_NS = 365 * 24 * 3600 * 10**9
STRANGER = 500


def edited(raw: Raw, change: Callable[[Span], None]) -> Raw:
    span = Span.FromString(raw[2])
    change(span)
    return raw[0], raw[1], span.SerializeToString()


def every(change: Callable[[Span], None]) -> Callable[[list[Raw]], list[Raw]]:
    return lambda spans: [edited(raw, change) for raw in spans]


def attribute(key: str, value: str) -> KeyValue:
    return KeyValue(key=key, value=AnyValue(string_value=value))


def stranger(number: int, parent: int, name: str, scope: bytes = b"", **attributes: str) -> Raw:
    span = Span(
        trace_id=TRACE_ID,
        span_id=span_id(STRANGER + number),
        parent_span_id=span_id(parent) if parent else b"",
        name=name,
        start_time_unix_nano=10**18 + 1,
        end_time_unix_nano=10**18 + 8000,
        attributes=[attribute(key.replace("__", "."), value) for key, value in attributes.items()],
    )
    return SERVICE, scope, span.SerializeToString()


def shuffled(spans: list[Raw]) -> list[Raw]:
    return random.Random(7).sample(spans, len(spans))


def other_attribute_order(span: Span) -> None:
    pairs = sorted(span.attributes, key=lambda pair: pair.key, reverse=True)
    del span.attributes[:]
    span.attributes.extend(pairs)


def client_spans_below_each(spans: list[Raw]) -> list[Raw]:
    below = [stranger(number, number, "POST", http__request__method="POST") for number in range(AGENT, LAST + 1)]
    return [one for pair in zip(spans, below, strict=True) for one in pair]


def a_server_span_above(spans: list[Raw]) -> list[Raw]:
    return [*below_an_unseen_parent(spans), stranger(0, 0, "POST /chat", http__request__method="POST")]


def below_an_unseen_parent(spans: list[Raw]) -> list[Raw]:
    def change(span: Span) -> None:
        span.parent_span_id = span.parent_span_id or span_id(STRANGER)

    return every(change)(spans)


def later(by_ns: int) -> Callable[[list[Raw]], list[Raw]]:
    def change(span: Span) -> None:
        span.start_time_unix_nano += by_ns
        span.end_time_unix_nano += by_ns

    return every(change)


def scored_by_somebody_else(span: Span) -> None:
    span.attributes.extend([attribute("eval.other.label", "fail"), attribute("gen_ai.evaluation.score.label", "bad")])
    span.attributes.append(attribute("eval", "x"))


def evaluated_in_the_trace(spans: list[Raw]) -> list[Raw]:
    """Evaluation spans of ours and of others, and a model that was asked to rate the answer."""
    ours = stranger(1, LAST, "evaluation tool_selection", b"\x0a\x09spanjudge", gen_ai__operation__name="evaluation")
    theirs = stranger(2, AGENT, "evaluate", openinference__span__kind="EVALUATOR", input__value="rate this")
    rating = stranger(
        3,
        STRANGER + 2,
        "ChatCompletion",
        openinference__span__kind="LLM",
        llm__input_messages__0__message__role="user",
        llm__input_messages__0__message__content="Rate the answer from 1 to 10.",
        llm__output_messages__0__message__role="assistant",
        llm__output_messages__0__message__content="7",
    )
    return [*spans, ours, theirs, rating]


CHANGES: dict[str, Callable[[list[Raw]], list[Raw]]] = {
    "the other way round": lambda spans: spans[::-1],
    "shuffled": shuffled,
    "everything twice": lambda spans: [*spans, *spans[::-1]],
    "attributes in another order": every(other_attribute_order),
    "other spans in between": client_spans_below_each,
    "below a server's span": a_server_span_above,
    "below a span that never arrives": below_an_unseen_parent,
    "years later": later(30 * YEAR_NS),
    "years earlier": later(-30 * YEAR_NS),
    "from a nameless service": lambda spans: [(b"", scope, span) for _, scope, span in spans],
    "scored by somebody else": every(scored_by_somebody_else),
    "evaluated within the trace": evaluated_in_the_trace,
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
@pytest.mark.parametrize(
    ("answer", "result", "error"),
    [("I could not find it.", None, REJECTED), ("It is on the basic plan.", '{"plan": "basic"}', None)],
    ids=["refused", "answered"],
)
@CONVENTIONS
async def test_the_verdicts_stay_the_same(
    convention: Convention,
    answer: str,
    result: str | None,
    error: str | None,
    change: Callable[[list[Raw]], list[Raw]],
) -> None:
    spans = convention(answer, result, error)
    expected = sorted(map(outcome, (await judged(spans)).verdicts))
    assert len(expected) > 5
    assert sorted(map(outcome, (await judged(change(spans))).verdicts)) == expected


@CONVENTIONS
async def test_other_ids_change_nothing_but_the_ids(convention: Convention) -> None:
    def renamed(old: bytes) -> bytes:
        return bytes(byte ^ 0x5A for byte in old)

    def change(span: Span) -> None:
        span.trace_id, span.span_id = renamed(span.trace_id), renamed(span.span_id)
        span.parent_span_id = renamed(span.parent_span_id)

    spans = convention("I could not find it.", None, REJECTED)
    expected = [
        (renamed(bytes.fromhex(told[0])).hex(), *told[1:]) for told in map(outcome, (await judged(spans)).verdicts)
    ]
    trace = TraceInput(trace_id=renamed(TRACE_ID), spans=every(change)(spans))
    found = await TraceJudge(ordinary_evaluators(), read=transcribe_trace).judge(trace)
    assert sorted(map(outcome, found.verdicts)) == sorted(expected)


@CONVENTIONS
async def test_without_the_run_span_the_steps_are_judged_the_same(convention: Convention) -> None:
    spans = convention("I could not find it.", None, REJECTED)
    steps = {"tool_selection", "tool_invocation", "tool_response_handling"}
    whole = {outcome(one) for one in (await judged(spans)).verdicts if one.verdict.evaluator in steps}
    headless = {outcome(one) for one in (await judged(spans[:-1])).verdicts}
    assert whole <= headless
    assert {told[0] for told in headless - whole} == {span_id(LAST).hex()}


@CONVENTIONS
async def test_a_span_sent_again_with_other_content_is_not_believed(convention: Convention) -> None:
    spans = convention("I could not find it.", None, REJECTED)
    forged = edited(spans[0], lambda span: span.ClearField("attributes"))
    assert spans[0] != forged and Span.FromString(forged[2]).span_id == span_id(FIRST)
    expected = sorted(map(outcome, (await judged(spans)).verdicts))
    assert sorted(map(outcome, (await judged([*spans, forged])).verdicts)) == expected
