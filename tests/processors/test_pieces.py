"""Traces that are pieces of one run: each verdict once, on the span it would stand on if the run were one trace."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence

import pytest
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from evaluators.verdict import Status
from processors.judging import TraceInput, TraceJudge, TraceScores
from processors.otlp import decode_span
from processors.pieces import Pieces
from processors.reading.rejoining import Asked, Piece, Rejoin, continues
from processors.reading.transcribe import transcribe_trace
from processors.whole_runs import WholeRuns
from tests.processors.account_runs import (
    AGENT,
    CONVENTIONS,
    FIRST,
    LAST,
    REJECTED,
    SECOND,
    TOOL,
    Convention,
    judged,
    outcome,
    span_id,
)
from tests.processors.bare_calls import MODEL_CALLS, bare, carrying, edited, number_of
from tests.processors.ordinary import ordinary_evaluators

SORRY = "I could not find it."


def judge_of(by: Rejoin = Rejoin.HISTORY, pieces: Pieces | None = None) -> TraceJudge:
    evaluators = ordinary_evaluators()
    return TraceJudge(evaluators, read=transcribe_trace, pieces=Pieces(by) if pieces is None else pieces)


async def judged_together(traces: Sequence[TraceInput], judge: TraceJudge | None = None) -> list[TraceScores]:
    judge = judge or judge_of()
    judge.expect(traces)
    return [await judge.judge(trace) for trace in traces]


def outcomes(found: Iterable[TraceScores]) -> list[tuple[str, str, str, str]]:
    return sorted(outcome(one) for scores in found for one in scores.verdicts)


def targets(found: Iterable[TraceScores], evaluator: str) -> list[int]:
    return sorted(int(span, 16) for span, name, _, _ in outcomes(found) if name == evaluator)


@CONVENTIONS
async def test_pieces_get_the_verdicts_that_their_spans_would_get_in_one_trace(convention: Convention) -> None:
    spans = convention(SORRY, None, REJECTED)
    whole = await judged([raw for raw in spans if number_of(raw) in MODEL_CALLS])
    assert outcomes(await judged_together(bare(spans))) == outcomes([whole])


@CONVENTIONS
@pytest.mark.parametrize("seed", range(6))
async def test_the_order_of_judging_what_arrived_together_makes_no_difference(
    convention: Convention, seed: int
) -> None:
    traces = bare(convention(SORRY, None, REJECTED))
    judge = judge_of()
    judge.expect(traces)
    order = random.Random(seed).sample(traces, len(traces))
    assert outcomes([await judge.judge(trace) for trace in order]) == outcomes(await judged_together(traces))


@CONVENTIONS
async def test_a_run_is_judged_once_where_it_ends(convention: Convention) -> None:
    found = await judged_together(bare(convention(SORRY, None, REJECTED)))
    assert targets(found, "task_completion") == targets(found, "step_efficiency") == [LAST]
    assert targets(found, "tool_selection") == [FIRST, SECOND]
    assert targets(found, "tool_response_handling") == [SECOND, LAST]


@CONVENTIONS
async def test_the_result_that_came_in_the_next_trace_decides_about_the_call(convention: Convention) -> None:
    first, *rest = bare(convention(SORRY, None, REJECTED))
    alone = await judge_of().judge(first)
    (found, *_) = await judged_together([first, *rest])
    by_itself = {one.verdict.evaluator: one.verdict.label for one in alone.verdicts}
    known = {one.verdict.evaluator: one.verdict.label for one in found.verdicts}
    assert by_itself["tool_invocation"] != "incorrect" == known["tool_invocation"]


@CONVENTIONS
async def test_a_trace_that_goes_on_later_is_judged_again_and_only_what_is_new_is_said(convention: Convention) -> None:
    first, second, last = bare(convention(SORRY, None, REJECTED))
    judge = judge_of()
    before = await judge.judge(first)
    assert not before.again
    after = await judge.judge(second)
    assert after.again == {first.trace_id}
    looked_again = await judge.judge(
        TraceInput(trace_id=first.trace_id, spans=first.spans, marks=before.marks, complete=True)
    )
    assert {one.verdict.evaluator for one in looked_again.verdicts} == {"tool_invocation"}
    assert not looked_again.again
    done = await judge.judge(last)
    assert done.again == {second.trace_id}
    said = [before, after, looked_again, done]
    assert targets(said, "step_efficiency") == [LAST]
    assert not (await judge.judge(TraceInput(trace_id=last.trace_id, spans=last.spans, marks=done.marks))).verdicts


@CONVENTIONS
async def test_nothing_is_joined_where_that_is_switched_off(convention: Convention) -> None:
    traces = bare(convention(SORRY, None, REJECTED))
    found = await judged_together(traces, judge_of(Rejoin.OFF))
    by_itself = [await judge_of().judge(trace) for trace in traces]
    assert outcomes(found) == outcomes(by_itself)
    assert not any(scores.again for scores in found)


def with_session(traces: Iterable[TraceInput], *sessions: str) -> list[TraceInput]:
    return [
        TraceInput(
            trace_id=trace.trace_id,
            spans=[edited(raw, carrying(session__id=session, gen_ai__conversation__id=session)) for raw in trace.spans],
        )
        for trace, session in zip(traces, sessions, strict=True)
    ]


def joined(traces: Sequence[TraceInput], by: Rejoin = Rejoin.HISTORY) -> list[int | None]:
    """By trace the place of the one that it goes on from."""
    runs = WholeRuns(transcribe_trace, Pieces(by))
    runs.expect(traces)
    places: dict[str | None, int] = {trace.trace_id.hex(): place for place, trace in enumerate(traces)}
    told = [runs.describe(trace, [decode_span(*raw) for raw in trace.spans], []) for trace in traces]
    return [places.get(transcript.continues) for transcript in told]


@CONVENTIONS
def test_pieces_of_different_sessions_are_not_joined(convention: Convention) -> None:
    traces = with_session(bare(convention(SORRY, None, REJECTED)), "s-1", "s-2", "s-2")
    assert joined(traces) == [None, None, 1]


@CONVENTIONS
def test_where_a_session_is_asked_for_pieces_without_one_are_not_joined(convention: Convention) -> None:
    traces = bare(convention(SORRY, None, REJECTED))
    assert joined(traces, Rejoin.SESSION) == [None, None, None]
    assert joined(with_session(traces, "s-1", "s-1", "s-1"), Rejoin.SESSION) == [None, 0, 1]


@CONVENTIONS
def test_where_two_pieces_fit_equally_well_none_is_joined(convention: Convention) -> None:
    """Ids such as call-1 begin anew in every process, and two users may ask the same."""
    spans = convention(SORRY, None, REJECTED)
    twice = [*bare(spans, (FIRST,)), *bare(spans, (FIRST,), shift=100), *bare(spans, (SECOND,))]
    assert joined(twice) == [None, None, None]


@CONVENTIONS
def test_of_two_instrumentations_that_trace_the_same_calls_each_is_joined_with_its_own(
    convention: Convention,
) -> None:
    def told_by(scope: bytes, traces: Iterable[TraceInput]) -> list[TraceInput]:
        named = b"\x0a" + bytes([len(scope)]) + scope
        return [
            TraceInput(trace_id=trace.trace_id, spans=[(service, named, span) for service, _, span in trace.spans])
            for trace in traces
        ]

    spans = convention(SORRY, None, REJECTED)
    ours, theirs = told_by(b"one", bare(spans)), told_by(b"two", bare(spans, shift=100))
    mixed = [trace for pair in zip(ours, theirs, strict=True) for trace in pair]
    assert joined(mixed) == [None, None, 0, 1, 2, 3]


@CONVENTIONS
async def test_a_piece_that_is_too_old_or_was_dropped_for_lack_of_room_is_not_joined(convention: Convention) -> None:
    first, second, _ = bare(convention(SORRY, None, REJECTED))
    judge = judge_of()
    await judge.judge(first)
    late = TraceInput(trace_id=second.trace_id, spans=second.spans, arrived_s=100_000.0)
    assert not (await judge.judge(late)).again
    room = Pieces()
    await judged_together([first, second], judge_of(pieces=room))
    for max_bytes, found in ((room.size_bytes, {first.trace_id}), (room.size_bytes - 1, set())):
        cramped = judge_of(pieces=Pieces(max_bytes=max_bytes))
        await cramped.judge(first)
        assert (await cramped.judge(second)).again == found


@CONVENTIONS
async def test_an_attempt_that_failed_and_was_made_again_hides_nothing(convention: Convention) -> None:
    spans = convention(SORRY, None, REJECTED)
    first, second, last = bare(spans)

    def failed(span: Span) -> None:
        span.status.code, span.status.message = 2, "rate limited"
        kept = [pair for pair in span.attributes if "output" not in pair.key]
        del span.attributes[:]
        span.attributes.extend(kept)

    (attempt,) = bare(spans, (SECOND,), shift=100)
    attempt = TraceInput(trace_id=attempt.trace_id, spans=[edited(raw, failed) for raw in attempt.spans])
    traces = [first, attempt, second, last]
    assert joined(traces) == [None, 0, 0, 2]
    found = await judged_together(traces)
    assert targets(found, "task_completion") == [LAST, SECOND + 100]


@CONVENTIONS
async def test_traces_that_are_nothing_but_tools_are_never_judged(convention: Convention) -> None:
    spans = convention(SORRY, None, REJECTED)
    (tool,) = bare(spans, (TOOL,))
    assert not (await judge_of().judge(tool)).verdicts


@CONVENTIONS
async def test_what_a_trace_of_a_tool_says_counts_for_the_call_but_gets_no_verdict(convention: Convention) -> None:
    """The model call that reported the result was lost, so that only the tool's own trace has it."""
    spans = convention(SORRY, None, REJECTED)
    traces = with_session(bare(spans, (FIRST, TOOL)), "s-1", "s-1")
    alone, _ = await judged_together(traces[:1]), None
    first, tool = await judged_together(traces)
    assert not tool.verdicts
    assert targets([first], "tool_invocation") == [FIRST]
    labels = {one.verdict.evaluator: one.verdict.label for one in first.verdicts}
    assert labels["tool_invocation"] == "incorrect"
    assert "incorrect" not in {one.verdict.label for one in alone[0].verdicts}


