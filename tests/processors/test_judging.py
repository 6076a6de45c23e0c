"""TraceJudge: what is said about which span, when, and never twice."""

from __future__ import annotations

import asyncio
import pickle
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
from opentelemetry.proto.trace.v1.trace_pb2 import Span as SpanMessage

from evaluators.cases import Role, Run, Tool
from evaluators.evaluator import Evaluator
from evaluators.prompt_file import PromptEvaluator, PromptSettings
from evaluators.registry import EVALUATORS
from evaluators.tool_invocation import ToolInvocationSettings
from evaluators.verdict import Status
from processors.admission import Admission, Decision
from processors.admission_settings import AdmissionSettings
from processors.judging import TraceInput, TraceJudge, TraceScores
from processors.otlp import Log, Span
from processors.reading.transcribe import transcribe_trace
from processors.transcript import Agent, Transcript
from processors.verdicts.scores import Emission
from tests.processors.steps import (
    TRACE_ID,
    Completion,
    Handling,
    Invocation,
    MoodyJudge,
    Selection,
    call,
    hex_id,
    raw_span,
    turn,
)

AGENT, DECIDES, TOOL, ANSWERS = 1, 2, 3, 4


def whole_run(*, tool_result: str | None = "sunny", answered: bool = True) -> Transcript:
    """An agent that decides, calls one tool and answers."""
    turns = [turn(0, DECIDES, call("c1", tool_span=TOOL, result=tool_result), tools=[Tool(name="look_up")])]
    if answered:
        turns.append(turn(1, ANSWERS, answers=["c1"], sees=[Role.USER, Role.ASSISTANT, Role.TOOL]))
    run = Run(turns=tuple(turns), ref=hex_id(AGENT), user_inputs=("Is it sunny?",))
    return Transcript(
        trace_id=TRACE_ID.hex(),
        session_id="s-1",
        runs=(run,),
        agents=(Agent(name="a", span_id=hex_id(AGENT)),),
        enclosing={hex_id(TOOL): hex_id(AGENT)},
    )


SPANS = [
    raw_span(AGENT, name="agent"),
    raw_span(DECIDES, name="chat", parent=AGENT),
    raw_span(TOOL, name="look_up", parent=AGENT),
    raw_span(ANSWERS, name="chat", parent=AGENT),
]


def judge_of(transcript: Transcript, *evaluators: Evaluator[object], emission: Emission | None = None) -> TraceJudge:
    chosen = evaluators or (Selection(), Invocation(), Handling(), Completion())

    return TraceJudge(chosen, emission=emission, read=always(transcript))


def always(transcript: Transcript) -> Callable[[Sequence[Span], Sequence[Log]], Transcript]:
    """Reads the same in whatever it is given."""
    return lambda spans, logs: transcript


def trace(*, complete: bool = True, marks: object = None, spans: object = None, partial: bool = False) -> TraceInput:
    return TraceInput(
        trace_id=TRACE_ID,
        spans=SPANS if spans is None else spans,  # type: ignore[arg-type]
        complete=complete,
        partial=partial,
        marks=marks or {},  # type: ignore[arg-type]
    )


def keys(tail: bytes) -> dict[str, object]:
    message = SpanMessage.FromString(tail)
    return {pair.key: getattr(pair.value, pair.value.WhichOneof("value")) for pair in message.attributes}


def labels(scores: TraceScores) -> dict[tuple[str, str], str | None]:
    return {(one.span_id, one.verdict.evaluator): one.verdict.label for one in scores.verdicts}


async def test_each_verdict_goes_to_the_span_that_it_is_about() -> None:
    scores = await judge_of(whole_run()).judge(trace())
    assert labels(scores) == {
        (hex_id(DECIDES), "tool_selection"): "correct",
        (hex_id(TOOL), "tool_invocation"): "correct",
        (hex_id(ANSWERS), "tool_response_handling"): "correct",
        (hex_id(AGENT), "task_completion"): "correct",
    }
    tails = {span_id.hex(): set(keys(of.tail)) for span_id, of in scores.spans.items()}
    assert "eval.tool_selection.score" in tails[hex_id(DECIDES)]
    assert "eval.tool_invocation.score" in tails[hex_id(TOOL)]
    assert "eval.tool_response_handling.score" in tails[hex_id(ANSWERS)]
    assert "eval.task_completion.score" in tails[hex_id(AGENT)]
    assert not any("tool_" in key and key.endswith((".score", ".label", ".passed")) for key in tails[hex_id(AGENT)])


