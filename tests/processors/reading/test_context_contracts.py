"""What a judge is shown of each step, on runs that instrumentations really recorded.

Each test names what makes the recording hard, and makes sure that this is in its bytes.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import pytest

from collector.commands.replay import judge_traces
from collector.judging.setup import Plan, build
from evaluators.cases import Role, Run, ToolCall, Turn
from evaluators.verdict import Status, Verdict
from processors.otlp import Span, decode_span
from processors.transcript import Transcript
from tests.processors.ordinary import ordinary_settings
from tests.processors.recorded_runs import RECORDED, facts_of, recorded_runs, saved, transcripts_of


@cache
def transcripts(name: str) -> tuple[Transcript, ...]:
    return tuple(transcripts_of(saved(RECORDED / name)))


@cache
def spans(name: str) -> tuple[Span, ...]:
    return tuple(decode_span(one.origin.resource, one.origin.scope, one.span) for one in saved(RECORDED / name).spans)


def runs(name: str) -> list[Run]:
    return [run for transcript in transcripts(name) for run in transcript.runs]


def turns(name: str) -> list[Turn]:
    return [turn for run in runs(name) for turn in run.turns]


def calls(name: str) -> list[ToolCall]:
    return [call for run in runs(name) for call in run.calls]


def the_call(name: str, tool: str) -> ToolCall:
    (found,) = [call for turn in turns(name) for call in turn.calls if call.name.endswith(tool)]
    return found


async def verdicts(name: str) -> list[Verdict]:
    judge, _ = build(Plan(evaluators=ordinary_settings()))
    return [
        placed.verdict
        async for scores in judge_traces(judge, saved(RECORDED / name).traces)
        for placed in scores.verdicts
    ]


def recorded(scenario: str, *facts: str, traces: int | None = None) -> list[str]:
    """Runs of a scenario whose bytes hold these facts, of every call; with `traces`, those spread over so many."""
    found = []
    for run in recorded_runs():
        told = facts_of(run)
        absent = {
            *told["not_recorded"],
            *(fact for call in told["tool_calls"] for fact in call.get("not_recorded", ())),
        }
        name = str(run.relative_to(RECORDED))
        if run.name == scenario and absent.isdisjoint(facts) and traces in (None, len(saved(run).traces)):
            found.append(name)
    return found


def told_by_turns(scenario: str, *facts: str) -> list[str]:
    """Runs in one trace whose calls are told by spans of the model's calls, and not by those of executions alone."""
    found = recorded(scenario, "tool_calls", *facts, traces=1)
    return [name for name in found if sum(len(turn.calls) for turn in turns(name)) > 1]


def offered(turn: Turn) -> set[str]:
    return {tool.name for tool in turn.tools or ()}


@pytest.mark.parametrize("name", told_by_turns("delegate", "tools") + told_by_turns("handoff", "tools"))
def test_each_turn_is_offered_the_tools_of_its_own_agent(name: str) -> None:
    first, *others = turns(name)
    assert first.calls and "find_book" not in offered(first)
    assert any("find_book" in offered(turn) for turn in others)
    for turn in turns(name):
        assert {call.name for call in turn.calls} <= offered(turn)


@pytest.mark.parametrize("name", told_by_turns("retry", "tool_results", "arguments"))
def test_a_turn_sees_what_came_of_the_calls_before_it(name: str) -> None:
    asked = [turn for turn in turns(name) if turn.calls]
    first, second = asked[0].calls[0], asked[1]

    assert first.result is not None and (first.result.content or first.result.error)
    assert first.id in second.answers


