"""Repeating a call unchanged after an error that repeating can't cure is a fault of the turn that repeats."""

from dataclasses import replace

import pytest

from evaluators.cases import Message, ResponseCase, Role, Run, ToolCall, Turn
from evaluators.issues import IssueCode
from evaluators.tool_response_handling import ToolResponseHandling
from evaluators.verdict import Issue, Status
from tests.evaluators.runs import call, response

GONE = "user_id '4471' not found: ids have the form u_<digits>"
ARGUMENTS = {"user_id": "4471"}


def failed(error: str = GONE, id: str = "c1", **more: float) -> ToolCall:
    return call("get_account", ARGUMENTS, error=error, id=id, **more)


def retries(case: ResponseCase) -> list[Issue]:
    issues = ToolResponseHandling().screen(case).issues
    return [found for found in issues if found.code is IssueCode.IDENTICAL_RETRY]


def test_the_same_call_after_a_permanent_error_is_incorrect_without_any_text() -> None:
    case = response(None, failed(), next_calls=(failed(id="c2"),))
    screening = ToolResponseHandling().screen(case)
    assert screening.status is Status.OK and screening.score == 0.0
    (found,) = retries(case)
    assert found.conclusive and found.call_id == "c2" and found.ref == "t1"


@pytest.mark.parametrize(
    "next_call",
    [
        pytest.param(call("get_account", {"user_id": "u_4471"}, {"name": "Dana"}, id="c2"), id="corrected argument"),
        pytest.param(call("find_account", ARGUMENTS, {"name": "Dana"}, id="c2"), id="another tool"),
        pytest.param(call("get_account", ARGUMENTS, {"name": "Dana"}, id="c2"), id="a retry that succeeded"),
        pytest.param(ToolCall(id="c2", name="get_account"), id="arguments not captured"),
    ],
)
def test_what_is_no_identical_retry(next_call: ToolCall) -> None:
    assert retries(response(None, failed(), next_calls=(next_call,))) == []


@pytest.mark.parametrize(
    "error",
    [
        "upstream timed out after 10s",
        "429 Too Many Requests",
        "503 Service Unavailable",
        "An error occurred while running the tool. Please try again.",
    ],
)
def test_one_retry_after_an_error_that_may_pass_is_right(error: str) -> None:
    assert retries(response(None, failed(error), next_calls=(failed(error, id="c2"),))) == []


def repeated(*calls: ToolCall, user_turns: tuple[int, ...] = ()) -> ResponseCase:
    """One turn per call; the case is that of the last one."""
    turns = tuple(
        Turn(index=at, calls=(made,), user_turn=user_turns[at] if user_turns else 0, ref=f"t{at}")
        for at, made in enumerate(calls)
    )
    run = Run(turns=turns, user_inputs=("Show me account 4471.",))
    return ResponseCase(run=run, calls=turns[-2].calls, turn=turns[-1])


def test_the_third_retry_at_once_after_a_passing_error_is_a_suspicion() -> None:
    error = "503 Service Unavailable"
    case = repeated(*(failed(error, id=f"c{n}", started_s=0.1 * n, duration_s=0.05) for n in range(4)))
    (found,) = retries(case)
    assert not found.conclusive


def test_waiting_between_retries_is_right() -> None:
    error = "503 Service Unavailable"
    case = repeated(*(failed(error, id=f"c{n}", started_s=10.0 * n, duration_s=1.0) for n in range(4)))
    assert retries(case) == []


def test_a_change_in_between_may_have_cured_it() -> None:
    case = repeated(failed(), call("create_account", ARGUMENTS, {"ok": 1}, id="w"), failed(id="c2"))
    assert not any(found.conclusive for found in retries(case))


def test_a_look_up_in_between_cures_nothing() -> None:
    case = repeated(failed(), call("list_accounts", {}, ["u_1"], id="r"), failed(id="c2"))
    assert [found.conclusive for found in retries(case)] == [True]


def test_the_user_may_ask_to_try_again() -> None:
    assert retries(repeated(failed(), failed(id="c2"), user_turns=(0, 1))) == []


def test_an_error_that_is_only_text_is_a_suspicion() -> None:
    told = call("get_account", ARGUMENTS, "Error: user not found")
    case = response(None, told, next_calls=(replace(told, id="c2"),))
    assert [found.conclusive for found in retries(case)] == [False]


def test_a_failure_known_from_the_history_counts_unless_the_user_spoke_since() -> None:
    before = replace(failed(), earlier=True)
    user, tool = Message(role=Role.USER, text="Show it."), Message(role=Role.TOOL, text=GONE, call_id="c1")
    for last, expected in ((tool, [True]), (user, [])):
        turn = Turn(index=0, calls=(failed(id="c2"),), context=(user, last), answers=("c1",), ref="t0")
        run = Run(turns=(turn,), loose_calls=(before,), user_inputs=("Show it.",))
        found = retries(ResponseCase(run=run, calls=(before,), turn=turn))
        assert [one.conclusive for one in found] == expected