async def test_a_verdict_carries_the_name_of_its_span_and_its_session() -> None:
    scores = await judge_of(whole_run(), Invocation()).judge(trace())
    (said,) = scores.verdicts
    assert (said.trace_id, said.span_name, said.session_id, said.sequence) == (TRACE_ID.hex(), "look_up", "s-1", 0)


async def test_the_run_span_shows_what_the_steps_amount_to() -> None:
    scores = await judge_of(whole_run(), Invocation(faulty=["c1"]), Selection(status=Status.NEEDS_JUDGE)).judge(trace())
    run = keys(scores.spans[bytes.fromhex(hex_id(AGENT))].tail)
    assert run == {
        "eval.tool_invocation.run.mean": 0.0,
        "eval.tool_invocation.run.min": 0.0,
        "eval.tool_invocation.run.all_passed": False,
        "eval.tool_invocation.run.judged": 1,
        "eval.tool_invocation.run.unscored": 0,
        "eval.tool_selection.run.judged": 0,
        "eval.tool_selection.run.unscored": 1,
    }


async def test_what_does_not_apply_is_no_step_of_the_roll_up() -> None:
    scores = await judge_of(whole_run(), Selection(status=Status.NOT_APPLICABLE)).judge(trace())
    assert scores.spans == {}


async def test_steps_of_a_growing_trace_are_judged_when_settled_and_the_run_is_not() -> None:
    scores = await judge_of(whole_run()).judge(trace(complete=False))
    assert {evaluator for _, evaluator in labels(scores)} == {
        "tool_selection",
        "tool_invocation",
        "tool_response_handling",
    }
    assert scores.settled == {bytes.fromhex(hex_id(n)) for n in (DECIDES, TOOL, ANSWERS)}


async def test_a_step_without_its_result_waits_and_so_do_its_spans() -> None:
    growing = whole_run(tool_result=None, answered=False)
    scores = await judge_of(growing).judge(trace(complete=False, spans=SPANS[:3]))
    assert scores.verdicts == ()
    assert scores.settled == frozenset()


async def test_a_result_that_nobody_has_used_yet_does_not_hold_back_the_call() -> None:
    scores = await judge_of(whole_run(answered=False)).judge(trace(complete=False, spans=SPANS[:3]))
    assert set(labels(scores)) == {(hex_id(DECIDES), "tool_selection"), (hex_id(TOOL), "tool_invocation")}
    assert scores.settled == {bytes.fromhex(hex_id(n)) for n in (DECIDES, TOOL)}


async def test_the_last_turn_of_a_run_without_an_agent_span_waits_for_the_verdict_on_the_run() -> None:
    run = Run(turns=whole_run().runs[0].turns, ref=hex_id(ANSWERS))
    bare = Transcript(trace_id=TRACE_ID.hex(), runs=(run,))
    scores = await judge_of(bare).judge(trace(complete=False, spans=SPANS[1:]))
    assert scores.settled == {bytes.fromhex(hex_id(n)) for n in (DECIDES, TOOL)}


async def test_what_is_missing_while_a_trace_grows_is_not_said_to_be_missing() -> None:
    judge = judge_of(whole_run(), Selection(status=Status.MISSING_INPUT))
    growing = await judge.judge(trace(complete=False))
    assert growing.verdicts == ()
    assert bytes.fromhex(hex_id(DECIDES)) not in growing.settled
    finished = await judge.judge(trace(marks=growing.marks))
    assert [said.verdict.status for said in finished.verdicts] == [Status.MISSING_INPUT]


async def test_nothing_is_said_twice_as_a_trace_grows() -> None:
    judge = judge_of(whole_run())
    first = await judge.judge(trace(complete=False))
    second = await judge.judge(trace(marks=first.marks))
    assert {evaluator for _, evaluator in labels(second)} == {"task_completion"}
    third = await judge.judge(trace(marks=second.marks))
    assert third.verdicts == ()
    assert third.spans == {}


async def test_the_roll_up_counts_steps_that_were_judged_while_the_trace_grew() -> None:
    judge = judge_of(whole_run(), Invocation(faulty=["c1"]))
    first = await judge.judge(trace(complete=False))
    second = await judge.judge(trace(marks=first.marks))
    assert keys(second.spans[bytes.fromhex(hex_id(AGENT))].tail)["eval.tool_invocation.run.mean"] == 0.0