@CONVENTIONS
async def test_a_wrapper_without_any_work_in_it_is_never_judged(convention: Convention) -> None:
    spans = [raw for raw in convention(SORRY, None, REJECTED) if number_of(raw) == AGENT]
    stripped = [edited(raw, lambda span: span.ClearField("attributes")) for raw in spans]
    kind = carrying(openinference__span__kind="CHAIN", gen_ai__operation__name="invoke_workflow")
    assert not (await judged([edited(raw, kind) for raw in stripped])).verdicts


@CONVENTIONS
async def test_a_call_told_on_the_model_call_is_taken_back_when_its_tool_span_comes(convention: Convention) -> None:
    spans = convention(SORRY, None, REJECTED)
    models = [raw for raw in spans if number_of(raw) in MODEL_CALLS]
    grown = await judged(models, complete=False)
    assert (span_id(FIRST).hex(), "tool_invocation") in {outcome(one)[:2] for one in grown.verdicts}
    done = await judged(spans, marks=grown.marks)
    moved = {outcome(one)[0]: one.verdict.status for one in done.verdicts if one.verdict.evaluator == "tool_invocation"}
    assert moved[span_id(TOOL).hex()] == Status.OK
    assert moved[span_id(FIRST).hex()] == Status.NOT_APPLICABLE
    assert done.spans[span_id(FIRST)].extra
    again = await judged(spans, marks=done.marks)
    assert not again.verdicts


