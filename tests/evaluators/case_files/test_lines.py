"""Lines of files to cases, and verdicts to lines."""

from __future__ import annotations

import json
from typing import Any

import pytest

from evaluators.case_files.lines import BadLine, NamedCase, read_cases, result_line
from evaluators.cases import (
    CallsCase,
    DecisionCase,
    Reference,
    ReferenceCall,
    ResponseCase,
    Role,
    RunCase,
    SessionCase,
    ToolResult,
)
from evaluators.reference import ToolCallsMatchSettings
from evaluators.registry import CASE_KINDS, CASE_OPTIONS, EVALUATORS
from evaluators.verdict import CallVerdict, Level, Method, Status, Usage, Verdict

USER = {"role": "user", "content": "Weather in Lima?"}
CALL = {"id": "call_1", "name": "get_weather", "arguments": {"city": "Lima"}}
RESULT = {"id": "call_1", "name": "get_weather", "content": '{"temperature": 23}'}
TOOLS = [{"name": "get_weather", "description": "Weather.", "parameters": {"type": "object"}}]
SPOKEN_CALL = {
    "role": "assistant",
    "content": None,
    "tool_calls": [
        {"id": "call_1", "type": "function", "function": {"name": "get_weather", "arguments": '{"city": "Lima"}'}}
    ],
}
SPOKEN_RESULT = {"role": "tool", "tool_call_id": "call_1", "content": '{"temperature": 23}'}


def line(evaluator: str, case_id: str = "a", **given: Any) -> bytes:
    return json.dumps({"id": case_id, "evaluator": evaluator, "input": given}).encode()


def read(evaluator: str, **given: Any) -> Any:
    [case] = read_cases([line(evaluator, **given)], CASE_KINDS)
    assert isinstance(case, NamedCase), case
    return case.case


def test_a_choice_is_the_turn_after_the_messages() -> None:
    case = read("tool_selection", messages=[USER], available_tools=TOOLS, tool_calls=[CALL], output=None)
    assert isinstance(case, DecisionCase)
    assert case.run.user_inputs == ("Weather in Lima?",)
    assert case.run.turns == (case.turn,)
    assert case.turn.tools is not None
    assert case.turn.tools[0].parameters == {"type": "object"}
    assert (case.turn.calls[0].name, case.turn.calls[0].arguments) == ("get_weather", {"city": "Lima"})
    assert case.turn.context is not None
    assert [one.role for one in case.turn.context] == [Role.USER]


def test_earlier_calls_and_their_results_are_earlier_turns() -> None:
    later = {**CALL, "id": "call_2"}
    case = read(
        "tool_invocation", messages=[USER, SPOKEN_CALL, SPOKEN_RESULT], available_tools=TOOLS, tool_calls=[later]
    )
    assert isinstance(case, CallsCase)
    first, judged = case.run.turns
    assert first.calls[0].arguments == {"city": "Lima"}
    assert first.calls[0].result is not None
    assert first.calls[0].result.content == '{"temperature": 23}'
    assert case.turn is judged
    assert judged.answers == ("call_1",)
    assert judged.user_turn == 0


def test_results_are_answered_by_a_turn_that_saw_them() -> None:
    case = read(
        "tool_response_handling", messages=[USER], tool_calls=[CALL], tool_results=[RESULT], output="It is 23 degrees."
    )
    assert isinstance(case, ResponseCase)
    asking, answering = case.run.turns
    assert asking.calls == case.calls
    assert case.turn is answering
    assert answering.text == "It is 23 degrees."
    assert answering.answers == ("call_1",)
    assert answering.context is not None
    assert answering.context[-1].text == '{"temperature": 23}'
    assert answering.tools is None


def test_a_conversation_alone_tells_which_results_the_output_answers() -> None:
    def asked(id: str) -> dict[str, Any]:
        return {"role": "assistant", "tool_calls": [{**CALL, "id": id}]}

    def back(id: str) -> dict[str, Any]:
        return {"role": "tool", "tool_call_id": id, "content": "23"}

    case = read(
        "tool_response_handling",
        messages=[USER, asked("a"), back("a"), asked("b"), back("b")],
        output="It is 23 degrees.",
    )
    assert isinstance(case, ResponseCase)
    assert [(call.id, call.result is not None) for call in case.calls] == [("b", True)]