async def test_a_step_that_grew_is_judged_again_and_the_new_verdict_supersedes_the_old_one() -> None:
    first = await judge_of(whole_run(tool_result=None, answered=False), Invocation()).judge(trace())
    second = await judge_of(whole_run(), Invocation(faulty=["c1"])).judge(trace(marks=first.marks))
    (said,) = second.verdicts
    assert said.sequence == 1
    of_tool = second.spans[bytes.fromhex(hex_id(TOOL))]
    assert of_tool.tail == b""
    (extra,) = of_tool.extra
    (before,) = first.spans[bytes.fromhex(hex_id(TOOL))].alternatives
    assert keys(extra.span)["eval.tool_invocation.supersedes"] == before.span_id.hex()
    assert extra.span_id != before.span_id


async def test_a_step_that_grew_without_changing_its_verdict_says_nothing_new() -> None:
    first = await judge_of(whole_run(tool_result=None, answered=False), Invocation()).judge(trace())
    second = await judge_of(whole_run(), Invocation()).judge(trace(marks=first.marks))
    assert second.verdicts == ()


async def test_a_score_that_turns_out_to_have_no_ground_is_withdrawn() -> None:
    first = await judge_of(whole_run(tool_result=None, answered=False), Invocation()).judge(trace())
    second = await judge_of(whole_run(), Invocation(status=Status.NOT_APPLICABLE)).judge(trace(marks=first.marks))
    (extra,) = second.spans[bytes.fromhex(hex_id(TOOL))].extra
    assert keys(extra.span)["eval.tool_invocation.status"] == "not_applicable"


def judged_by(moody: MoodyJudge, transcript: Transcript) -> TraceJudge:
    open_step = Invocation(status=Status.NEEDS_JUDGE, judge="judge/moody")
    return TraceJudge([open_step], {"judge/moody": moody}, read=lambda spans, logs: transcript)


@pytest.mark.parametrize("failure", [Status.JUDGE_ERROR, Status.TIMED_OUT])
async def test_a_judge_that_failed_on_a_step_is_asked_again_when_the_trace_is_complete(failure: Status) -> None:
    moody = MoodyJudge()
    moody.down = failure
    judge = judged_by(moody, whole_run())
    first = await judge.judge(trace(complete=False))
    assert [said.verdict.status for said in first.verdicts] == [failure]
    assert (await judge.judge(trace(complete=False, marks=first.marks))).verdicts == ()
    assert moody.asked == 1
    moody.down = None
    second = await judge.judge(trace(marks=first.marks))
    assert [(said.verdict.status, said.sequence) for said in second.verdicts] == [(Status.OK, 0)]
    assert keys(second.spans[bytes.fromhex(hex_id(TOOL))].tail)["eval.tool_invocation.label"] == "correct"
    assert (await judge.judge(trace(marks=second.marks))).verdicts == ()
    assert moody.asked == 2


async def test_a_judge_that_keeps_failing_is_told_of_once() -> None:
    moody = MoodyJudge()
    moody.down = Status.JUDGE_ERROR
    judge = judged_by(moody, whole_run())
    first = await judge.judge(trace(complete=False))
    assert (await judge.judge(trace(marks=first.marks))).verdicts == ()


async def test_while_no_judge_may_be_asked_a_failed_one_is_left_alone() -> None:
    moody = MoodyJudge()
    moody.down = Status.JUDGE_ERROR
    judge = judged_by(moody, whole_run())
    first = await judge.judge(trace(complete=False))
    assert (await judge.judge(replace(trace(marks=first.marks), rules_only=True))).verdicts == ()


async def test_a_judge_that_was_not_to_be_asked_about_a_step_is_asked_when_the_trace_is_complete() -> None:
    moody = MoodyJudge()
    judge = judged_by(moody, whole_run())
    first = await judge.judge(replace(trace(complete=False), rules_only=True))
    assert moody.asked == 0
    second = await judge.judge(trace(marks=first.marks))
    assert moody.asked == 1 and [one.verdict.status for one in second.verdicts] == [Status.OK]
    await judge.judge(trace(marks=second.marks))
    assert moody.asked == 1


@pytest.mark.parametrize("down", [Status.JUDGE_ERROR, Status.TIMED_OUT, None])
async def test_a_score_is_not_withdrawn_because_nobody_could_be_asked(down: Status | None) -> None:
    moody = MoodyJudge()
    first = await judged_by(moody, whole_run(tool_result=None, answered=False)).judge(trace())
    moody.down = down
    grown = judged_by(moody, whole_run())
    second = await grown.judge(replace(trace(marks=first.marks), rules_only=down is None))
    assert second.verdicts == ()
    asked = moody.asked
    moody.down = None
    await grown.judge(trace(marks=second.marks))
    assert moody.asked == asked + 1