@CONVENTIONS
async def test_a_trace_whose_run_span_came_late_is_no_piece_any_more(convention: Convention) -> None:
    spans = convention(SORRY, None, REJECTED)
    first, second, _ = bare(spans)
    judge = judge_of()
    early = await judge.judge(first)
    assert early.verdicts

    def above_the_first(span: Span) -> None:
        span.trace_id, span.span_id = first.trace_id, span_id(AGENT)

    def below_the_agent(span: Span) -> None:
        span.parent_span_id = span_id(AGENT)

    agent = next(edited(raw, above_the_first) for raw in spans if number_of(raw) == AGENT)
    whole = TraceInput(
        trace_id=first.trace_id,
        spans=[*(edited(raw, below_the_agent) for raw in first.spans), agent],
        marks=early.marks,
    )
    await judge.judge(whole)
    assert not (await judge.judge(second)).again


@CONVENTIONS
async def test_pieces_that_were_judged_together_need_not_be_judged_again(convention: Convention) -> None:
    found = await judged_together(bare(convention(SORRY, None, REJECTED)))
    assert not any(scores.again for scores in found)


@CONVENTIONS
async def test_a_piece_of_which_steps_were_judged_before_still_leads_to_the_one_before_it(
    convention: Convention,
) -> None:
    """As where its parent never comes, which takes the longer to be sure of."""
    first, second, _ = bare(convention(SORRY, None, REJECTED))
    judge = judge_of()
    await judge.judge(first)
    growing = await judge.judge(TraceInput(trace_id=second.trace_id, spans=second.spans, complete=False))
    assert growing.marks and not growing.again
    done = await judge.judge(TraceInput(trace_id=second.trace_id, spans=second.spans, marks=growing.marks))
    assert done.again == {first.trace_id}