@pytest.mark.parametrize(("arguments", "written"), [([1, 2], "[1,2]"), (5, "5"), (False, "false"), ([], "[]")])
def test_arguments_that_are_no_object_are_the_model_s_fault_and_not_the_line_s(arguments: Any, written: str) -> None:
    case = read("tool_invocation", messages=[USER], tool_calls=[{**CALL, "arguments": arguments}])
    assert isinstance(case, CallsCase)
    assert [call.arguments for call in case.calls] == [written]


def test_calls_whose_results_were_left_out_are_judged_as_such() -> None:
    case = read("tool_response_handling", messages=[USER], tool_calls=[CALL], output="It is 23 degrees.")
    assert isinstance(case, ResponseCase)
    assert [call.result for call in case.calls] == [None]


def test_results_that_stand_in_the_messages_already_are_not_repeated() -> None:
    case = read(
        "tool_response_handling",
        messages=[USER, SPOKEN_CALL, SPOKEN_RESULT],
        tool_calls=[CALL],
        tool_results=[RESULT],
        output="23",
    )
    assert len(case.run.calls) == 1
    assert len(case.run.turns) == 2
    assert case.turn.answers == ("call_1",)


def test_a_run_ends_with_its_output_once() -> None:
    said = {"role": "assistant", "content": "23 degrees."}
    for messages in ([USER, SPOKEN_CALL, SPOKEN_RESULT, said], [USER, SPOKEN_CALL, SPOKEN_RESULT]):
        case = read(
            "task_completion",
            messages=messages,
            tool_calls=[CALL],
            output="23 degrees.",
            options={"reference": {"task": "x"}, "strict": True},
        )
        assert isinstance(case, RunCase)
        assert [turn.text for turn in case.run.turns] == [None, "23 degrees."]
        assert (case.run.final_answer, case.run.answered) == ("23 degrees.", True)
        assert case.options == {"strict": True}
        assert case.reference == Reference(task="x")


def test_a_run_without_output_ended_without_an_answer() -> None:
    case = read("step_efficiency", messages=[USER, SPOKEN_CALL], tool_calls=[CALL], output=None)
    assert (case.run.final_answer, case.run.answered) == (None, False)


def test_errors_are_known_by_their_mark() -> None:
    for mark, error in ((True, "boom"), ("timed out", "timed out"), (False, None), (None, None)):
        given = {"id": "call_1", "name": "f", "content": "boom", "error": mark}
        case = read("tool_response_handling", messages=[USER], tool_calls=[CALL], tool_results=[given], output="x")
        assert case.calls[0].result.error == error


