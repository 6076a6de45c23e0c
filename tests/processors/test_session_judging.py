"""SessionJudge: what is said of a session, where, and never twice."""

from __future__ import annotations

import asyncio
import pickle
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from opentelemetry.proto.trace.v1.trace_pb2 import Span as SpanMessage

from evaluators.cases import CaseKind, Run, SessionCase, Turn
from evaluators.judge.question import Answer, Question
from evaluators.reference.file import read_references
from evaluators.reference.lookup import References
from evaluators.verdict import Level, Status
from processors.admission import Admission
from processors.admission_settings import AdmissionSettings
from processors.judging import TraceInput, TraceJudge
from processors.otlp import Log, Span
from processors.references import RunReferences
from processors.session_judging import SessionJudge, SessionScores
from processors.sessions import Sessions
from processors.transcript import Transcript
from processors.verdicts.scores import Emission
from tests.processors.steps import MoodyJudge, Stating, hex_id, raw_span
from tests.processors.test_judging import keys

IDLE_S = 60.0
ROUTE = ("", (("x-project-name", "shop"),))


class Whole(Stating):
    name = "session_task_completion"
    judges = CaseKind.SESSION
    level = Level.SESSION


def judging(
    *evaluators: Whole,
    moody: MoodyJudge | None = None,
    emission: Emission | None = None,
    sampling_percentage: float = 100,
    references: RunReferences | None = None,
    sessions: Iterator[str] | None = None,
) -> TraceJudge:
    """A judge of traces that reads every trace as one run of the next of `sessions`, or of the session s-1."""

    def read(spans: Sequence[Span], logs: Sequence[Log]) -> Transcript:
        text = spans[0].name
        run = Run(turns=(Turn(index=0, text=text, ref=spans[0].span_id),), ref=spans[0].span_id, user_inputs=(text,))
        session = next(sessions) if sessions is not None else "s-1"
        return Transcript(trace_id=spans[0].trace_id, session_id=None if text == "alone" else session, runs=(run,))

    emission = emission or Emission()
    admission = Admission(AdmissionSettings(sampling_percentage=sampling_percentage))
    judges = {} if moody is None else {"judge/moody": moody}
    of_sessions = SessionJudge(
        evaluators or (Whole(),), judges, Sessions(IDLE_S), emission, admission, None, references
    )
    return TraceJudge([], read=read, emission=emission, admission=admission, sessions=of_sessions)


def trace(number: int, name: str, arrived_s: float) -> TraceInput:
    resource, scope, _ = raw_span(number)
    span = SpanMessage(
        trace_id=bytes([number]) * 16, span_id=bytes.fromhex(hex_id(number)), name=name, start_time_unix_nano=number
    )
    return TraceInput(
        trace_id=bytes([number]) * 16,
        spans=[(resource, scope, span.SerializeToString())],
        arrived_s=arrived_s,
        route=ROUTE,
    )


async def over(judge: TraceJudge, now_s: float) -> list[SessionScores]:
    assert judge.sessions is not None
    return await judge.sessions.judge_over(now_s)


async def test_the_verdict_on_a_session_is_a_span_below_its_last_run() -> None:
    judge = judging()
    for number in (1, 2):
        await judge.judge(trace(number, f"run {number}", float(number)))
    assert await over(judge, 30.0) == []
    [scores] = await over(judge, 62.0)
    [placed] = scores.verdicts
    assert (placed.span_id, placed.session_id, placed.verdict.status) == (hex_id(2), "s-1", Status.OK)
    [told] = scores.spans
    span = SpanMessage.FromString(told.span)
    assert (span.trace_id, span.parent_span_id) == (bytes([2]) * 16, bytes.fromhex(hex_id(2)))
    assert keys(told.span)["eval.session_task_completion.label"] == "correct"
    assert keys(told.span)["session.id"] == "s-1"
    assert scores.route == ROUTE
    assert pickle.loads(pickle.dumps(scores.spans)) == scores.spans


async def test_an_evaluator_is_given_all_runs_in_order() -> None:
    whole = Whole()
    judge = judging(whole)
    for number in (2, 1):
        await judge.judge(trace(number, f"run {number}", 0.0))
    await over(judge, 60.0)
    [case] = whole.seen
    assert isinstance(case, SessionCase)
    assert [one.user_inputs for one in case.runs] == [("run 1",), ("run 2",)]
    assert case.run.user_inputs == ("run 1", "run 2")


async def test_a_trace_without_a_session_and_one_that_grows_are_no_part_of_one() -> None:
    judge = judging()
    await judge.judge(trace(1, "alone", 0.0))
    await judge.judge(replace(trace(2, "run", 0.0), complete=False))
    assert await over(judge, 600.0) == []


async def test_a_session_is_judged_once_and_again_when_it_goes_on() -> None:
    judge = judging()
    await judge.judge(trace(1, "run 1", 0.0))
    assert len(await over(judge, 60.0)) == 1
    assert await over(judge, 600.0) == []
    await judge.judge(trace(2, "run 2", 700.0))
    [scores] = await over(judge, 760.0)
    assert scores.verdicts[0].span_id == hex_id(2)


