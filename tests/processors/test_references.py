"""References of runs in traces: found by attributes, session and input, or told by attributes where that is allowed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, ArrayValue, KeyValue

from evaluators.cases import Reference, ReferenceCall, Run, ToolCall, Turn
from evaluators.reference import ToolCallsMatch
from evaluators.reference.file import read_references
from evaluators.reference.lookup import References
from evaluators.verdict import Method, Status, Verdict
from processors.judging import TraceInput, TraceJudge
from processors.otlp import Span
from processors.references import RunReferences
from processors.transcript import Transcript
from tests.processors.steps import TRACE_ID, hex_id, raw_span

TEST, AGENT, STEP = 1, 2, 3
CALLS = [{"name": "look_up", "arguments": {"city": "Lima"}}]


def spans(**attributes: dict[str, Any]) -> dict[str, Span]:
    """A test round an agent round a step; attributes by `test`, `agent` and `step`."""
    of = (("test", TEST, None), ("agent", AGENT, TEST), ("step", STEP, AGENT))
    return {
        hex_id(number): Span(
            trace_id="",
            span_id=hex_id(number),
            parent_id=None if parent is None else hex_id(parent),
            attributes=attributes.get(name, {}),
            resource=attributes.get("resource", {}),
        )
        for name, number, parent in of
    }


RUN = Run(ref=hex_id(AGENT), session_id="s-1", user_inputs=("How warm?",))


def from_attributes(**attributes: dict[str, Any]) -> Reference | None:
    return RunReferences(References(()), from_attributes=True).find(RUN, spans(**attributes))


def from_file(tmp_path: Path, condition: str, **attributes: dict[str, Any]) -> Reference | None:
    path = tmp_path / "references.yaml"
    path.write_text(f"references:\n  - match: {condition}\n    outcome: Warm.\n", "utf-8")
    return RunReferences(References(read_references(path))).find(RUN, spans(**attributes))


@pytest.mark.parametrize("place", ["agent", "test", "resource"])
def test_a_run_is_known_by_attributes_of_its_span_of_spans_around_it_and_of_its_resource(
    tmp_path: Path, place: str
) -> None:
    found = from_file(tmp_path, "{attributes: {test.case.id: 17}}", **{place: {"test.case.id": 17}})
    assert found == Reference(outcome="Warm.", source="file")


def test_attributes_of_steps_and_other_values_are_another_run_s(tmp_path: Path) -> None:
    condition = "{attributes: {test.case.id: 17}}"
    assert from_file(tmp_path, condition, step={"test.case.id": 17}) is None
    assert from_file(tmp_path, condition, agent={"test.case.id": 18}, test={"test.case.id": 17}) is None


def test_a_run_is_known_by_its_session_and_by_what_the_user_said(tmp_path: Path) -> None:
    assert from_file(tmp_path, "{session: s-1}") is not None
    assert from_file(tmp_path, "{input: 'How  warm?'}") is not None
    assert from_file(tmp_path, "{session: s-2}") is None


TOLD: list[dict[str, Any]] = [
    {"eval.reference.tool_calls": json.dumps(CALLS)},
    {"eval.reference.tool_calls": [json.dumps(CALLS[0])]},
    {"eval.reference.tool_calls": CALLS},
]


@pytest.mark.parametrize("attributes", TOLD)
def test_attributes_tell_calls_as_text_or_in_parts(attributes: dict[str, Any]) -> None:
    call = ReferenceCall(name="look_up", arguments={"city": "Lima"})
    assert from_attributes(agent=attributes) == Reference(tool_calls=(call,), source="attributes")


def test_attributes_tell_the_rest_in_words() -> None:
    told = {
        "eval.reference.task": "Find out.",
        "eval.reference.outcome": "Warm.",
        "eval.reference.required_outputs": ["23"],
        "eval.reference.tool_calls": ["look_up"],
    }
    assert from_attributes(test=told) == Reference(
        task="Find out.",
        outcome="Warm.",
        required_outputs=("23",),
        tool_calls=(ReferenceCall(name="look_up"),),
        source="attributes",
    )


def test_the_span_nearest_to_the_run_that_tells_anything_is_believed() -> None:
    found = from_attributes(
        agent={"eval.reference.outcome": "Warm."}, test={"eval.reference.outcome": "Cold.", "eval.reference.task": "x"}
    )
    assert found == Reference(outcome="Warm.", source="attributes")


UNREADABLE = ["{", "[1]", "7", 7, [[1]], json.dumps([{"nam": "x"}]), "[" * 200 + "]" * 200]


@pytest.mark.parametrize("value", UNREADABLE)
def test_what_can_t_be_read_in_attributes_is_left_out(value: Any) -> None:
    assert from_attributes(agent={"eval.reference.tool_calls": value}) is None
    rest = {"eval.reference.tool_calls": value, "eval.reference.outcome": "Warm."}
    assert from_attributes(agent=rest) == Reference(outcome="Warm.", source="attributes")


def test_attributes_are_not_believed_unless_that_is_allowed_and_a_file_goes_before_them(tmp_path: Path) -> None:
    told = {"eval.reference.outcome": "Cold."}
    assert RunReferences(References(())).find(RUN, spans(agent=told)) is None
    assert from_file(tmp_path, "{session: s-1}", agent=told) == Reference(outcome="Warm.", source="file")


def test_parents_that_go_round_in_circles_are_left_at_some_point() -> None:
    around = {hex_id(AGENT): Span(trace_id="", span_id=hex_id(AGENT), parent_id=hex_id(AGENT))}
    assert RunReferences(References(()), from_attributes=True).find(RUN, around) is None


def attribute(key: str, *values: str) -> KeyValue:
    listed = ArrayValue(values=[AnyValue(string_value=value) for value in values])
    return KeyValue(key=key, value=AnyValue(array_value=listed))


async def judged(*attributes: KeyValue, references: RunReferences | None) -> Verdict:
    """What tool_calls_match says of a trace in which an agent looked Lima up."""
    call = ToolCall(id="c1", name="look_up", arguments={"city": "Lima"}, ref=hex_id(STEP))
    run = Run(turns=(Turn(index=0, calls=(call,), ref=hex_id(STEP)),), ref=hex_id(AGENT), final_answer="Warm.")
    transcript = Transcript(trace_id=TRACE_ID.hex(), runs=(run,))
    judge = TraceJudge([ToolCallsMatch()], read=lambda spans, logs: transcript, references=references)
    raw = [raw_span(AGENT, name="agent", attributes=attributes), raw_span(STEP, parent=AGENT)]
    scores = await judge.judge(TraceInput(trace_id=TRACE_ID, spans=raw, complete=True))
    [placed] = scores.verdicts
    assert placed.span_id == hex_id(AGENT)
    return placed.verdict


async def test_a_live_run_is_held_against_what_its_attributes_tell_and_the_verdict_says_so() -> None:
    allowed = RunReferences(References(()), from_attributes=True)
    verdict = await judged(attribute("eval.reference.tool_calls", "look_up", "pay"), references=allowed)
    assert (verdict.status, verdict.score, verdict.method) == (Status.OK, 0.6667, Method.REFERENCE)
    assert verdict.details["reference"] == "attributes"
    assert "from the run's own attributes" in verdict.explanation


async def test_a_live_run_is_held_against_a_file(tmp_path: Path) -> None:
    path = tmp_path / "references.jsonl"
    path.write_text('{"match": {"attributes": {"case": "17"}}, "tool_calls": ["look_up"]}\n', "utf-8")
    known = RunReferences(References(read_references(path)))
    case = KeyValue(key="case", value=AnyValue(int_value=17))
    verdict = await judged(case, references=known)
    assert (verdict.score, verdict.details["reference"]) == (1.0, "file")


async def test_a_live_run_that_nothing_is_known_of_has_no_score() -> None:
    for references in (None, RunReferences(References(()), from_attributes=True)):
        verdict = await judged(references=references)
        assert (verdict.status, verdict.score) == (Status.MISSING_INPUT, None)
