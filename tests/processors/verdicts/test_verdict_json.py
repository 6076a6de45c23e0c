"""The JSON object of a verdict, as scripts rely on it."""

from __future__ import annotations

from evaluators.issues import IssueCode
from evaluators.verdict import CallVerdict, Level, Status, Verdict, issue
from processors.verdicts.telling import PlacedVerdict
from processors.verdicts.verdict_json import verdict_json


def placed(verdict: Verdict) -> PlacedVerdict:
    return PlacedVerdict("0a" * 16, "0b" * 8, "look_up", None, 0, verdict)


def test_a_scored_verdict_has_every_key() -> None:
    verdict = Verdict(
        evaluator="tool_invocation",
        level=Level.SPAN,
        status=Status.OK,
        label="incorrect",
        score=0.0,
        passed=False,
        explanation="days must be a number.",
        issues=(
            issue(IssueCode.WRONG_TYPE, "days", call_id="c", ref="0c" * 8),
            issue(IssueCode.UNGROUNDED_VALUE, "city", conclusive=False),
        ),
        calls=(CallVerdict(call_id="c", label="incorrect", issues=(IssueCode.WRONG_TYPE,)),),
        evidence=("0c" * 8,),
        confidence=1.0,
        revision="r",
        details={"steps": [1]},
    )
    assert verdict_json(placed(verdict)) == {
        "trace_id": "0a" * 16,
        "span_id": "0b" * 8,
        "span_name": "look_up",
        "session_id": None,
        "evaluator": "tool_invocation",
        "level": "span",
        "status": "ok",
        "label": "incorrect",
        "score": 0.0,
        "passed": False,
        "explanation": "days must be a number.",
        "issues": [{"code": "wrong_type", "span_id": "0c" * 8, "call_id": "c", "severity": "major", "detail": "days"}],
        "calls": [{"call_id": "c", "label": "incorrect", "issues": ["wrong_type"]}],
        "evidence": ["0c" * 8],
        "method": "rule",
        "confidence": 1.0,
        "revision": "r",
        "model": None,
        "uncalibrated": False,
        "details": {"steps": [1]},
    }


def test_without_a_score_there_are_nulls_and_the_suspicions() -> None:
    verdict = Verdict(
        evaluator="tool_selection",
        level=Level.SPAN,
        status=Status.NEEDS_JUDGE,
        issues=(issue(IssueCode.UNKNOWN_TOOL, "x", conclusive=False),),
    )
    said = verdict_json(placed(verdict))
    assert (said["status"], said["label"], said["score"], said["passed"]) == ("needs_judge", None, None, None)
    assert [found["span_id"] for found in said["issues"]] == ["0b" * 8]
