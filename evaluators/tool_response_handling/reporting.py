"""How an answer speaks of calls that failed.

In go an answer and the calls whose results were new to it, out come suspicions for a judge: an error that is told as
"nothing found" or not at all, a transient one that was not tried again.  Words alone convict nobody.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence

from evaluators.cases import ToolCall, Turn
from evaluators.issues import IssueCode
from evaluators.rules.errors import ErrorClass, error_of
from evaluators.rules.findings import Finding

_MAX_CHARS = 40_000


def misreported_errors(answer: str, calls: Sequence[ToolCall]) -> list[Finding]:
    """Failed calls of which the answer says nothing, or that it tells as an empty or successful result."""
    failed = [call for call in calls if error_of(call.result) is not None]
    if not failed or _ADMITS.search(answer[:_MAX_CHARS]) is not None:
        return []
    nothing = _NOTHING.search(answer[:_MAX_CHARS]) is not None
    code = IssueCode.ERROR_MISREPORTED if nothing else IssueCode.ERROR_IGNORED
    how = "tells it as an empty result" if nothing else "says nothing of it"
    return [Finding(code, f"{call.name} failed, and the answer {how}.", call.id) for call in failed]


def not_retried(
    calls: Sequence[ToolCall], turn: Turn | None, later: Sequence[Turn], failed: Mapping[str, Collection[str]]
) -> list[Finding]:
    """Calls that failed for a moment only and that nobody tried again; what is itself a retry was tried again.

    Args:
        calls: those whose results were new to the turn.
        turn: the turn.
        later: the turns after it.
        failed: the ids of all calls of the run that failed, by tool.
    """
    tried = {call.name for t in (*((turn,) if turn is not None else ()), *later) for call in t.calls}
    new = {call.id for call in calls}
    findings: list[Finding] = []
    for call in calls:
        error = error_of(call.result)
        again = call.name in tried or bool(set(failed.get(call.name, ())) - new)
        if error is not None and error.kind is ErrorClass.TRANSIENT and not again:
            detail = f"{call.name} failed with an error that may pass, and was not tried again."
            findings.append(Finding(IssueCode.NOT_RETRIED, detail, call.id))
    return findings


_ADMITS = re.compile(
    r"error|fail|unable|could ?n['o’]t|could not|can ?not|can['’]t|"
    r"was ?n['o’]t able|not able|sorry|apolog|problem|issue|"
    r"unavailable|trouble|try again|retry|timed? ?out|rate limit|invalid|unfortunately|did ?n['’]t work|not respond|"
    r"\bdown\b|fehler|leider|nicht möglich|konnte|erreur|désolé|impossible|lo siento|no pude|"
    r"失败|错误|无法|抱歉|对不起|出错|问题|异常|暂时|不可用|未能|超时|重试|不能",
    re.IGNORECASE,
)
_NOTHING = re.compile(
    r"\b(?:no|not any|nothing|none|zero|without|there (?:are|is) no|does ?n['o’]t exist|not found|empty)\b|"
    r"keine?\b|aucun|ningún|没有|未找到|不存在|无结果",
    re.IGNORECASE,
)
