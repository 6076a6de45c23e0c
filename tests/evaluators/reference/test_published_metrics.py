"""Published metrics: the numbers that the published code gave for these calls, and a status where it gives none.

`published_scores.json` holds, for each set of options, what the named version of the peer returned; null where it
raised an error.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from evaluators.cases import JsonValue, ReferenceCall, Run, RunCase, Turn
from evaluators.evaluation import judge_by_rules
from evaluators.issues import IssueCode
from evaluators.reference import (
    AdkTrajectory,
    ArgumentMatch,
    ExpectedTools,
    ExpectedToolsSettings,
    LoopDetection,
    LoopDetectionSettings,
    NameTrajectory,
    ToolCallsMatch,
    ToolCorrectness,
    ToolCorrectnessSettings,
    ToolPermission,
    ToolPermissionSettings,
)
from evaluators.registry import CASE_OPTIONS, EVALUATORS
from evaluators.verdict import Method, Status
from tests.evaluators.reference.calls_of import Spec, case_of, expected, judged, made, result

PUBLISHED = json.loads((Path(__file__).parent / "published_scores.json").read_text(encoding="utf-8"))
REFERENCE_METRICS = [name for name in CASE_OPTIONS if name not in ("loop_detection", "tool_permission")]
FIND: Spec = ("find", {"city": "Lima"})
BOOK: Spec = ("book", {"hotel": "Aurora", "nights": 2})


def specs(calls: list[dict[str, Any]]) -> list[Spec]:
    return [(call["name"], call["arguments"]) for call in calls]


@pytest.mark.parametrize(
    "row", PUBLISHED["published"], ids=[f"{row['metric']}-{row['options']}" for row in PUBLISHED["published"]]
)
def test_the_published_number_is_met(row: dict[str, Any]) -> None:
    entry = EVALUATORS[row["metric"]]
    evaluator = entry.create(entry.settings.model_validate(row["options"]))
    for case, score in row["scores"].items():
        calls = PUBLISHED["calls"][case]
        verdict = judged(evaluator, specs(calls["made"]), specs(calls["expected"]))
        if score is None:
            assert verdict.status is not Status.OK, case
        assert verdict.score == (score if score is None else pytest.approx(score, abs=1e-4)), case
        assert (verdict.label, verdict.passed) == (None, None)


NUMBER: list[tuple[str, str, dict[str, JsonValue], list[Spec], list[Spec], float]] = [
    ("accuracy: strict order", "tool_call_accuracy", {}, [BOOK, FIND], [FIND, BOOK], 0.0),
    ("accuracy: any order", "tool_call_accuracy", {"strict_order": False}, [BOOK, FIND], [FIND, BOOK], 1.0),
    (
        "accuracy: half of the arguments",
        "tool_call_accuracy",
        {},
        [("book", {"hotel": "Aurora", "nights": 3})],
        [BOOK],
        0.5,
    ),
    (
        "accuracy: more arguments than expected cost nothing",
        "tool_call_accuracy",
        {},
        [BOOK],
        [("book", {"nights": 2})],
        1.0,
    ),
    ("accuracy: arguments where none were expected", "tool_call_accuracy", {}, [BOOK], [("book", {})], 0.0),
    (
        "accuracy: values are compared as text",
        "tool_call_accuracy",
        {},
        [("book", {"nights": "2"})],
        [("book", {"nights": 2})],
        1.0,
    ),
    ("accuracy: 5 isn't 5.0 as text", "tool_call_accuracy", {}, [("pay", {"n": 5})], [("pay", {"n": 5.0})], 0.0),
    ("accuracy: one extra call", "tool_call_accuracy", {}, [FIND, BOOK], [FIND], 0.0),
    (
        "accuracy: sorted and paired in that order",
        "tool_call_accuracy",
        {"strict_order": False},
        [("a", {"n": 2}), ("a", {"n": 3})],
        [("a", {"n": 1}), ("a", {"n": 2})],
        0.0,
    ),
    ("f1: a loop counts once", "tool_call_f1", {}, [FIND] * 10, [FIND], 1.0),
    ("f1: one wrong argument counts twice", "tool_call_f1", {}, [FIND, ("book", {"hotel": "Sol"})], [FIND, BOOK], 0.5),
    ("f1: nothing at all", "tool_call_f1", {}, [], [], 0.0),
    ("f1: nested values", "tool_call_f1", {}, [("a", {"x": [1, {"y": 2}]})], [("a", {"x": [1.0, {"y": 2}]})], 1.0),
    ("adk: exactly", "adk_trajectory", {}, [FIND, BOOK], [FIND, BOOK], 1.0),
    ("adk: in order, with others", "adk_trajectory", {"match_type": "IN_ORDER"}, [FIND, FIND, BOOK], [FIND, BOOK], 1.0),
    ("adk: any order", "adk_trajectory", {"match_type": "ANY_ORDER"}, [BOOK, FIND], [FIND, BOOK], 1.0),
    ("adk: any order counts", "adk_trajectory", {"match_type": "ANY_ORDER"}, [FIND], [FIND, FIND], 0.0),
    ("adk: nothing expected passes whatever was called", "adk_trajectory", {"match_type": "IN_ORDER"}, [FIND], [], 1.0),
    ("adk: names alone", "adk_trajectory", {"ignore_args": True}, [("find", {})], [FIND], 1.0),
    ("expected tools", "expected_tools", {}, [BOOK, FIND], [FIND, BOOK], 1.0),
    ("expected tools: one extra", "expected_tools", {}, [FIND, FIND], [FIND], 0.0),
    ("expected tools: one extra allowed", "expected_tools", {"allow_extra": True}, [FIND, FIND], [FIND], 1.0),
    ("names: in order", "name_trajectory", {}, [BOOK, FIND], [FIND, BOOK], 0.5),
    ("names: any order", "name_trajectory", {"order": "any_order"}, [BOOK, FIND], [FIND, BOOK], 1.0),
    ("names: exact", "name_trajectory", {"order": "exact"}, [FIND, BOOK], [FIND, BOOK], 1.0),
    ("names: nothing at all", "name_trajectory", {}, [], [], 1.0),
    ("argument: first call", "argument_match", {}, [FIND, ("find", {})], [FIND], 1.0),
    ("argument: last call", "argument_match", {"occurrence": "last"}, [FIND, ("find", {})], [FIND], 0.0),
    ("argument: a call that wasn't made", "argument_match", {"occurrence": 1}, [FIND], [FIND], 0.0),
    ("argument: a subset", "argument_match", {}, [BOOK], [("book", {"nights": 2})], 1.0),
    ("argument: exactly", "argument_match", {"match_mode": "exact"}, [BOOK], [("book", {"nights": 2})], 0.0),
]


@pytest.mark.parametrize(
    ("name", "options", "calls", "reference", "score"), [row[1:] for row in NUMBER], ids=[row[0] for row in NUMBER]
)
def test_a_rule_as_published(
    name: str, options: dict[str, JsonValue], calls: list[Spec], reference: list[Spec], score: float
) -> None:
    entry = EVALUATORS[name]
    assert judged(entry.create(entry.settings.model_validate(options)), calls, reference).score == score


@pytest.mark.parametrize("name", REFERENCE_METRICS)
def test_without_a_reference_without_calls_or_with_half_a_trace_there_is_no_score(name: str) -> None:
    evaluator = EVALUATORS[name].create()
    unseen = RunCase(run=Run(missing=("tool_calls",)), reference=case_of((), expected(FIND)).reference)
    partial = RunCase(run=Run(partial=True), reference=unseen.reference)
    for case in (case_of(made(FIND), None), unseen, partial):
        verdict = judge_by_rules(evaluator, case)
        assert (verdict.status, verdict.score) == (Status.MISSING_INPUT, None)
        assert verdict.explanation


@pytest.mark.parametrize("name", REFERENCE_METRICS)
def test_arguments_that_are_strange_give_a_score_or_a_status_and_never_an_error(name: str) -> None:
    deep: JsonValue = 1
    for _ in range(2_000):
        deep = {"x": deep}
    evaluator = EVALUATORS[name].create()
    for arguments in (None, {}, "{not json", '{"city": "Lima"}', {"x": deep}, {"": 2**80, "x": [None, float("nan")]}):
        for wanted in (None, {}, {"city": "Lima"}, {"x": deep}):
            calls = tuple(one for one in made(FIND, ("find", arguments)))  # type: ignore[arg-type]
            verdict = judge_by_rules(evaluator, case_of(calls, (ReferenceCall(name="find", arguments=wanted),)))
            assert (verdict.status is Status.OK) == (verdict.score is not None)


def test_calls_that_were_lost_are_not_held_against_a_run_and_those_that_were_only_executed_count() -> None:
    some = case_of(made(FIND), expected(FIND, BOOK))
    some = replace(some, run=replace(some.run, missing=("tool_calls",)))
    assert judge_by_rules(ToolCallsMatch(), some).status is Status.MISSING_INPUT
    executed = replace(some, run=replace(some.run, turns=(Turn(index=0),), loose_calls=made(FIND, BOOK)))
    assert judge_by_rules(ToolCallsMatch(), executed).score == 1.0


CUT = [name for name in REFERENCE_METRICS if name not in ("expected_tools", "name_trajectory")]
WITH_ARGUMENTS: dict[str, dict[str, JsonValue]] = {
    "tool_correctness": {"evaluation_params": ["name", "args"]},
    "navigation_efficiency": {"parameter_matching": True},
}


@pytest.mark.parametrize("name", CUT)
def test_arguments_that_were_lost_are_not_held_against_a_run(name: str) -> None:
    entry = EVALUATORS[name]
    evaluator = entry.create(entry.settings.model_validate(WITH_ARGUMENTS.get(name, {})))
    lost = case_of(made(("find", None)), expected(FIND))
    lost = replace(lost, run=replace(lost.run, missing=("arguments",)))
    for case in (lost, case_of(made(FIND, truncated=True), expected(FIND))):
        assert judge_by_rules(evaluator, case).status is Status.MISSING_INPUT
    names = case_of(made(FIND, truncated=True), expected(FIND))
    assert judge_by_rules(ExpectedTools(), names).score == judge_by_rules(NameTrajectory(), names).score == 1.0


def test_arguments_as_text_are_the_object_that_the_text_holds() -> None:
    verdict = judged(AdkTrajectory(), [("find", '{"city": "Lima"}')], [FIND])  # type: ignore[list-item]
    assert verdict.score == 1.0


def test_null_arguments_on_one_side_have_no_score_where_the_published_code_fails() -> None:
    evaluator = ToolCorrectness(ToolCorrectnessSettings(evaluation_params=("name", "args")))
    verdict = judged(evaluator, [("find", None)], [FIND])
    assert (verdict.status, verdict.score) == (Status.MISSING_INPUT, None)
    assert judged(ToolCorrectness(), [("find", None)], [FIND]).score == 1.0


def test_outputs_count_where_they_are_compared() -> None:
    evaluator = ToolCorrectness(ToolCorrectnessSettings(evaluation_params=("name", "output")))
    wanted = (ReferenceCall(name="find", output={"n": 1.0}),)
    for told, score in ((result('{"n": 1}'), 1.0), (result("none"), 0.0), (None, 0.0)):
        assert judge_by_rules(evaluator, case_of(made(FIND, result=told), wanted)).score == score


def test_calls_that_failed_are_left_out_where_the_published_metric_does_so() -> None:
    case = case_of(made(FIND, result=result(error="timeout")), expected(FIND))
    assert judge_by_rules(ExpectedTools(), case).score == 0.0
    assert judge_by_rules(ExpectedTools(ExpectedToolsSettings(include_failed=True)), case).score == 1.0
    assert judge_by_rules(NameTrajectory(), case).score == 0.0
    assert judge_by_rules(ArgumentMatch(), case).score == 0.0


def test_what_is_permitted_is_a_rule_and_names_each_call_that_isn_t() -> None:
    evaluator = ToolPermission(ToolPermissionSettings(allowed_tools=("find", "book"), denied_tools=("book",)))
    verdict = judge_by_rules(evaluator, case_of(made(FIND, BOOK, ("pay", {})), None))
    assert (verdict.score, verdict.method) == (0.3333, Method.RULE)
    assert [(one.code, one.call_id) for one in verdict.issues] == [
        (IssueCode.POLICY_VIOLATION, "c1"),
        (IssueCode.POLICY_VIOLATION, "c2"),
    ]
    assert judge_by_rules(evaluator, case_of((), None)).score == 1.0
    assert judge_by_rules(ToolPermission(), case_of(made(FIND), None)).status is Status.MISSING_INPUT


def loops(calls: int = 0, texts: tuple[str, ...] = (), **settings: Any) -> Any:
    children: list[JsonValue] = [{"type": "tool", "name": "poll", "input": {"job": 7}} for _ in range(calls)]
    children += [{"type": "llm", "name": "m", "output": text} for text in texts]
    trace: JsonValue = {"type": "agent", "name": "a", "input": "q", "children": children}
    evaluator = LoopDetection(LoopDetectionSettings(**settings))
    return judge_by_rules(evaluator, RunCase(run=Run(), options={"trace": trace}))


LONG = " ".join(f"thought{at}" for at in range(30))


def test_signs_of_a_loop_are_weighed() -> None:
    assert [loops(calls).score for calls in (2, 3, 5, 6)] == [1.0, 0.8, 0.8, 0.6]
    assert loops(2, repetition_threshold=2).score == 0.8
    assert loops(texts=(LONG, LONG)).score == 0.65
    assert loops(texts=("Again.", "Again.")).score == 1.0
    assert loops(6, check_reasoning_stagnation=False, check_call_graph_cycles=False).score == 0.0
    assert loops(3, strict_mode=True).score == 0.0


def test_a_step_within_itself_is_a_cycle() -> None:
    step: dict[str, JsonValue] = {"type": "agent", "name": "a", "input": "q"}
    for inner, score in ((step, 0.75), ({**step, "input": "other"}, 1.0)):
        trace: JsonValue = {**step, "children": [inner]}
        assert judge_by_rules(LoopDetection(), RunCase(run=Run(), options={"trace": trace})).score == score


def test_a_run_is_looked_at_for_loops_without_cycles() -> None:
    verdict = judge_by_rules(LoopDetection(), case_of(made(*[FIND] * 6), None))
    assert verdict.score == pytest.approx(0.35 / 0.75, abs=1e-4)
    assert set(verdict.details) == {"tool_repetition", "reasoning_stagnation"}


def test_without_a_trace_or_a_run_nothing_is_said_of_loops() -> None:
    for case in (
        RunCase(run=Run(), options={"trace": None}),
        RunCase(run=Run(missing=("tool_calls",))),
        RunCase(run=Run()),
    ):
        assert judge_by_rules(LoopDetection(), case).status is Status.MISSING_INPUT


def test_a_trace_that_is_nested_without_end_breaks_nothing() -> None:
    deep: JsonValue = {}
    for _ in range(5_000):
        deep = {"type": "agent", "name": "a", "input": "q", "children": [deep]}
    verdict = judge_by_rules(LoopDetection(), RunCase(run=Run(), options={"trace": deep}))
    assert verdict.score == 0.75
