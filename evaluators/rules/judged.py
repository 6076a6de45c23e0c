"""From a judge's answer to issues and confidence, the same way for every evaluator that asks about calls."""

from __future__ import annotations

from collections.abc import Sequence

from evaluators.issues import IssueCode
from evaluators.verdict import Issue, issue

_CONFIDENCE = 0.85
_CONFIDENCE_WHEN_CUT = 0.6


def judged_issues(
    codes: Sequence[IssueCode],
    explanation: str,
    suspicions: Sequence[Issue],
    *,
    call_id: str | None = None,
    ref: str | None = None,
) -> list[Issue]:
    """Conclusive issues of these codes; a suspicion that the judge confirmed lends its own words."""
    found = []
    for code in codes:
        confirmed = next((one for one in suspicions if one.code is code and call_id in (None, one.call_id)), None)
        detail = confirmed.detail if confirmed is not None else explanation
        found.append(issue(code, detail, call_id=call_id, ref=ref))
    return found


def judged_confidence(*, cut: bool) -> float:
    """How sure a judge's verdict is: less when it, or the trace, had not everything."""
    return _CONFIDENCE_WHEN_CUT if cut else _CONFIDENCE
