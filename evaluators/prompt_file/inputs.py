"""Whether a case has what a prompt file wants to be judged by."""

from __future__ import annotations

from collections.abc import Iterable

from evaluators.cases import CallsCase, Case, DecisionCase, ResponseCase, Role, ToolCall, Turn
from evaluators.prompt_file.definition import Need
from evaluators.rules.inputs import has_user_input

_TOLD = {
    Need.USER_INPUT: "What the user asked for was not captured.",
    Need.SYSTEM_PROMPT: "The system prompt was not captured.",
    Need.FINAL_ANSWER: "The final answer was not captured.",
    Need.TOOLS: "The offered tools were not captured.",
    Need.ARGUMENTS: "The arguments of the calls were not captured.",
    Need.TOOL_RESULTS: "The results of the calls were not captured.",
}


def judged_turn(case: Case) -> Turn | None:
    """The turn that a case is about; of a whole run or session its first."""
    if isinstance(case, DecisionCase | CallsCase | ResponseCase):
        return case.turn
    return case.run.turns[0] if case.run.turns else None


def judged_calls(case: Case) -> tuple[ToolCall, ...]:
    """The calls that a case is about, without plumbing and what waits for a person."""
    match case:
        case DecisionCase(turn=turn):
            calls = turn.calls
        case CallsCase(calls=given) | ResponseCase(calls=given):
            calls = given
        case _:
            calls = case.run.calls
    return tuple(call for call in calls if not call.is_handoff and not call.awaiting_approval)


def missing_input(case: Case, needs: Iterable[Need]) -> str | None:
    """What a case lacks, as a sentence; None when it has everything."""
    return next((_TOLD[need] for need in needs if not _is_there(case, need)), None)


def _is_there(case: Case, need: Need) -> bool:
    turn, calls = judged_turn(case), judged_calls(case)
    match need:
        case Need.USER_INPUT:
            return has_user_input(case.run, turn)
        case Need.SYSTEM_PROMPT:
            said = turn.context if turn is not None else None
            return bool(case.run.system_prompts) or any(one.role is Role.SYSTEM for one in said or ())
        case Need.FINAL_ANSWER:
            return case.run.final_answer is not None or case.run.answered is False
        case Need.TOOLS:
            return turn is not None and turn.tools is not None
        case Need.ARGUMENTS:
            return all(call.arguments is not None for call in calls)
        case Need.TOOL_RESULTS:
            return all(
                call.result is not None and (call.result.content is not None or call.result.failed) for call in calls
            )
