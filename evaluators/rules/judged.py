"""From a judge's answer to issues and confidence, the same way for every evaluator that asks about calls."""

from __future__ import annotations

from collections.abc import Collection, Sequence

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


def require_agreement(label: str, issues: Collection[str], *, harmless: Collection[str] = ()) -> None:
    """Raises ValueError where something is called correct and a fault of it is named: nobody knows which is meant.

    Args:
        label: what the judge says, "correct" or "incorrect".
        issues: the codes of what it found.
        harmless: codes that may be found of what is correct.
    """
    if label == "correct" and not set(issues) <= set(harmless):
        raise ValueError("label is correct, but issues names a fault; say which of the two is meant")


def judged_confidence(*, cut: bool) -> float:
    """How sure a judge's verdict is: less when it, or the trace, had not everything."""
    return _CONFIDENCE_WHEN_CUT if cut else _CONFIDENCE
