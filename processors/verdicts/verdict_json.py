"""A verdict as a JSON object, the way scripts read it: one shape for every status, nulls where there is no score.

In: a `PlacedVerdict`.  Out: plain values with a fixed set of keys in a fixed order, and back from these what is needed
to compare a verdict with others.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evaluators.cases import JsonValue
from evaluators.issues import Severity
from evaluators.verdict import Issue, Level, Method, Status, Verdict
from processors.verdicts.telling import PlacedVerdict


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
        "uncalibrated": verdict.uncalibrated,
        "details": dict(verdict.details),
    }


def verdict_of(written: Mapping[str, Any]) -> Verdict:
    """The verdict that an object of `verdict_json` tells, without its evidence.

    Raises:
        ValueError: it is no such object; the message names the key.
    """
    try:
        issues = tuple(
            Issue(
                code=str(one["code"]),
                detail=str(one["detail"]),
                severity=Severity(one["severity"]),
                call_id=one["call_id"],
                ref=one["span_id"],
            )
            for one in written["issues"]
        )
        return Verdict(
            evaluator=str(written["evaluator"]),
            level=Level(written["level"]),
            status=Status(written["status"]),
            label=written["label"],
            score=written["score"],
            passed=written["passed"],
            explanation=str(written["explanation"]),
            issues=issues,
            method=Method(written["method"]),
            confidence=written["confidence"],
            revision=str(written["revision"]),
            model=written["model"],
        )
    except KeyError as error:
        raise ValueError(f"has no {error.args[0]}; write verdicts with spanjudge replay --verdicts") from None
    except TypeError:
        raise ValueError("is no verdict; write verdicts with spanjudge replay --verdicts") from None
