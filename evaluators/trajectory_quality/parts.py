"""The three parts of a trajectory's quality: what each is worth, or why nothing is known of it.

Weights and meaning of the parts are Agent Insight's, with its redundancy turned round: high efficiency is good.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from statistics import fmean

from evaluators.cases import Run, SourceVerdict, Tool, ToolCall
from evaluators.issues import IssueCode
from evaluators.rules.errors import error_of
from evaluators.rules.tool_names import find_tool
from evaluators.status import Status, foremost
from evaluators.verdict import Issue, issue

COMPLETENESS, TOOL_CHOICE, EFFICIENCY = "completeness", "tool_choice", "efficiency"
WEIGHTS = {COMPLETENESS: 0.45, TOOL_CHOICE: 0.35, EFFICIENCY: 0.20}
_SEEN_BY_CODE = 0.9


@dataclass(frozen=True, slots=True)
class Part:
    """One part: its score 0..1, or None with `status` and `why`. `of` counts what it is made of."""

    name: str
    score: float | None
    status: Status = Status.OK
    why: str = ""
    of: int = 0
    confidence: float = 1.0
    evidence: tuple[str, ...] = ()
    issues: tuple[Issue, ...] = ()


def completeness(run: Run, key_actions: Sequence[str]) -> Part:
    """The share of the key actions that the run took; a call that failed is none."""
    if not key_actions:
        why = "nobody said which actions are key (key_actions)"
        return Part(COMPLETENESS, None, Status.NOT_APPLICABLE, why)
    if "tool_calls" in run.missing:
        return Part(COMPLETENESS, None, Status.MISSING_INPUT, "tool calls were not captured")
    taken: list[ToolCall] = []
    missed: list[Issue] = []
    for name in dict.fromkeys(key_actions):
        calls = [call for call in run.calls if _is_named(call, name)]
        done = next((call for call in calls if error_of(call.result) is None), None)
        if done is not None:
            taken.append(done)
            continue
        said = f"The key action {name} was {'tried without success' if calls else 'not taken'}."
        missed.append(issue(IssueCode.MISSING_KEY_ACTION, said, ref=calls[-1].ref if calls else run.ref))
    if missed and run.partial:
        return Part(COMPLETENESS, None, Status.MISSING_INPUT, "part of the trace never arrived")
    wanted = len(taken) + len(missed)
    return Part(
        COMPLETENESS,
        len(taken) / wanted,
        of=wanted,
        confidence=_SEEN_BY_CODE,
        evidence=tuple(call.ref for call in taken if call.ref is not None),
        issues=tuple(missed),
    )


def from_verdicts(name: str, evaluator: str, sources: Sequence[SourceVerdict]) -> Part:
    """The mean of an evaluator's scores on the run or on its steps."""
    said = [source for source in sources if source.evaluator == evaluator]
    scored = [source for source in said if source.score is not None]
    if not scored:
        status = foremost(source.status for source in said)
        return Part(name, None, status, f"{evaluator} is {status}" if said else f"there is no verdict of {evaluator}")
    return Part(
        name,
        fmean(source.score for source in scored if source.score is not None),
        of=len(scored),
        confidence=min((source.confidence for source in scored if source.confidence is not None), default=1.0),
        evidence=tuple(dict.fromkeys(source.ref for source in scored if source.ref is not None)),
    )


def _is_named(call: ToolCall, action: str) -> bool:
    return fnmatchcase(call.name, action) or find_tool(call.name, (Tool(name=action),)) is not None