async def test_a_verdict_that_was_not_told_is_not_superseded() -> None:
    growing = whole_run(tool_result=None, answered=False)
    first = await judge_of(growing, Invocation(status=Status.NEEDS_JUDGE)).judge(trace())
    assert first.spans[bytes.fromhex(hex_id(AGENT))].tail  # the roll-up alone
    second = await judge_of(whole_run(), Invocation()).judge(trace(marks=first.marks))
    of_tool = second.spans[bytes.fromhex(hex_id(TOOL))]
    assert keys(of_tool.tail)["eval.tool_invocation.label"] == "correct"
    assert of_tool.extra == ()


async def test_a_span_that_came_with_a_score_is_left_as_it_is() -> None:
    scored = KeyValue(key="eval.tool_invocation.score", value=AnyValue(double_value=0.5))
    spans = [*SPANS[:2], raw_span(TOOL, name="look_up", parent=AGENT, attributes=[scored]), SPANS[3]]
    scores = await judge_of(whole_run(), Invocation()).judge(trace(spans=spans))
    of_tool = scores.spans[bytes.fromhex(hex_id(TOOL))]
    assert of_tool.tail == b""
    assert [keys(extra.span)["eval.tool_invocation.label"] for extra in of_tool.extra] == ["correct"]


async def test_a_partial_trace_says_so_in_every_run() -> None:
    completion = Completion()
    await judge_of(whole_run(), completion).judge(trace(partial=True))
    assert [case.run.partial for case in completion.seen] == [True]


async def test_several_cases_on_one_span_become_one_verdict() -> None:
    both = (turn(0, DECIDES, call("c1", result="a")), turn(1, DECIDES, call("c2", result="b"), answers=["c1"]))
    loop = Transcript(trace_id=TRACE_ID.hex(), runs=(Run(turns=both, ref=hex_id(AGENT)),))
    scores = await judge_of(loop, Invocation(faulty=["c2"])).judge(trace())
    (said,) = scores.verdicts
    assert (said.span_id, said.verdict.score, said.verdict.passed) == (hex_id(DECIDES), 0.5, False)
    assert [one.call_id for one in said.verdict.calls] == ["c1", "c2"]


