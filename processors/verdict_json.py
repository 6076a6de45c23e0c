"""A verdict as a JSON object, the way scripts read it: one shape for every status, nulls where there is no score.

In: a `PlacedVerdict`.  Out: plain values with a fixed set of keys in a fixed order.
"""

from __future__ import annotations

from evaluators.cases import JsonValue
from evaluators.verdict import Status
from processors.telling import PlacedVerdict


def verdict_json(placed: PlacedVerdict) -> dict[str, JsonValue]:
    """The object for one verdict. Ids are lower-case hex; `label`, `score` and `passed` are null unless `status` is ok.

    The issues of a scored verdict are those that decided it; without a score, what is suspected.
    """
    verdict = placed.verdict
    scored = verdict.status is Status.OK
    return {
        "trace_id": placed.trace_id,
        "span_id": placed.span_id,
        "span_name": placed.span_name,
        "session_id": placed.session_id,
        "evaluator": verdict.evaluator,
        "level": str(verdict.level),
        "status": str(verdict.status),
        "label": verdict.label,
        "score": verdict.score,
        "passed": verdict.passed,
        "explanation": verdict.explanation,
        "issues": [
            {
                "code": str(issue.code),
                "span_id": issue.ref or placed.span_id,
                "call_id": issue.call_id,
                "severity": str(issue.severity),
                "detail": issue.detail,
            }
            for issue in verdict.issues
            if issue.conclusive or not scored
        ],
        "calls": [
            {"call_id": call.call_id, "label": call.label, "issues": [str(code) for code in call.issues]}
            for call in verdict.calls
        ],
        "evidence": list(verdict.evidence),
        "method": str(verdict.method),
        "confidence": verdict.confidence,
        "revision": verdict.revision,
        "model": verdict.model,
    }