def test_other_forms_of_messages_calls_and_tools_are_understood() -> None:
    parts = [{"type": "text", "text": "Weather"}, {"type": "image_url", "image_url": {}}, {"type": "text", "text": "?"}]
    case = read(
        "tool_selection",
        messages=[
            {"role": "developer", "content": "Be brief."},
            {"role": "user", "content": parts},
            {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": "{}"}},
            {"role": "function", "name": "f", "content": "first"},
            {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": "{}"}},
            {"role": "function", "name": "f", "content": "second"},
        ],
        available_tools=[{"type": "function", "function": {"name": "f", "parameters": None}}],
        tool_calls=[{"id": "c", "function": {"name": "f", "arguments": '{"broken'}}],
    )
    assert case.run.system_prompts == ("Be brief.",)
    assert case.run.user_inputs == ("Weather\n?",)
    assert [turn.calls[0].result.content for turn in case.run.turns[:2]] == ["first", "second"]
    assert case.turn.calls[0].arguments == '{"broken'
    assert case.turn.tools[0].name == "f"


def test_tools_left_out_were_not_captured_and_none_were_none() -> None:
    assert read("tool_selection", messages=[USER]).turn.tools is None
    assert read("tool_selection", messages=[USER], available_tools=[]).turn.tools == ()


@pytest.mark.parametrize(
    ("bad", "told"),
    [
        (b"{not json", "no JSON"),
        (b"[]", "the line"),
        (b'{"id": "a", "evaluator": "tool_selection"}', "input"),
        (line("tool_selection"), "input.messages"),
        (line("tool_selection", messages=[{"role": "robot", "content": "x"}]), "input.messages.0.role"),
        (line("tool_selection", messages=[USER], tool_calls=[{"name": "f"}]), "input.tool_calls.0.id"),
        (line("tool_elegance", tool_calls=[]), "use one of tool_selection"),
        (b"\xff\xfe", "no JSON"),
    ],
)
def test_a_bad_line_is_told_with_its_number_and_the_rest_is_read(bad: bytes, told: str) -> None:
    good = line("tool_selection", "good", messages=[USER])
    first, second = read_cases([b"\n", bad, good], CASE_KINDS)
    assert isinstance(first, BadLine)
    assert first.line == 2
    assert told in first.fault
    assert isinstance(second, NamedCase)
    assert second.line == 3


def test_there_is_a_form_of_case_for_every_evaluator() -> None:
    for name in EVALUATORS:
        assert read(name, messages=[USER], output="x").run.user_inputs == ("Weather in Lima?",)


def test_an_id_used_twice_is_a_bad_line() -> None:
    one = line("tool_selection", messages=[USER])
    first, second = read_cases([one, one], CASE_KINDS)
    assert isinstance(first, NamedCase)
    assert isinstance(second, BadLine)
    assert "line 1" in second.fault


def test_a_result_has_the_same_keys_with_and_without_a_score() -> None:
    [case] = read_cases([line("tool_selection", messages=[USER])], CASE_KINDS)
    assert isinstance(case, NamedCase)
    scored = Verdict(
        evaluator="tool_selection",
        level=Level.SPAN,
        status=Status.OK,
        label="correct",
        score=1.0,
        passed=True,
        method=Method.JUDGE,
        calls=(CallVerdict(call_id="call_1", label="correct"),),
        usage=Usage(requests=1, prompt_chars=900),
    )
    unscored = Verdict(evaluator="tool_selection", level=Level.SPAN, status=Status.NEEDS_JUDGE)
    one, other = json.loads(result_line(case, scored)), json.loads(result_line(case, unscored))
    assert one.keys() == other.keys()
    assert (one["id"], one["label"], one["score"], one["requests"], one["prompt_chars"]) == (
        "a",
        "correct",
        1.0,
        1,
        900,
    )
    assert (other["status"], other["label"], other["score"]) == ("needs_judge", None, None)


def test_a_message_with_a_picture_is_not_all_there() -> None:
    picture = [{"type": "text", "text": "What does it say?"}, {"type": "image_url", "image_url": {"url": "data:"}}]
    words = [{"type": "text", "text": "What is on?"}]
    case = read("tool_selection", messages=[{"role": "user", "content": words}, {"role": "user", "content": picture}])
    assert [message.truncated for message in case.turn.context] == [False, True]


@pytest.mark.parametrize("text", [b"[]", b"5", b'"a"', b'{"id": "a", "evaluator": "tool_selection", "input": []}'])
def test_what_is_no_object_is_told_in_plain_words(text: bytes) -> None:
    (bad,) = read_cases([text], CASE_KINDS)
    assert isinstance(bad, BadLine)
    assert "has to be an object" in bad.fault and "CaseLine" not in bad.fault


def test_a_session_has_a_run_for_every_message_of_the_user() -> None:
    said = [
        {"role": "user", "content": "A table for two, please."},
        {"role": "assistant", "content": "For when?"},
        {"role": "user", "content": "Tonight at eight."},
        {"role": "assistant", "content": "Booked."},
    ]
    [case] = read_cases([line("session_task_completion", messages=said, output="Booked.")], CASE_KINDS)
    assert isinstance(case, NamedCase) and isinstance(case.case, SessionCase)
    assert [run.user_inputs for run in case.case.runs] == [("A table for two, please.",), ("Tonight at eight.",)]
    assert [run.final_answer for run in case.case.runs] == ["For when?", "Booked."]
    assert case.case.run.user_inputs == ("A table for two, please.", "Tonight at eight.")


REFERENCE_CALLS = [{"id": "x", "name": "get_weather", "arguments": {"city": "Lima"}}]


def compared(**given: Any) -> RunCase:
    [case] = read_cases([line("tool_calls_match", **given)], CASE_KINDS, CASE_OPTIONS)
    assert isinstance(case, NamedCase), case
    assert isinstance(case.case, RunCase)
    return case.case


def test_calls_can_be_compared_without_a_conversation() -> None:
    case = compared(tool_calls=[CALL], reference_tool_calls=REFERENCE_CALLS)
    assert [call.name for call in case.run.calls] == ["get_weather"]
    assert case.reference == Reference(tool_calls=(ReferenceCall(name="get_weather", arguments={"city": "Lima"}),))


def test_expected_calls_complete_a_reference() -> None:
    case = compared(
        tool_calls=[], reference_tool_calls=[], options={"reference": {"outcome": "Told.", "task": "Tell."}}
    )
    assert case.reference == Reference(outcome="Told.", task="Tell.", tool_calls=())
    assert case.options == {}


def test_absent_and_none_are_two_things() -> None:
    none = compared(tool_calls=[], reference_tool_calls=[])
    absent = compared(tool_calls=None, reference_tool_calls=None)
    assert (none.run.missing, none.reference) == ((), Reference(tool_calls=()))
    assert (absent.run.missing, absent.reference) == (("tool_calls",), None)
    given = compared(
        tool_calls=[{"id": "a", "name": "f", "arguments": None}, {"id": "b", "name": "f", "arguments": {}}]
    )
    assert [call.arguments for call in given.run.calls] == [None, {}]


def test_numbers_of_another_kind_stay_what_they_are() -> None:
    [call] = compared(tool_calls=[{"id": "a", "name": "f", "arguments": {"n": 5.0, "yes": True}}]).run.calls
    assert isinstance(call.arguments, dict)
    assert [type(value) for value in call.arguments.values()] == [float, bool]


def test_what_came_of_a_call_may_stand_with_it() -> None:
    for output, content in (("sunny", "sunny"), ({"n": 1}, '{"n":1}'), (7, "7")):
        [call] = compared(tool_calls=[{**CALL, "output": output}]).run.calls
        assert call.result == ToolResult(content=content)


def test_options_are_settings_for_one_case() -> None:
    text = line("tool_calls_match", tool_calls=[], options={"order": "in_order", "threshold": 0.5})
    [case] = read_cases([text], CASE_KINDS, CASE_OPTIONS)
    assert isinstance(case, NamedCase)
    assert case.options == ToolCallsMatchSettings(order="in_order", threshold=0.5)


BAD_OPTIONS = [
    ({"order": "backwards"}, "input.options.order"),
    ({"odrer": "any"}, "input.options.odrer"),
    ({"fields": [{"field": "x", "regex": "("}]}, "correct the pattern"),
    ({"reference": {"tool_calls": [{"nam": "x"}]}}, "options.reference.tool_calls.0.name"),
    ({"reference": 7}, "options.reference"),
]


@pytest.mark.parametrize(("options", "told"), BAD_OPTIONS)
def test_options_that_mean_nothing_are_told_by_their_place(options: dict[str, Any], told: str) -> None:
    [bad] = read_cases([line("tool_calls_match", tool_calls=[], options=options)], CASE_KINDS, CASE_OPTIONS)
    assert isinstance(bad, BadLine)
    assert told in bad.fault


def test_steps_are_judged_in_a_conversation() -> None:
    [bad] = read_cases([line("tool_selection", tool_calls=[CALL])], CASE_KINDS)
    assert isinstance(bad, BadLine)
    assert "input.messages" in bad.fault


def test_a_trace_can_be_looked_at_for_loops() -> None:
    [case] = read_cases([line("loop_detection", trace={"type": "agent"})], CASE_KINDS, CASE_OPTIONS)
    assert isinstance(case, NamedCase)
    assert isinstance(case.case, RunCase)
    assert case.case.options == {"trace": {"type": "agent"}}