async def test_a_fault_of_ours_costs_one_trace_its_scores_and_says_where_without_content(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def read(spans: Sequence[Span], logs: Sequence[Log]) -> Transcript:
        raise KeyError("the secret of the trace")

    scores = await TraceJudge([Selection()], read=read).judge(trace())
    assert scores.failure is not None
    assert "KeyError" in scores.failure
    assert "test_judging.py" in scores.failure
    assert "secret" not in scores.failure + caplog.text
    assert scores.spans == {}


async def test_input_and_scores_cross_to_another_process() -> None:
    scores = await judge_of(whole_run()).judge(pickle.loads(pickle.dumps(trace())))
    assert pickle.loads(pickle.dumps(scores)) == scores


async def test_spans_in_no_particular_order_or_sent_twice_change_nothing() -> None:
    judge = judge_of(whole_run())
    assert await judge.judge(trace(spans=[*SPANS[::-1], *SPANS])) == await judge.judge(trace())


@pytest.mark.parametrize("name", ["Tool", "run", "class", "2nd", "a-b", "a.b", ""])
def test_an_evaluator_needs_a_name_that_every_backend_can_search(name: str) -> None:
    named = type("Named", (Completion,), {"name": name})
    with pytest.raises(ValueError, match="no name for an evaluator"):
        judge_of(whole_run(), named())


def test_an_evaluator_is_given_once() -> None:
    with pytest.raises(ValueError, match="twice"):
        judge_of(whole_run(), Selection(), Selection())


async def test_a_huge_trace_lets_a_small_one_pass() -> None:
    done: list[str] = []

    async def judged(name: str, spans: object) -> None:
        await judge_of(whole_run()).judge(trace(spans=spans))
        done.append(name)

    huge = [*SPANS, *(raw_span(number, parent=AGENT) for number in range(100, 2000))]
    await asyncio.gather(judged("huge", huge), judged("small", SPANS))
    assert done == ["small", "huge"]


async def test_what_rules_decided_is_told_before_a_judge_is_asked_and_not_again() -> None:
    moody = MoodyJudge()
    told: list[TraceScores] = []

    def on_rules(scores: TraceScores) -> None:
        assert moody.asked == 0
        told.append(scores)

    open_step = Invocation(status=Status.NEEDS_JUDGE, judge="judge/moody")
    read = always(whole_run())
    judge = TraceJudge([Selection(), open_step], {"judge/moody": moody}, read=read)
    final = await judge.judge(trace(), on_rules)
    (first,) = told
    assert {said.verdict.evaluator for said in first.verdicts} == {"tool_selection"}
    assert {said.verdict.evaluator for said in final.verdicts} == {"tool_invocation"}
    assert final.marks.keys() > first.marks.keys()
    assert not (await judge.judge(trace(marks=final.marks))).verdicts


async def test_when_no_judge_has_to_be_asked_there_is_one_answer() -> None:
    told: list[TraceScores] = []
    scores = await judge_of(whole_run()).judge(trace(), told.append)
    assert scores.verdicts and not told


@pytest.mark.parametrize("own", [False, True], ids=["one that comes along", "an operator's own"])
async def test_a_verdict_that_lacks_its_inputs_names_the_attribute_and_the_switch(tmp_path: Path, own: bool) -> None:
    (tmp_path / "tone.md").write_text(
        "judges: run\nthreshold: 1\nlabels: {good: 1, bad: 0}\ncriteria: Judge the tone.\n"
    )
    prompt = PromptEvaluator("tone", PromptSettings(file=tmp_path / "tone.md"))
    without_content = raw_span(
        DECIDES,
        name="chat",
        attributes=[
            KeyValue(key=key, value=AnyValue(string_value=value))
            for key, value in {
                "gen_ai.operation.name": "chat",
                "gen_ai.response.finish_reasons": '["stop"]',
            }.items()
        ],
    )
    judge = TraceJudge([prompt if own else EVALUATORS["task_completion"].create()], read=transcribe_trace)
    found = await judge.judge(trace(spans=[without_content]))
    (said,) = found.verdicts
    assert said.verdict.status is Status.MISSING_INPUT
    assert "gen_ai.input.messages" in said.verdict.explanation
    assert "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT" in said.verdict.explanation


def admitting(moody: MoodyJudge, transcript: Transcript, **settings: object) -> TraceJudge:
    open_step = Invocation(status=Status.NEEDS_JUDGE, judge="judge/moody")
    admission = Admission(AdmissionSettings.model_validate(settings))
    return TraceJudge([open_step], {"judge/moody": moody}, read=always(transcript), admission=admission)


async def test_what_is_filtered_out_is_not_judged_and_says_so() -> None:
    moody = MoodyJudge()
    scores = await admitting(moody, whole_run(), exclude=[{"tool": "look_*"}]).judge(trace())
    assert moody.asked == 0
    [said] = scores.verdicts
    assert said.verdict.status is Status.SAMPLED_OUT and "admission::exclude" in said.verdict.explanation


async def test_outside_the_sample_no_judge_is_asked_and_the_verdict_says_so() -> None:
    moody = MoodyJudge()
    judge = admitting(moody, whole_run(), sampling_percentage=0)
    scores = await judge.judge(trace())
    assert moody.asked == 0
    [said] = scores.verdicts
    assert said.verdict.status is Status.SAMPLED_OUT and "sampling_percentage" in said.verdict.explanation
    assert judge.admission.take_counts() == {("tool_invocation", Decision.SAMPLED_OUT): 1}


async def test_outside_the_sample_what_rules_may_say_alone_is_said() -> None:
    moody = MoodyJudge()
    offered = Tool(name="look_up", parameters={"type": "object"})
    run = whole_run().runs[0]
    asking = replace(run.turns[0], tools=(offered,), context=())
    run = replace(run, turns=(asking, *run.turns[1:]), user_inputs=("Is it sunny at c1?",))
    transcript = replace(whole_run(), runs=(run,))
    judged = TraceJudge(
        [EVALUATORS["tool_invocation"].create(ToolInvocationSettings(judge="judge/moody"))],
        {"judge/moody": moody},
        read=always(transcript),
        admission=Admission(AdmissionSettings(sampling_percentage=0)),
    )
    [said] = (await judged.judge(trace())).verdicts
    assert (said.verdict.status, said.verdict.label, moody.asked) == (Status.OK, "correct", 0)


async def test_all_traces_of_a_session_are_in_the_sample_or_none() -> None:
    moody = MoodyJudge()
    for percentage in (0.5, 40.0, 60.0, 99.0):
        judge = admitting(moody, whole_run(), sampling_percentage=percentage)
        asked = set()
        for number in range(12):
            before = moody.asked
            await judge.judge(replace(trace(), trace_id=bytes([number]) * 16))
            asked.add(moody.asked > before)
        assert len(asked) == 1