@pytest.mark.parametrize("name", told_by_turns("parallel", "tool_results", "arguments"))
def test_calls_made_together_are_told_apart(name: str) -> None:
    opening, book = the_call(name, "opening_hours"), the_call(name, "find_book")
    (asking,) = {turn.ref: turn for turn in turns(name) if turn.calls}.values()

    assert list(asking.calls) == [opening, book]
    assert opening.result is not None and "09:00" in (opening.result.content or "")
    assert book.result is not None and "F-18" in (book.result.content or "")
    assert "F-18" not in (opening.result.content or "") and "09:00" not in (book.result.content or "")
    assert opening.ref is None or opening.ref != book.ref
    answering = [turn for turn in turns(name) if turn.answers]
    assert {answer for turn in answering for answer in turn.answers} == {opening.id, book.id}


@pytest.mark.parametrize("name", told_by_turns("parallel", "tool_results", "arguments", "schemas"))
async def test_calls_made_together_are_judged_one_by_one(name: str) -> None:
    judged = [each for each in await verdicts(name) if each.evaluator == "tool_invocation"]
    told = {call.call_id for each in judged for call in each.calls}
    assert {each.status for each in judged} <= {Status.OK, Status.NEEDS_JUDGE}
    assert told == {call.id for call in calls(name)} or len(judged) == len({call.ref for call in calls(name)})


HANDED_OVER = [
    name
    for name in told_by_turns("delegate") + told_by_turns("handoff")
    if "transfer_to_" in str(facts_of(RECORDED / name))
]


@pytest.mark.parametrize("name", HANDED_OVER)
async def test_handing_over_is_no_use_of_a_tool(name: str) -> None:
    (over,) = [call for call in turns(name)[0].calls if call.name.startswith("transfer_to_")]
    assert over.is_handoff
    given = await verdicts(name)
    assert over.id not in {call.call_id for each in given for call in each.calls}
    assert over.id not in {issue.call_id for each in given for issue in each.issues}
    assert len(runs(name)) == 1 and runs(name)[0].final_answer is not None


NATIVE = "com.anthropic.sdk.python"
BOTH = [name for name in recorded("lend") + recorded("retry") if NATIVE in {span.scope_name for span in spans(name)}]


@pytest.mark.parametrize("name", BOTH)
def test_spans_of_the_providers_own_sdk_are_no_further_calls_of_the_model(name: str) -> None:
    assert len({span.scope_name for span in spans(name)}) > 1
    assert len(turns(name)) == 1 + len(
        {call.id for turn in turns(name) for call in turn.calls} or facts_of(RECORDED / name)["tool_calls"]
    )


def bare(scenario: str) -> list[str]:
    return [name for name in recorded(scenario, "tool_calls") if "-bare/" in name]


@pytest.mark.parametrize("name", bare("retry"))
async def test_a_call_that_every_later_trace_repeats_is_judged_once(name: str) -> None:
    assert len(transcripts(name)) > 1
    given = [each for each in await verdicts(name) if each.evaluator == "tool_invocation" and each.status is Status.OK]
    judged = [call.call_id for each in given for call in each.calls]
    assert len(judged) == len(set(judged)) == len(facts_of(RECORDED / name)["tool_calls"])
    ended = [each for each in await verdicts(name) if each.evaluator == "task_completion"]
    assert len(ended) == 1


@pytest.mark.parametrize("name", recorded("turns", "tool_calls", "user_input", traces=2))
def test_what_an_earlier_run_asked_for_is_no_call_of_the_next_one(name: str) -> None:
    by_user: dict[str, list[str]] = {}
    for run in runs(name):
        for turn in run.turns:
            said = (run.user_inputs or ("",))[turn.user_turn]
            by_user.setdefault(said, []).extend(call.name for call in turn.calls)
    asked, lent = facts_of(RECORDED / name)["user_inputs"]
    assert by_user == {asked: ["find_book"], lent: ["lend_copy"]}


