"""Several runs of one session as one case."""

from __future__ import annotations

import pytest

from evaluators.cases import Message, Role, Run, ToolCall, ToolResult, Turn
from evaluators.judge.showing.prompt import prepare
from evaluators.sessions import session_case


def asking(number: int, call_id: str, *, history: tuple[Message, ...] = (), calls: tuple[ToolCall, ...] = ()) -> Run:
    """A run in which the user asks for something, one tool is called, and the agent answers."""
    said = Message(role=Role.USER, text=f"question {number}")
    call = ToolCall(
        id=call_id,
        name="look_up",
        arguments={"n": number},
        result=ToolResult(content=f"found {number}"),
        ref=f"t{number}",
    )
    context = (*history, said)
    answered = (
        *context,
        Message(role=Role.ASSISTANT, calls=(call,)),
        Message(role=Role.TOOL, call_id=call_id, text=f"found {number}"),
    )
    return Run(
        turns=(
            Turn(index=0, calls=(call,), context=context, user_turn=number, ref=f"a{number}"),
            Turn(
                index=1,
                text=f"answer {number}",
                context=answered,
                answers=(call_id,),
                user_turn=number,
                ref=f"b{number}",
            ),
        ),
        loose_calls=calls,
        user_inputs=(f"question {number}",),
        system_prompts=("Be brief.",),
        final_answer=f"answer {number}",
        answered=True,
        ref=f"run{number}",
    )


def test_runs_follow_each_other_with_places_of_their_own() -> None:
    case = session_case([asking(1, "c1"), asking(2, "c2")])
    assert [turn.index for turn in case.run.turns] == [0, 1, 2, 3]
    assert [turn.user_turn for turn in case.run.turns] == [0, 0, 1, 1]
    assert case.run.user_inputs == ("question 1", "question 2")
    assert case.run.system_prompts == ("Be brief.",)
    assert (case.run.final_answer, case.run.ref, len(case.runs)) == ("answer 2", "run2", 2)


def test_calls_of_different_runs_that_share_an_id_stay_apart() -> None:
    case = session_case([asking(1, "call_1"), asking(2, "call_1")])
    first, second = case.run.calls
    assert first.id != second.id
    assert case.run.turns[3].answers == (second.id,)
    assert [message.call_id for message in case.run.turns[3].context or () if message.role is Role.TOOL] == [second.id]


def test_a_call_that_a_later_run_knows_from_its_history_is_told_once() -> None:
    first = asking(1, "c1")
    known = ToolCall(id="c1", name="look_up", arguments={"n": 1}, earlier=True)
    case = session_case([first, asking(2, "c2", calls=(known,))])
    assert [call.id for call in case.run.calls] == ["c1", "c2"]


def test_one_run_is_itself() -> None:
    one = asking(1, "c1")
    assert session_case([one]).run is one


def test_no_run_is_no_session() -> None:
    with pytest.raises(ValueError, match="at least one run"):
        session_case([])


def test_what_one_run_did_not_capture_is_missing_and_what_both_did_not_is_unknown() -> None:
    silent = Run(turns=(Turn(index=0),), missing=("user_input",), ref="silent")
    case = session_case([asking(1, "c1"), silent])
    assert case.run.missing == ("user_input",)
    assert case.run.user_inputs == ("question 1",)
    assert session_case([silent, silent]).run.user_inputs is None


def test_a_judge_reads_the_conversation_once() -> None:
    first = asking(1, "c1")
    history = (*(first.turns[1].context or ()), Message(role=Role.ASSISTANT, text="answer 1"))
    case = session_case([first, asking(2, "c2", history=history)])
    shown = str(prepare(case.run))
    for words in ("question 1", "question 2", "found 1", "found 2", "answer 1"):
        assert shown.count(words) == 1, words
