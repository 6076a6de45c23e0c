"""Verdicts derived from other verdicts of the same run: after these, again when these change, and never before."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, ClassVar

import pytest

from evaluators.cases import CaseKind, DecisionCase, RunCase, SourceVerdict
from evaluators.computed import ComputedEvaluator
from evaluators.evaluation import Item, derive, evaluate
from evaluators.evaluator import Evaluator, EvaluatorSettings, Screening
from evaluators.status import foremost
from evaluators.verdict import Level, Status
from processors.cases.spans import Placed
from processors.judging import TraceJudge, TraceScores
from processors.transcript import Transcript
from processors.verdicts.deriving import Said
from processors.verdicts.scores import Emission
from tests.evaluators.runs import call as made
from tests.evaluators.runs import run_of
from tests.processors.steps import Completion, Invocation, MoodyJudge, Selection, hex_id
from tests.processors.test_judging import AGENT, TOOL, keys, trace, whole_run


class Share(ComputedEvaluator[RunCase]):
    """The share of the verdicts it needs that passed."""

    name = "share"
    judges = CaseKind.RUN
    level = Level.TRACE
    good_label = "pass"
    bad_label = "fail"
    code_version = "1"
    needs: ClassVar[Mapping[str, str]] = dict.fromkeys(("tool_selection", "tool_invocation", "task_completion"), "less")

    def __init__(self) -> None:
        super().__init__(EvaluatorSettings())
        self.seen: list[tuple[SourceVerdict, ...]] = []

    def screen(self, case: RunCase) -> Screening:
        self.seen.append(case.sources)
        passed = [source.passed for source in case.sources if source.passed is not None]
        if not passed:
            return Screening(status=foremost(source.status for source in case.sources), reason="nothing to go by")
        return Screening(status=Status.OK, score=sum(passed) / len(passed), reason=f"{sum(passed)} of {len(passed)}")


def judge_of(
    *evaluators: Evaluator[Any],
    transcript: Transcript | None = None,
    judge: MoodyJudge | None = None,
    emission: Emission | None = None,
) -> TraceJudge:
    read = whole_run() if transcript is None else transcript
    judges = {} if judge is None else {"judge/moody": judge}
    return TraceJudge(evaluators, judges, emission, read=lambda spans, logs: read)


def share(scores: TraceScores) -> list[tuple[str, float | None, int]]:
    """Status, score and sequence of what was said of `share`."""
    said = [one for one in scores.verdicts if one.verdict.evaluator == "share"]
    return [(str(one.verdict.status), one.verdict.score, one.sequence) for one in said]


async def test_it_is_given_what_the_others_said_of_the_run_and_its_steps_and_stands_on_the_run() -> None:
    derived = Share()
    scores = await judge_of(derived, Selection(), Invocation(faulty=["c1"]), Completion()).judge(trace())
    ((first, second, third),) = derived.seen
    assert {(one.evaluator, one.ref, one.passed) for one in (first, second, third)} == {
        ("tool_selection", hex_id(2), True),
        ("tool_invocation", hex_id(TOOL), False),
        ("task_completion", hex_id(AGENT), True),
    }
    assert share(scores) == [("ok", pytest.approx(0.6667), 0)]
    assert keys(scores.spans[bytes.fromhex(hex_id(AGENT))].tail)["eval.share.score"] == 0.6667


async def test_what_it_does_not_need_is_not_given_to_it() -> None:
    derived = Share()
    derived.needs = {"task_completion": "all"}  # type: ignore[misc]
    await judge_of(derived, Selection(), Completion()).judge(trace())
    assert [[one.evaluator for one in given] for given in derived.seen] == [["task_completion"]]


async def test_it_waits_for_the_end_of_the_run_and_knows_what_was_said_while_it_grew() -> None:
    judge = judge_of(Share(), Selection(), Invocation(faulty=["c1"]))
    growing = await judge.judge(trace(complete=False))
    assert share(growing) == []
    finished = await judge.judge(trace(marks=growing.marks))
    assert share(finished) == [("ok", 0.5, 0)]


async def test_nothing_is_said_twice() -> None:
    judge = judge_of(Share(), Selection())
    first = await judge.judge(trace())
    second = await judge.judge(trace(marks=first.marks))
    assert share(second) == []


async def test_it_changes_when_what_it_rests_on_changes_and_supersedes_what_was_said() -> None:
    first = await judge_of(Share(), Invocation(), transcript=whole_run(tool_result=None, answered=False)).judge(trace())
    assert share(first) == [("ok", 1.0, 0)]
    second = await judge_of(Share(), Invocation(faulty=["c1"])).judge(trace(marks=first.marks))
    assert share(second) == [("ok", 0.0, 1)]
    (extra,) = second.spans[bytes.fromhex(hex_id(AGENT))].extra
    (before,) = first.spans[bytes.fromhex(hex_id(AGENT))].alternatives
    assert keys(extra.span)["eval.share.supersedes"] == before.span_id.hex()


def moody(**more: Any) -> Completion:
    return Completion(status=Status.NEEDS_JUDGE, judge="judge/moody", **more)


async def test_it_is_not_told_by_rules_while_a_judge_it_waits_for_is_still_asked() -> None:
    first: list[TraceScores] = []
    judge = judge_of(Share(), Selection(), moody(), judge=MoodyJudge())
    final = await judge.judge(trace(), first.append)
    assert [share(scores) for scores in first] == [[]]
    assert share(final) == [("ok", 1.0, 0)]


async def test_it_is_told_by_rules_if_the_judge_is_asked_about_something_else() -> None:
    first: list[TraceScores] = []
    derived = Share()
    derived.needs = {"tool_selection": "all"}  # type: ignore[misc]
    final = await judge_of(derived, Selection(), moody(), judge=MoodyJudge()).judge(trace(), first.append)
    assert [share(scores) for scores in first] == [[("ok", 1.0, 0)]]
    assert share(final) == []


async def test_a_judge_that_failed_leaves_it_without_a_score_until_it_answers() -> None:
    down = MoodyJudge()
    down.down = Status.JUDGE_ERROR
    judge = judge_of(Share(), moody(), judge=down, emission=Emission(emit_unscored=True))
    failed = await judge.judge(trace())
    assert share(failed) == [("judge_error", None, 0)]
    down.down = None
    answered = await judge.judge(trace(marks=failed.marks))
    assert share(answered) == [("ok", 1.0, 1)]


async def test_a_judge_that_fails_later_withdraws_nothing_that_rests_on_its_earlier_answer() -> None:
    model = MoodyJudge()
    grown = whole_run(tool_result=None, answered=False)
    judge = judge_of(Share(), moody(), judge=model, transcript=grown)
    first = await judge.judge(trace())
    model.down = Status.TIMED_OUT
    second = await judge_of(Share(), moody(), judge=model).judge(trace(marks=first.marks))
    assert share(first) == [("ok", 1.0, 0)]
    assert share(second) == []


async def test_each_run_of_a_trace_is_given_its_own() -> None:
    transcript = whole_run()
    (run,) = transcript.runs
    other = replace(run, turns=(), ref=hex_id(TOOL))
    derived = Share()
    derived.needs = {"task_completion": "all"}  # type: ignore[misc]
    both = replace(transcript, runs=(run, other))
    await judge_of(derived, Completion(faulty=["c1"]), transcript=both).judge(trace())
    assert [[(one.ref, one.passed) for one in given] for given in derived.seen] == [
        [(hex_id(AGENT), False)],
        [(hex_id(TOOL), True)],
    ]


def test_of_a_run_that_is_spread_over_traces_only_verdicts_on_the_run_count() -> None:
    run = whole_run().runs[0]
    step = DecisionCase(run=run, turn=run.turns[0])
    placed = [
        Placed(evaluator="tool_selection", level=Level.SPAN, span_id="a", case=step, settled=True),
        Placed(evaluator="task_completion", level=Level.TRACE, span_id="b", case=RunCase(run=run), settled=True),
    ]
    both = ("tool_selection", "task_completion")
    assert Said(placed, whole=False).keys(run.ref, both) == [("b", "task_completion")]
    assert Said(placed, whole=True).keys(run.ref, both) == [("a", "tool_selection"), ("b", "task_completion")]


async def test_an_evaluator_that_is_not_there_is_simply_not_among_the_sources() -> None:
    scores = await judge_of(Share(), emission=Emission(emit_unscored=True)).judge(trace())
    assert share(scores) == [("not_applicable", None, 0)]


def test_what_is_derived_cannot_be_derived_from() -> None:
    other = Share()
    other.name = "other"
    other.needs = {"share": "all"}  # type: ignore[misc]
    with pytest.raises(ValueError, match="other can't need share"):
        judge_of(Share(), other)


async def test_in_the_library_it_is_given_the_other_items_of_its_run() -> None:
    case, elsewhere = run_of(made("look_up")), run_of(made("look_up"))
    items: Iterable[Item] = [
        Item(Share(), case),
        Item(Completion(), case),
        Item(Completion(faulty=["c1"]), elsewhere),
        Item(moody(), case, MoodyJudge()),
    ]
    first, *_ = await evaluate(list(items))
    assert (first.evaluator, first.score, first.explanation) == ("share", 1.0, "2 of 2")
    assert first.evidence == ()


def test_what_rests_on_a_judge_that_is_not_known_to_agree_with_people_is_no_surer() -> None:
    case = RunCase(run=whole_run().runs[0])
    sure = SourceVerdict(evaluator="tool_selection", status=Status.OK, score=1.0, passed=True)
    unsure = SourceVerdict(evaluator="task_completion", status=Status.OK, score=1.0, passed=True, uncalibrated=True)
    assert derive(Item(Share(), case), [sure]).uncalibrated is False
    assert derive(Item(Share(), case), [sure, unsure]).uncalibrated is True
