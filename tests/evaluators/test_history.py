"""Where every model call is a run of its own, what happened before is known from its history alone, and counts."""

from __future__ import annotations

import pytest

from evaluators.cases import CallsCase, Message, ResponseCase, Role, Run, Tool, ToolCall, ToolResult, Turn
from evaluators.issues import IssueCode
from evaluators.registry import EVALUATORS
from evaluators.rules.errors import error_of
from evaluators.verdict import Status, Verdict

REJECTED = "Error: KeyError: \"user_id '4471' not found: ids have the form u_<digits>\""
TIMED_OUT = "Error: TimeoutError: upstream timed out"
TOOL = Tool(
    name="get_account",
    description="Looks up an account.",
    parameters={"type": "object", "properties": {"user_id": {"type": "string"}}, "required": ["user_id"]},
)


def call(call_id: str, user_id: str, *, earlier: bool = False, said: str | None = None) -> ToolCall:
    result = None if said is None else ToolResult(content=said)
    return ToolCall(id=call_id, name="get_account", arguments={"user_id": user_id}, earlier=earlier, result=result)


def run_of(again: ToolCall, *before: ToolCall) -> tuple[Run, Turn]:
    context = [Message(role=Role.USER, text="Show account 4471.")]
    for one in before:
        context.append(Message(role=Role.ASSISTANT, calls=(one,)))
        context.append(Message(role=Role.TOOL, text=one.result.content if one.result else None, call_id=one.id))
    answers = tuple(one.id for one in before)
    turn = Turn(index=0, calls=(again,), context=tuple(context), tools=(TOOL,), answers=answers, ref="a")
    return Run(turns=(turn,), loose_calls=before, user_inputs=("Show account 4471.",)), turn


def handled(again: ToolCall, *before: ToolCall) -> Verdict:
    evaluator = EVALUATORS["tool_response_handling"].create()
    run, turn = run_of(again, *before)
    return evaluator.conclude_by_rules(evaluator.screen(ResponseCase(run=run, calls=before, turn=turn)))


def invoked(again: ToolCall, *before: ToolCall) -> Verdict:
    evaluator = EVALUATORS["tool_invocation"].create()
    run, turn = run_of(again, *before)
    return evaluator.conclude_by_rules(evaluator.screen(CallsCase(run=run, calls=(again,), turn=turn)))


def codes(verdict: Verdict) -> set[IssueCode]:
    return {found.code for found in verdict.issues if found.conclusive}


def test_repeating_a_call_whose_permanent_error_stands_in_the_history_is_an_identical_retry() -> None:
    verdict = handled(call("b", "4471"), call("a", "4471", earlier=True, said=REJECTED))
    assert codes(verdict) == {IssueCode.IDENTICAL_RETRY}


def test_changed_arguments_or_a_passing_error_make_it_no_futile_retry() -> None:
    assert not codes(handled(call("b", "u_4471"), call("a", "4471", earlier=True, said=REJECTED)))
    assert not codes(handled(call("b", "4471"), call("a", "4471", earlier=True, said=TIMED_OUT)))


def test_something_done_since_the_failure_may_have_cured_it() -> None:
    created = ToolCall(
        id="c", name="create_account", arguments={"user_id": "4471"}, earlier=True, result=ToolResult(content="created")
    )
    assert not codes(handled(call("b", "4471"), call("a", "4471", earlier=True, said=REJECTED), created))


def test_a_call_that_the_tool_had_already_rejected_is_wrong_again() -> None:
    verdict = invoked(call("b", "4471"), call("a", "4471", earlier=True, said=REJECTED))
    assert (verdict.status, verdict.passed) == (Status.OK, False)


def test_what_the_tool_said_of_other_arguments_says_nothing_of_these() -> None:
    assert not codes(invoked(call("b", "u_4471"), call("a", "4471", earlier=True, said=REJECTED)))


@pytest.mark.parametrize(
    ("text", "certain"),
    [
        (REJECTED, True),
        ("Error: requests.exceptions.HTTPError: 404 Not Found", True),
        ("Error: no such user", False),
        ("KeyError: 'x' was logged 14 times yesterday", False),
    ],
)
def test_a_text_is_certainly_an_error_only_in_the_form_in_which_exceptions_are_passed_on(
    text: str, certain: bool
) -> None:
    error = error_of(ToolResult(content=text))
    assert error is not None
    assert error.certain is certain


def test_a_call_that_failed_without_saying_why_is_left_to_a_judge() -> None:
    failed = ToolCall(
        id="a", name="get_account", arguments={"user_id": "4471"}, result=ToolResult(error="Details are redacted.")
    )
    assert invoked(failed).status is Status.NEEDS_JUDGE
