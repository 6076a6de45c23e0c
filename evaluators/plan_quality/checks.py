"""What code can tell of a plan's faults: tools that there are not, and actions that can't be undone.

In go a run and its plans, out come findings.  Nothing here is conclusive but a tool that was called by its planned name
and turned out not to exist.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from evaluators.cases import Plan, Run, Tool, ToolCall
from evaluators.issues import IssueCode
from evaluators.plan_quality.worth import Fault
from evaluators.plans.naming import tools_named
from evaluators.rules.secrets import shown
from evaluators.rules.tool_names import find_tool, is_providers_own, may_be_unlisted, says_no_such_tool

_LONGEST_STEP = 80
_LONGEST_NAME = 60


class Finding(NamedTuple):
    """A fault with a sentence about it; `conclusive` when nothing could speak against it."""

    fault: Fault
    detail: str
    conclusive: bool = False


def check_plans(run: Run, plans: Sequence[Plan]) -> list[Finding]:
    """All findings on the plans, numbered from 1."""
    return [
        finding
        for number, plan in enumerate(plans, 1)
        for finding in (*_unavailable(run, number, plan), *_irreversible(run, number, plan))
    ]


def _unavailable(run: Run, number: int, plan: Plan) -> Iterator[Finding]:
    tools = _offered(run)
    if tools is None:
        return
    arguments = {name for tool in tools for name in (tool.parameters or {}).get("properties") or ()}  # type: ignore[union-attr]
    failed = {call.name for call in run.calls if call.result is not None and says_no_such_tool(call.result.error or "")}
    worked = {call.name for call in run.calls if call.result is not None and not call.result.failed}
    for at, step in enumerate(plan.steps, 1):
        for match in _TOOL.finditer(step.text):
            name = next(group for group in match.groups() if group)
            if name in arguments or name in worked or _may_exist(name, tools):
                continue
            yield Finding(
                Fault(IssueCode.UNAVAILABLE_TOOL, number, at),
                f"Step {at} of plan {number} uses the tool {shown(name, _LONGEST_NAME)}, which was not offered.",
                conclusive=name in failed,
            )


def _may_exist(name: str, tools: Sequence[Tool]) -> bool:
    if find_tool(name, tools) is not None or may_be_unlisted(name, tools):
        return True
    return is_providers_own(ToolCall(id="", name=name))


def _irreversible(run: Run, number: int, plan: Plan) -> Iterator[Finding]:
    if any(_CAREFUL.search(step.text) for step in plan.steps):
        return
    names = dict.fromkeys([*(tool.name for tool in _offered(run) or ()), *(call.name for call in run.calls)])
    asked = " ".join(run.user_inputs or ()).casefold()
    for at, step in enumerate(plan.steps, 1):
        for name in tools_named(step.text, [name for name in names if _FINAL.search(name)]):
            verb = _FINAL.search(name)
            if verb is not None and verb.group(0).casefold() not in asked:
                yield Finding(
                    Fault(IssueCode.NO_CONFIRMATION_OR_ROLLBACK, number, at),
                    f"Step {at} of plan {number} ({shown(step.text, _LONGEST_STEP)}) can't be undone, and no step asks "
                    "first, checks or keeps a way back.",
                )


def _offered(run: Run) -> tuple[Tool, ...] | None:
    """All tools on offer; None where that isn't known of every turn."""
    offers = [turn.tools for turn in run.turns]
    if not offers or any(tools is None for tools in offers):
        return None
    return tuple({tool.name: tool for tools in offers for tool in tools or ()}.values()) or None


_NAME = r"[`'\"“]?([A-Za-z]\w*_\w+|[a-z]+[A-Z]\w*)[`'\"”]?"
_TOOL = re.compile(rf"\b(?:the|use|using|call|with)\s+{_NAME}\s+tool\b|\btool\s+{_NAME}|工具\s*{_NAME}|{_NAME}\s*工具")
_FINAL = re.compile(
    r"(?<![a-z])(?:delete|remove|drop|purge|truncate|wipe|destroy|terminate|cancel|refund|pay|charge|transfer|send"
    r"|publish|deploy|migrate|withdraw|revoke|close)(?![a-z])",
    re.IGNORECASE,
)
_CAREFUL = re.compile(
    r"\b(?:confirm\w*|approv\w*|ask|consent|back ?up|roll ?back|dry.?run|verif\w*|check\w*|review|restore|undo)\b"
    r"|确认|批准|同意|询问|备份|回滚|核对|检查|验证|恢复|確認|確かめ|확인|백업"
    r"|\b(?:bestätig\w*|rückfrag\w*|sicher\w*|confirm\w*|vérifi\w*|sauvegard\w*|verific\w*)\b",
    re.IGNORECASE,
)