@CONVENTIONS
async def test_another_answer_to_the_same_results_changes_nothing_that_was_said(convention: Convention) -> None:
    """Users have answers made again."""
    spans = convention(SORRY, None, REJECTED)
    first, second, _ = bare(spans)
    (other,) = bare(spans, (SECOND,), shift=100)
    judge = judge_of()
    marks = (await judge.judge(first)).marks
    await judge.judge(second)
    looked_again = await judge.judge(TraceInput(trace_id=first.trace_id, spans=first.spans, marks=marks))
    assert looked_again.verdicts
    assert not (await judge.judge(other)).again
    once_more = TraceInput(trace_id=first.trace_id, spans=first.spans, marks=looked_again.marks)
    assert not (await judge.judge(once_more)).verdicts


def like_the_others(number: int) -> Piece:
    """A piece that asks for what all others ask for, and was given what all others were given."""
    call = Asked("call-1", "get_account", b"{}")
    return Piece(
        trace_id=str(number),
        source=("service", "scope"),
        session_id=None,
        asked=(call,),
        shown=frozenset({"call-1"}),
        repeated=(call,),
        opening=(b"words",),
        closing=(b"words",),
    )


def test_tiny_pieces_count_with_the_objects_round_them() -> None:
    pieces = Pieces(max_bytes=1 << 20)
    for number in range(2_000):
        pieces.remember(like_the_others(number), [(b"", b"", b"span")], (), 0.0)
    before = pieces.size_bytes
    assert (1 << 19) < before <= 1 << 20
    pieces.forget("0")
    assert pieces.size_bytes == before, "the first had to make room"


def test_of_many_pieces_that_may_fit_only_so_many_are_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    looks = 0

    def counted(later: Piece, earlier: Piece, by: Rejoin) -> bool:
        nonlocal looks
        looks += 1
        return continues(later, earlier, by)

    monkeypatch.setattr("processors.pieces.continues", counted)
    pieces = Pieces()
    looked = []
    for number in range(200):
        pieces.remember(like_the_others(number), [(b"", b"", b"span")], (), 0.0)
        looks = 0
        pieces.around(like_the_others(number))
        looked.append(looks)
    assert 0 < looked[-1] == looked[len(looked) // 2]
