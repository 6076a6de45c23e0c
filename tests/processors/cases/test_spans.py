"""Where a step's verdict goes, and when a step of a growing trace can be judged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from evaluators.cases import CallsCase, DecisionCase, Message, ResponseCase, Role, Run, Tool, ToolCall, ToolResult, Turn
from processors.cases.spans import Placed, Placer, place_calls, place_decisions, place_responses
from processors.transcript import Transcript
from tests.processors.steps import call, hex_id, turn

RUN, AGENT = 90, 91
TOOLS = [Tool(name="look_up")]


def told(*turns: Turn, loose: Sequence[ToolCall] = (), enclosing: dict[int, int] | None = None) -> Transcript:
    run = Run(turns=turns, loose_calls=tuple(loose), ref=hex_id(RUN))
    around = {hex_id(tool): hex_id(agent) for tool, agent in (enclosing or {}).items()}
    return Transcript(trace_id="", runs=(run,), enclosing=around)


def calls_of(one: Placed) -> list[str]:
    match one.case:
        case DecisionCase(turn=decided):
            return [asked.id for asked in decided.calls]
        case CallsCase(calls=calls) | ResponseCase(calls=calls):
            return [asked.id for asked in calls]
    raise AssertionError(one.case)


def placed(placer: Placer, transcript: Transcript, *, complete: bool = True) -> list[tuple[str, list[str]]]:
    return [(one.span_id, calls_of(one)) for one in placer(transcript, "an_evaluator", complete)]


def settled(placer: Placer, transcript: Transcript) -> list[tuple[str, bool]]:
    return [(one.span_id, one.settled) for one in placer(transcript, "an_evaluator", False)]


# --- tool_selection


def test_a_turn_that_calls_is_judged_on_its_llm_span_once_however_many_calls_it_makes() -> None:
    transcript = told(turn(0, 1, call("a", tool_span=2), call("b", tool_span=3)))
    assert placed(place_decisions, transcript) == [(hex_id(1), ["a", "b"])]


def test_the_first_answer_to_the_user_is_a_choice_even_without_a_call() -> None:
    transcript = told(turn(0, 1, tools=TOOLS))
    assert placed(place_decisions, transcript) == [(hex_id(1), [])]


def test_a_closing_turn_is_no_choice() -> None:
    transcript = told(turn(0, 1, call("a"), tools=TOOLS), turn(1, 2, answers=["a"], tools=TOOLS))
    assert placed(place_decisions, transcript) == [(hex_id(1), ["a"])]


def test_each_message_of_the_user_opens_a_choice_again() -> None:
    transcript = told(turn(0, 1, tools=TOOLS), turn(1, 2, tools=TOOLS, user_turn=1))
    assert placed(place_decisions, transcript) == [(hex_id(1), []), (hex_id(2), [])]


@pytest.mark.parametrize(
    ("roles", "chooses"),
    [
        ([Role.SYSTEM, Role.USER], True),
        ([Role.USER, Role.SYSTEM], True),
        ([Role.USER, Role.ASSISTANT, Role.TOOL], False),
        ([Role.USER, Role.ASSISTANT], False),
        ([Role.USER, Role.ASSISTANT, Role.USER], True),
    ],
)
def test_a_lone_turn_answers_the_user_only_if_the_user_spoke_last(roles: list[Role], chooses: bool) -> None:
    seen = tuple(Message(role=role, text="…") for role in roles)
    lone = Turn(index=0, context=seen, tools=tuple(TOOLS), ref=hex_id(1))
    assert placed(place_decisions, told(lone)) == ([(hex_id(1), [])] if chooses else [])


def test_a_failed_request_is_no_answer_so_its_repeat_is_the_first() -> None:
    transcript = told(turn(0, 1, tools=TOOLS, error="429"), turn(1, 2, tools=TOOLS))
    assert placed(place_decisions, transcript) == [(hex_id(2), [])]


@pytest.mark.parametrize("tools", [[], None])
def test_a_plain_chat_has_nothing_to_choose(tools: list[Tool] | None) -> None:
    assert placed(place_decisions, told(turn(0, 1, tools=tools))) == []


def test_where_the_offer_was_not_captured_calls_show_that_there_was_one() -> None:
    transcript = told(turn(0, 1), turn(1, 2, call("a"), user_turn=1))
    assert placed(place_decisions, transcript) == [(hex_id(1), []), (hex_id(2), ["a"])]


def test_calls_that_no_turn_asked_for_are_a_choice_of_the_agent_around_them() -> None:
    transcript = told(loose=[call("a", tool_span=2), call("b", tool_span=3)], enclosing={2: AGENT})
    assert placed(place_decisions, transcript) == [(hex_id(AGENT), ["a"]), (hex_id(RUN), ["b"])]


def test_calls_that_no_turn_asked_for_are_chosen_from_what_their_agents_had_where_that_is_known_of_all() -> None:
    known = [replace(call(name, tool_span=2), offered=(Tool(name=name),)) for name in "ab"]
    for calls, offered in ((known, "ab"), ([*known, call("c", tool_span=2)], None)):
        (one,) = place_decisions(told(loose=calls), "tool_selection", True)
        assert isinstance(one.case, DecisionCase)
        assert one.case.turn.tools == (tuple(Tool(name=name) for name in offered) if offered else None)


# --- tool_invocation


def test_calls_that_a_turn_whose_answer_was_not_captured_may_have_asked_for_are_no_second_choice() -> None:
    blind = turn(0, 1)
    executed = call("a", tool_span=2)
    assert blind.text is None
    assert placed(place_decisions, told(blind, loose=[executed], enclosing={2: AGENT})) == [(hex_id(1), [])]
    known = replace(executed, offered=tuple(TOOLS))
    told_of = placed(place_decisions, told(blind, loose=[known], enclosing={2: AGENT}))
    assert told_of == [(hex_id(1), []), (hex_id(AGENT), ["a"])]


def test_a_call_is_judged_on_its_tool_span() -> None:
    transcript = told(turn(0, 1, call("a", tool_span=2), call("b", tool_span=3)))
    assert placed(place_calls, transcript) == [(hex_id(2), ["a"]), (hex_id(3), ["b"])]


def test_calls_without_a_tool_span_share_the_llm_span() -> None:
    transcript = told(turn(0, 1, call("a"), call("b", tool_span=3), call("c")))
    assert placed(place_calls, transcript) == [(hex_id(1), ["a", "c"]), (hex_id(3), ["b"])]


def test_a_call_of_no_turn_is_judged_on_its_own_span() -> None:
    transcript = told(loose=[call("a", tool_span=2)])
    assert placed(place_calls, transcript) == [(hex_id(2), ["a"])]


def test_a_call_that_was_only_seen_in_a_history_was_decided_and_is_judged_elsewhere() -> None:
    transcript = told(turn(0, 1, answers=["a"]), loose=[call("a", result="x")])
    assert placed(place_decisions, transcript) == []
    assert placed(place_calls, transcript) == []
    assert placed(place_responses, transcript) == [(hex_id(1), ["a"])]


def test_a_call_that_was_seen_nowhere_but_in_an_inferred_turn_is_judged_on_the_run() -> None:
    assert placed(place_calls, told(turn(0, None, call("a")))) == [(hex_id(RUN), ["a"])]


# --- tool_response_handling


def test_results_are_judged_on_the_first_turn_that_sees_them_all_at_once() -> None:
    transcript = told(turn(0, 1, call("a", result="x"), call("b", result="y")), turn(1, 2, answers=["a", "b"]))
    assert placed(place_responses, transcript) == [(hex_id(2), ["a", "b"])]


def test_later_turns_count_up_to_the_next_message_of_the_user() -> None:
    transcript = told(
        turn(0, 1, call("a", result="x")),
        turn(1, 2, answers=["a"]),
        turn(2, 3),
        turn(3, 4, user_turn=1),
    )
    (one,) = place_responses(transcript, "tool_response_handling", True)
    assert isinstance(one.case, ResponseCase)
    assert [later.index for later in one.case.later] == [2]


def test_an_id_that_comes_again_means_the_nearest_call_before() -> None:
    transcript = told(
        turn(0, 1, call("a", result="old")),
        turn(1, 2, call("a", result="new"), answers=["a"]),
        turn(2, 3, answers=["a"]),
    )
    cases = [one.case for one in place_responses(transcript, "tool_response_handling", True)]
    contents = [
        case.calls[0].result.content for case in cases if isinstance(case, ResponseCase) and case.calls[0].result
    ]
    assert contents == ["old", "new"]


def test_calls_of_one_turn_that_share_an_id_are_all_answered() -> None:
    transcript = told(turn(0, 1, call("a", result="x"), call("a", result="y")), turn(1, 2, answers=["a", "a"]))
    assert placed(place_responses, transcript) == [(hex_id(2), ["a", "a"])]


def test_what_an_earlier_run_made_of_its_results_is_not_judged_here() -> None:
    known = replace(call("old", result="x"), earlier=True)
    assert placed(place_responses, told(turn(0, 1), loose=[known])) == []


def test_a_result_of_an_earlier_call_is_judged_on_the_turn_that_saw_it_first() -> None:
    known = replace(call("old", result="x"), earlier=True)
    transcript = told(turn(0, 1, answers=["old"]), loose=[known])
    assert placed(place_responses, transcript) == [(hex_id(1), ["old"])]


def test_what_the_provider_executed_itself_may_be_answered_in_the_same_turn() -> None:
    search = ToolCall(id="w", name="web_search", result=ToolResult(content="x"), provider_executed=True)
    assert placed(place_responses, told(turn(0, 1, search, answers=["w"]))) == [(hex_id(1), ["w"])]


def test_a_result_that_no_turn_saw_is_judged_on_the_agent_around_it() -> None:
    transcript = told(turn(0, 1, call("a", tool_span=2, result="x")), enclosing={2: AGENT})
    (one,) = place_responses(transcript, "tool_response_handling", True)
    assert isinstance(one.case, ResponseCase)
    assert (one.span_id, one.case.turn) == (hex_id(AGENT), None)


def test_a_result_that_no_turn_saw_and_no_agent_encloses_is_judged_on_the_run() -> None:
    transcript = told(loose=[call("a", tool_span=2, result="x")])
    assert placed(place_responses, transcript) == [(hex_id(RUN), ["a"])]


def test_a_hand_off_or_a_call_without_result_leaves_nothing_to_handle() -> None:
    transcript = told(turn(0, 1, call("a", result="moved", handoff=True), call("b")))
    assert placed(place_responses, transcript) == []


def test_an_answer_to_an_unknown_call_is_passed_over() -> None:
    assert placed(place_responses, told(turn(0, 1, answers=["never-seen"]))) == []


# --- a trace that is still growing


def test_a_step_is_settled_once_its_results_are_there() -> None:
    waiting = told(turn(0, 1, call("a", tool_span=2, result="x"), call("b", tool_span=3)))
    assert settled(place_decisions, waiting) == [(hex_id(1), False)]
    assert settled(place_calls, waiting) == [(hex_id(2), True), (hex_id(3), False)]


def test_a_following_turn_of_the_same_agent_settles_a_step_without_results() -> None:
    followed = told(turn(0, 1, call("a", tool_span=2)), turn(1, 4))
    assert settled(place_decisions, followed) == [(hex_id(1), True)]
    assert settled(place_calls, followed) == [(hex_id(2), True)]


def test_a_call_waits_for_its_tool_span_where_others_have_theirs() -> None:
    asked = turn(0, 1, call("a", result="x"))
    answered = turn(1, 4, call("b", tool_span=5, result="y"), answers=["a"])
    assert settled(place_calls, told(asked, answered)) == [(hex_id(1), False), (hex_id(5), True)]
    assert settled(place_calls, told(asked, turn(1, 4, answers=["a"]))) == [(hex_id(1), True)]


def test_a_turn_of_a_sub_agent_settles_nothing_of_the_agent_that_waits_for_it() -> None:
    delegated = told(turn(0, 1, call("a", tool_span=2), agent="outer"), turn(1, 4, agent="inner", tools=[]))
    assert settled(place_decisions, delegated) == [(hex_id(1), False)]


def test_handling_is_settled_by_the_turn_that_saw_the_results() -> None:
    asked = turn(0, 1, call("a", result="x"), call("b", result="y"))
    shown = told(asked, turn(1, 2, answers=["a"], sees=[Role.USER, Role.ASSISTANT, Role.TOOL]))
    assert settled(place_responses, shown) == [(hex_id(2), True), (hex_id(RUN), False)]


def test_handling_that_was_inferred_from_the_order_of_turns_is_not_settled() -> None:
    inferred = told(turn(0, 1, call("a", result="x")), turn(1, 2, answers=["a"], sees=[Role.USER]))
    assert settled(place_responses, inferred) == [(hex_id(2), False)]


def test_a_choice_of_no_tool_is_not_settled_before_it_is_known_what_came_before() -> None:
    assert settled(place_decisions, told(turn(0, 1, tools=TOOLS))) == [(hex_id(1), False)]


def test_a_call_whose_turn_has_not_come_yet_is_not_settled() -> None:
    transcript = told(loose=[call("a", tool_span=2, result="x")])
    for placer in (place_decisions, place_calls, place_responses):
        assert [is_settled for _, is_settled in settled(placer, transcript)] == [False]


def test_a_call_that_failed_without_a_reason_waits_for_the_next_of_its_tool_by_the_same_agent() -> None:
    def failed(call_id: str, error: str) -> ToolCall:
        return replace(call(call_id, tool_span=int(call_id)), result=ToolResult(error=error))

    turns = (
        replace(turn(0, 10, failed("20", "It broke."), failed("21", "timed out")), agent="a"),
        replace(turn(1, 11, call("22", tool_span=22)), agent="b"),
        replace(turn(2, 12, call("23", tool_span=23)), agent="a"),
        replace(turn(3, 13), agent="a"),
    )
    cases = {one.span_id: one for one in place_calls(told(*turns), "tool_invocation", False)}

    def later(span: int) -> list[str]:
        case = cases[hex_id(span)].case
        assert isinstance(case, CallsCase)
        return [following.id for following in case.later]

    assert (later(20), later(21), later(22), later(23)) == (["23"], [], [], [])
    assert (cases[hex_id(20)].settled, cases[hex_id(21)].settled) == (False, True)


def test_everything_is_settled_in_a_complete_trace() -> None:
    transcript = told(turn(0, 1, call("a", tool_span=2)), loose=[call("b", tool_span=3, result="x")])
    for placer in (place_decisions, place_calls, place_responses):
        assert all(one.settled for one in placer(transcript, "an_evaluator", True))