@pytest.mark.parametrize(
    "name",
    ["anthropic__otel-genai-span/retry", "anthropic__traceloop/retry", "pydantic-ai__native-v5/retry"],
)
def test_results_under_the_role_of_the_user_are_not_the_users_words(name: str) -> None:
    messages = [
        message
        for span in spans(name)
        for message in json.loads(str(span.attributes.get("gen_ai.input.messages") or "[]"))
    ]
    assert any(one["role"] == "user" and one["parts"][0]["type"] == "tool_call_response" for one in messages)
    assert [text for run in runs(name) for text in run.user_inputs or ()] == facts_of(RECORDED / name)["user_inputs"]
    assert any(message.role is Role.TOOL for turn in turns(name) for message in turn.context or ())


REDACTED = "An error occurred while running the tool. Please try again."
HIDDEN_ERRORS = [
    name
    for name in told_by_turns("retry", "tool_results")
    if facts_of(RECORDED / name)["tool_calls"][0].get("shown") == REDACTED
]


@pytest.mark.parametrize("name", HIDDEN_ERRORS)
def test_where_the_framework_hid_an_error_the_call_failed_and_the_model_was_told_no_more(name: str) -> None:
    first, second = (call for turn in turns(name) for call in turn.calls)
    assert first.result is not None and first.result.failed and first.result.content == REDACTED
    assert second.result is not None and not second.result.failed


@pytest.mark.parametrize("name", recorded("model_fails", "tool_calls"))
async def test_a_run_that_stops_has_no_answer_and_its_last_words_are_none(name: str) -> None:
    (run,) = runs(name)
    assert run.final_answer is None
    assert run.turns[-1].error is not None
    (ended,) = [each for each in await verdicts(name) if each.evaluator == "task_completion"]
    assert (ended.label, [issue.code.value for issue in ended.issues]) == ("fail", ["run_aborted"])


def test_a_schema_in_the_place_of_arguments_is_not_what_the_tool_was_called_with() -> None:
    name = "openai__openinference-genai/lend"
    (tool,) = [span for span in spans(name) if span.attributes.get("gen_ai.operation.name") == "execute_tool"]
    assert '"properties"' in str(tool.attributes["gen_ai.tool.call.arguments"])
    assert the_call(name, "find_book").arguments == {"title": "The Salt Road", "branch": "Riverside"}


def test_a_tools_name_on_the_span_of_a_model_call_makes_no_execution_of_it() -> None:
    name = "openai__openlit/parallel"
    asking = [span for span in spans(name) if span.attributes.get("gen_ai.operation.name") == "chat"]
    assert any("," in str(span.attributes.get("gen_ai.tool.name")) for span in asking)
    assert sorted(call.name for call in calls(name)) == ["find_book", "opening_hours"]
    assert {call.ref for call in calls(name)}.isdisjoint({span.span_id for span in asking})


@pytest.mark.parametrize("name", recorded("broken_arguments", "tool_calls", "arguments"))
def test_arguments_that_are_no_json_stay_the_models_own_words(name: str) -> None:
    broken = calls(name)[0]
    assert isinstance(broken.arguments, str) and broken.arguments.startswith('{"title": "The Salt Road"')


@pytest.mark.parametrize("name", ["openai__openinference-hidden/retry", "openai__otel-genai-off/retry"])
async def test_where_content_is_hidden_nothing_is_scored(name: str) -> None:
    given = await verdicts(name)
    assert given
    assert {each.status for each in given} == {Status.MISSING_INPUT}
    assert all(
        ("OPENINFERENCE_HIDE_INPUTS" in each.explanation) or ("CAPTURE_MESSAGE_CONTENT" in each.explanation)
        for each in given
    )


def test_recordings_of_every_kind_are_there() -> None:
    assert Path(RECORDED).is_dir()
    for scenario in ("lend", "retry", "parallel", "turns", "delegate", "handoff", "model_fails", "broken_arguments"):
        assert recorded(scenario, "tool_calls"), scenario


@pytest.mark.parametrize("name", [str(run.relative_to(RECORDED)) for run in recorded_runs()])
def test_a_turn_answers_only_calls_that_there_are(name: str) -> None:
    for run in runs(name):
        assert {answer for turn in run.turns for answer in turn.answers} <= {call.id for call in run.calls}