async def test_a_last_run_that_is_judged_again_supersedes_only_if_the_verdict_on_the_session_changes() -> None:
    whole = Whole()
    judge = judging(whole)
    await judge.judge(trace(1, "run 1", 0.0))
    [first] = await over(judge, 60.0)
    await judge.judge(trace(1, "run 1", 61.0))
    [same] = await over(judge, 121.0)
    assert same.spans == ()
    whole.status = Status.NOT_APPLICABLE
    await judge.judge(trace(1, "run 1", 122.0))
    [changed] = await over(judge, 182.0)
    assert keys(changed.spans[0].span)["eval.session_task_completion.supersedes"] == first.spans[0].span_id.hex()


async def test_a_session_without_a_score_is_told_only_where_that_is_wanted() -> None:
    for emit_unscored in (False, True):
        judge = judging(Whole(status=Status.MISSING_INPUT), emission=Emission(emit_unscored=emit_unscored))
        await judge.judge(trace(1, "run", 0.0))
        [scores] = await over(judge, 60.0)
        assert (len(scores.verdicts), len(scores.spans)) == (1, int(emit_unscored))


async def test_the_sample_holds_for_sessions_too() -> None:
    moody = MoodyJudge()
    judge = judging(Whole(status=Status.NEEDS_JUDGE, judge="judge/moody"), moody=moody, sampling_percentage=0)
    await judge.judge(trace(1, "run", 0.0))
    [scores] = await over(judge, 60.0)
    assert (scores.verdicts[0].verdict.status, moody.asked) == (Status.SAMPLED_OUT, 0)


async def test_a_session_that_nobody_can_judge_ends_nothing_and_is_told_without_its_words(
    caplog: pytest.LogCaptureFixture,
) -> None:
    class Broken(Whole):
        def screen(self, case: object) -> object:  # type: ignore[override]
            raise RuntimeError("secret words of a user")

    judge = judging(Broken())
    await judge.judge(trace(1, "run", 0.0))
    assert await over(judge, 60.0) == []
    assert "RuntimeError" in caplog.text and "secret" not in caplog.text


async def test_at_the_end_of_saved_traces_every_session_is_over() -> None:
    judge = judging()
    await judge.judge(trace(1, "run", 0.0))
    assert judge.sessions is not None
    assert len(await judge.sessions.judge_over(None)) == 1


async def test_a_judge_that_is_down_when_a_session_ends_is_asked_once_more_about_what_it_left_open() -> None:
    class Counting(Whole):
        name = "session_goal_accuracy"

    moody, other = MoodyJudge(), Counting()
    moody.down = Status.JUDGE_ERROR
    judge = judging(Whole(status=Status.NEEDS_JUDGE, judge="judge/moody"), other, moody=moody)
    await judge.judge(trace(1, "run", 0.0))
    [failed] = await over(judge, 60.0)
    assert {one.verdict.status for one in failed.verdicts} == {Status.JUDGE_ERROR, Status.OK}
    moody.down = None
    assert await over(judge, 119.0) == []
    [answered] = await over(judge, 120.0)
    assert [(one.verdict.evaluator, one.verdict.status) for one in answered.verdicts] == [
        ("session_task_completion", Status.OK)
    ]
    assert (len(answered.spans), len(other.seen), moody.asked) == (1, 1, 2)


async def test_sessions_do_not_wait_for_each_others_judges_and_each_is_told_as_soon_as_it_has_its_verdict() -> None:
    sessions = [f"s-{number}" for number in range(5)]
    answered = asyncio.Event()

    class Late(MoodyJudge):
        async def ask(self, run: Run, questions: Sequence[Question]) -> list[Answer]:
            given = await super().ask(run, questions)
            if self.asked == 1:
                await answered.wait()
            return given

    judge = judging(Whole(status=Status.NEEDS_JUDGE, judge="judge/moody"), moody=Late(), sessions=iter(sessions))
    for number in range(1, 6):
        await judge.judge(trace(number, "run", 0.0))
    told: list[str | None] = []
    assert judge.sessions is not None
    judged = asyncio.create_task(
        judge.sessions.judge_over(60.0, lambda scores: told.append(scores.verdicts[0].session_id))
    )
    async with asyncio.timeout(10):
        while len(told) < 4:
            await asyncio.sleep(0)
    assert told == sessions[1:] and not judged.done()
    answered.set()
    assert [scores.verdicts[0].session_id for scores in await judged] == sessions


async def test_a_reference_of_the_session_is_part_of_its_case(tmp_path: Path) -> None:
    file = tmp_path / "references.yaml"
    file.write_text("references: [{match: {session: s-1}, outcome: Two tables are booked.}]\n")
    whole = Whole()
    judge = judging(whole, references=RunReferences(References(read_references(file))))
    await judge.judge(trace(1, "run", 0.0))
    await over(judge, 60.0)
    [case] = whole.seen
    assert isinstance(case, SessionCase) and case.reference is not None
    assert case.reference.outcome == "Two tables are booked."
