"""Faults that are put into good runs: one thing is changed, and nothing else."""

from __future__ import annotations

from dataclasses import replace

import pytest

from evaluators.cases import Message, Role, Run, Tool, ToolCall, ToolResult, Turn
from evaluators.probing import FAULTS, Fault, inject

BOOK = Tool(name="book", parameters={"type": "object", "properties": {"city": {}, "seats": {}}, "required": ["city"]})
CANCEL = Tool(name="cancel")
RESULT = ToolResult(content='{"price": 120, "currency": "EUR"}', ref="t")
CALL = ToolCall(id="c1", name="book", arguments={"city": "Lisbon", "seats": 14}, result=RESULT, ref="t")
ASKED = Message(role=Role.USER, text="Book 14 seats in Lisbon.")
RUN = Run(
    turns=(
        Turn(index=0, calls=(CALL,), context=(ASKED,), tools=(BOOK, CANCEL), ref="a"),
        Turn(
            index=1,
            text="Booked for 120 EUR.",
            context=(
                ASKED,
                Message(role=Role.ASSISTANT, calls=(CALL,)),
                Message(role=Role.TOOL, call_id="c1", text=RESULT.content),
            ),
            answers=("c1",),
            ref="b",
        ),
    ),
    user_inputs=("Book 14 seats in Lisbon.",),
    final_answer="Booked for 120 EUR.",
    ref="r",
)


def changed(fault: Fault, run: Run = RUN) -> Run:
    injected = inject(run, fault)
    assert injected is not None
    return injected.run


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_always_put_at_the_same_place_and_leaves_the_good_run_alone(fault: Fault) -> None:
    before = repr(RUN)
    assert inject(RUN, fault) == inject(RUN, fault)
    assert changed(fault) != RUN
    assert repr(RUN) == before


def test_another_tool_that_was_offered_is_called_with_the_same_arguments() -> None:
    run = changed(Fault.SIBLING_TOOL)
    assert (run.calls[0].name, run.calls[0].arguments) == ("cancel", CALL.arguments)


def test_a_required_argument_is_left_out() -> None:
    assert changed(Fault.DROPPED_ARGUMENT).calls[0].arguments == {"seats": 14}


def test_a_value_that_the_user_said_becomes_another_one_of_its_kind() -> None:
    arguments = changed(Fault.CHANGED_VALUE).calls[0].arguments
    assert arguments in ({"city": "Nobsil", "seats": 14}, {"city": "Lisbon", "seats": 21})


def test_a_number_from_a_result_is_told_wrongly_also_in_the_final_answer() -> None:
    run = changed(Fault.CHANGED_ANSWER)
    assert run.turns[1].text == "Booked for 123 EUR." == run.final_answer
    assert run.calls[0].result == RESULT


def test_what_failed_is_told_as_before() -> None:
    run = changed(Fault.ERROR_AS_SUCCESS)
    [result] = [call.result for call in run.calls]
    assert result is not None and result.failed and result.ref == "t"
    assert run.turns[1].text == "Booked for 120 EUR."
    assert [message.text for message in run.turns[1].context or () if message.role is Role.TOOL] == [result.content]


def test_the_history_of_later_turns_tells_the_changed_call() -> None:
    run = changed(Fault.SIBLING_TOOL)
    assert [call.name for message in run.turns[1].context or () for call in message.calls] == ["cancel"]


@pytest.mark.parametrize(
    ("fault", "run"),
    [
        (Fault.SIBLING_TOOL, replace(RUN, turns=(replace(RUN.turns[0], tools=(BOOK,)),))),
        (Fault.DROPPED_ARGUMENT, replace(RUN, turns=(replace(RUN.turns[0], tools=None),))),
        (Fault.CHANGED_VALUE, replace(RUN, user_inputs=("Somewhere nice.",))),
        (Fault.CHANGED_ANSWER, replace(RUN, turns=(RUN.turns[0], replace(RUN.turns[1], text="Booked.")))),
        (Fault.ERROR_AS_SUCCESS, replace(RUN, turns=RUN.turns[:1])),
        (Fault.CHANGED_ANSWER, Run()),
    ],
)
def test_a_run_that_has_no_place_for_a_fault_gets_none(fault: Fault, run: Run) -> None:
    assert inject(run, fault) is None


@pytest.mark.parametrize(
    "call", [replace(CALL, is_handoff=True), replace(CALL, truncated=True), replace(CALL, arguments=None)]
)
def test_calls_that_are_no_use_of_a_tool_or_not_known_in_full_are_left_alone(call: ToolCall) -> None:
    run = replace(RUN, turns=(replace(RUN.turns[0], calls=(call,)),))
    assert inject(run, Fault.SIBLING_TOOL) is None and inject(run, Fault.DROPPED_ARGUMENT) is None


@pytest.mark.parametrize(
    ("said", "value", "other"),
    [
        ("on 2026-03-15", "2026-03-15", "2026-03-18"),
        ("order W1234567", "W1234567", "W1234560"),
        ("去北京", "去北京", "京北去"),
        ("12 seats", 12, 19),
        ("112 seats", 12, None),
        ("yes", True, None),
        ("at", "at", None),
    ],
)
def test_other_values_are_of_the_same_kind(said: str, value: object, other: object) -> None:
    call = replace(CALL, arguments={"x": value})  # type: ignore[dict-item]
    run = replace(RUN, user_inputs=(said,), turns=(replace(RUN.turns[0], calls=(call,)),))
    injected = inject(run, Fault.CHANGED_VALUE)
    assert (None if injected is None else injected.run.calls[0].arguments) == (None if other is None else {"x": other})
