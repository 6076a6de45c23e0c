"""What rules can say of a choice of tools: whether it is to be judged at all, and which calls name no offered tool.

In: a decision.  Out: the calls that count, the reason not to judge, the findings.  A choice is never called right here.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from evaluators.cases import DecisionCase, Role, Run, ToolCall, Turn
from evaluators.issues import IssueCode
from evaluators.rules.argument_grounding import ungrounded, values_of
from evaluators.rules.errors import ErrorClass, error_of
from evaluators.rules.inputs import has_user_input
from evaluators.rules.raw_arguments import read_arguments
from evaluators.rules.run_index import index_of
from evaluators.rules.schema import SchemaCache
from evaluators.rules.secrets import shown
from evaluators.rules.tool_names import (
    find_tool,
    is_plumbing,
    is_providers_own,
    may_be_unlisted,
    says_no_such_tool,
)
from evaluators.verdict import Issue, issue

_LONGEST_NAME = 60
_OPENING = 500
_FREE_CHOICE = re.compile(r"\W*(?:(?:type|mode)\W+)?(?:auto|required|any|none)\W*", re.IGNORECASE)


def counted_calls(turn: Turn) -> tuple[ToolCall, ...]:
    """The calls that are a choice of the agent's: no hand-offs, no output tools, nothing the provider runs itself."""
    offered = turn.tools or ()
    return tuple(
        call
        for call in turn.calls
        if not is_plumbing(call) and (not is_providers_own(call) or find_tool(call.name, offered) is not None)
    )


def not_applicable(case: DecisionCase) -> str | None:
    """Why there is no choice to judge; None when there is one."""
    turn = case.turn
    calls = counted_calls(turn)
    if turn.error is not None:
        return "The model request failed; nothing was decided."
    if turn.tools is not None and not turn.tools:
        return "No tools were offered at this turn."
    if is_forced(turn.tool_choice):
        return "The choice of the tool was forced by the request."
    if turn.calls and not calls:
        return "The turn only hands over, delivers the output, or uses tools that the provider runs itself."
    if not calls:
        if turn.tool_choice == "none":
            return "The request allowed no tools at this turn."
        if turn.partial:
            return "The answer was cut off before it was decided."
        if not _opens(case.run, turn):
            return "The turn closes what earlier calls began; what is left undone is the task's to judge."
    return None


def missing_input(case: DecisionCase) -> str | None:
    """What is absent that a judgement needs; None when everything is there."""
    turn = case.turn
    if not has_user_input(case.run, turn):
        return "The user's input was not captured."
    if turn.tools is None:
        return "The tools offered at this turn were not captured."
    if not turn.calls and (turn.text is None or "tool_calls" in case.run.missing):
        return "What the model decided was not captured."
    if any(not call.name for call in turn.calls):
        return "The name of a called tool was not captured."
    return None


def is_forced(tool_choice: str | None) -> bool:
    """Whether the request named the tool that had to be called."""
    return tool_choice is not None and _FREE_CHOICE.fullmatch(tool_choice) is None


def unknown_tools(case: DecisionCase) -> list[Issue]:
    """Calls that name no offered tool."""
    found = []
    offered = case.turn.tools or ()
    for call in counted_calls(case.turn):
        if find_tool(call.name, offered) is not None:
            continue
        proof = _exists(call)
        if not proof and may_be_unlisted(call.name, offered):
            proof = "But it may be one that is offered without being listed."
        if not proof and case.turn.ref is None:
            proof = "But what was offered at the very turn that chose it was not captured."
        detail = f"`{shown(call.name, _LONGEST_NAME)}` is not among the tools offered at this turn."
        if proof:
            detail += f" {proof}"
        found.append(issue(IssueCode.UNKNOWN_TOOL, detail, call_id=call.id, ref=call.ref, conclusive=not proof))
    return found


def duplicates(calls: Sequence[ToolCall]) -> list[Issue]:
    """Calls of one turn that repeat another of it."""
    seen: dict[str, str] = {}
    found = []
    for call in calls:
        signature = f"{call.name}\0{_canonical(call)}"
        if call.arguments is not None and signature in seen:
            detail = f"`{shown(call.name, _LONGEST_NAME)}` is called twice with the same arguments in one turn."
            found.append(
                issue(IssueCode.WRONG_NUMBER_OF_TOOLS, detail, call_id=call.id, ref=call.ref, conclusive=False)
            )
        seen.setdefault(signature, call.id)
    return found


def guessed(case: DecisionCase, schemas: SchemaCache) -> list[Issue]:
    """Calls to which a required value was given that nothing said: perhaps the user should have been asked."""
    index = index_of(case.run)
    if not index.saw_all(case.turn):
        return []
    evidence = index.evidence(case.turn)
    found = []
    for call in counted_calls(case.turn):
        tool = find_tool(call.name, case.turn.tools or ())
        compiled = schemas.get(tool.parameters) if tool is not None else None
        if compiled is None:
            continue
        for value in values_of(read_arguments(call).value, compiled.shape.properties):
            if value.argument in compiled.shape.required and ungrounded(value, evidence):
                detail = f"`{shown(value.path, _LONGEST_NAME)}` is required, and nothing the model had seen gives it."
                found.append(
                    issue(IssueCode.SHOULD_HAVE_ASKED, detail, call_id=call.id, ref=call.ref, conclusive=False)
                )
                break
    return found


def _opens(run: Run, turn: Turn) -> bool:
    """Whether this is the first answer of its agent to a message of the user."""
    if not index_of(run).opens(turn):
        return False
    for message in reversed(turn.context or ()):
        if message.role is Role.USER:
            return True
        if message.role is Role.TOOL or message.calls:
            return False
    return True


def _exists(call: ToolCall) -> str:
    """What shows that the tool was there after all, so that the captured list isn't whole; empty if nothing does."""
    if call.result is None:
        return ""
    error = error_of(call.result)
    if error is None:
        if says_no_such_tool((call.result.content or "")[:_OPENING]):
            return ""
        return "But it was executed, so the captured list can't be whole."
    denied = says_no_such_tool(error.text[:_OPENING]) or call.name in error.text
    if error.kind is not ErrorClass.OPAQUE and not denied:
        return "But it failed like a tool that exists, so the captured list may not be whole."
    return ""


def _canonical(call: ToolCall) -> str:
    if isinstance(call.arguments, str):
        return call.arguments
    return json.dumps(call.arguments, sort_keys=True, default=str)
