"""From findings and points to the report of a judgment.

In: a case as the rubric's engine left it, and its order.  Out: a `Judgment`.  Nothing is graded here: points, grade and
outcome are the engine's.  Secrets are masked by whoever tells the report (`evaluators.qa_judge.masking`).
"""

from __future__ import annotations

import math
import uuid
from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

from evaluators.cases import JsonValue
from evaluators.qa_judge.order import Order
from evaluators.qa_judge.protocol import (
    ConsistencyIssue,
    Defect,
    Escalation,
    Feedback,
    Judgment,
    Metadata,
    Metrics,
    Previous,
    RedlineViolation,
    Report,
    Score,
    Statistics,
)
from evaluators.rubric.findings import Finding
from evaluators.rubric.model import Check
from evaluators.rubric.reporting import Case, language_in
from evaluators.rubric.scoring import Charge

_ID_SPACE = uuid.uuid5(uuid.NAMESPACE_URL, "spanjudge:qa_judge")
_DIMENSIONS = ("completeness", "correctness", "security", "performance", "maintainability")
_GROUPS = ("injection", "authentication", "data", "configuration", "business")
_CATEGORIES = {"careless": "粗心", "design": "设计缺陷", "capability": "能力缺陷"}
_BY_RULE, _BY_JUDGE = 0.95, 0.8
_MOST_DEFECTS = 999
# of the red lines, the groups of the checklist that they belong to
_CHECKLIST = {
    "sql_injection": "injection",
    "command_injection": "injection",
    "xss": "injection",
    "path_traversal": "injection",
    "hardcoded_secret": "authentication",
    "missing_authorization": "authentication",
    "plaintext_password": "data",
    "pii_leak": "data",
    "sensitive_exposure": "data",
    "race_condition": "business",
    "critical_logic_error": "business",
}
_RETRAIN = "RETRAIN_REQUIRED"


def judgment_of(case: Case, order: Order, now: datetime) -> Judgment:
    """The report on a case that was decided."""
    assert order.artifact is not None
    tally = case.tally
    defects = [one for one in tally.charges if one.finding.certain and one.finding.check.group != "consistency"]
    defects = sorted(defects, key=lambda one: -one.points)[:_MOST_DEFECTS]
    told = [_defect(number, one, case, order) for number, one in enumerate(defects, 1)]
    redlines = [_redline(one, case, order) for one in defects if "redline" in one.finding.check.tags]
    summary = case.answer.summary if case.answer is not None else _summary_by_rule(redlines)
    metrics = Metrics.model_validate({name: _whole(tally.dimensions.get(name, 100.0)) for name in _DIMENSIONS})
    status: Any = tally.outcome or _RETRAIN
    strengths = [why for _, _, why in case.judged.earned] if case.judged is not None else []
    suggestions = list(case.answer.suggestions) if case.answer is not None else []
    actions = [f"{one.id} {one.location}: {one.suggestion or one.description}".replace(" : ", ": ") for one in told]
    stamp = now.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    identity = "\0".join((order.ref or "", order.artifact.text, stamp))
    return Judgment(
        judgment_id=f"judge-{uuid.uuid5(_ID_SPACE, identity)}",
        timestamp=stamp,
        target_agent=order.assignment.target_agent,
        original_task=order.assignment.original_task or "",
        score=Score.model_validate({"total": tally.points, "grade": tally.grade or "F", "breakdown": metrics}),
        status=status,
        feedback_to_agent=Feedback(summary=summary, action_items=[*actions, *suggestions], best_practices=strengths),
        escalation_report_to_ceo=_escalation(status, tally.priority, told, redlines, summary),
        detailed_report=Report(
            summary=summary,
            strengths=strengths,
            defects=told,
            redline_violations=redlines,
            consistency_issues=[
                _consistency(one, case, order)
                for one in case.findings
                if one.certain and one.check.group == "consistency"
            ],
            metrics=metrics,
            statistics=_statistics(told),
        ),
        metadata=_metadata(case, order, defects, now),
    )


def _defect(number: int, one: Charge, case: Case, order: Order) -> Defect:
    finding, check = one.finding, one.finding.check
    said = _said(finding, case)
    # What a rule shows is a literal in one place: nobody has to learn anything to take it out.
    category: Any = _CATEGORIES[finding.chosen.get("category", "careless")]
    level: Any = check.facts.get("level", str(check.severity))
    kind: Any = check.facts["kind"]
    return Defect(
        id=f"D-{number:03d}",
        severity=level,
        category=category,
        type=kind,
        location=_location(finding, order),
        description=finding.detail,
        root_cause=said.get("root_cause", ""),
        suggestion=said.get("suggestion", ""),
        deduction=_whole(one.points),
        cwe_id=check.facts.get("cwe", ""),
        seed_cwe=check.facts.get("seed_cwe", ""),
        confidence=_BY_RULE if finding.by_rule else _BY_JUDGE,
    )


def _redline(one: Charge, case: Case, order: Order) -> RedlineViolation:
    finding, check = one.finding, one.finding.check
    rule = check.facts["rule"]
    return RedlineViolation(
        rule=rule,
        type=rule.partition("-")[2],
        location=_location(finding, order),
        details=finding.detail,
        cwe_id=check.facts.get("cwe", ""),
        impact=_text(check, case),
        remediation=_said(finding, case).get("suggestion", ""),
    )


def _consistency(finding: Finding, case: Case, order: Order) -> ConsistencyIssue:
    check = finding.check
    kind: Any = check.facts["consistency"]
    severity: Any = str(check.severity)
    return ConsistencyIssue(
        type=kind,
        severity=severity,
        locations=list(filter(None, dict.fromkeys((_location(finding, order), finding.item)))),
        description=finding.detail,
        suggestion=_said(finding, case).get("suggestion", ""),
    )


def _said(finding: Finding, case: Case) -> Mapping[str, str]:
    """Root cause and suggestion in the judge's words."""
    for one in case.answer.violations if case.answer is not None and not finding.by_rule else ():
        if (
            one.check == finding.check.id
            and one.item == finding.item
            and finding.detail.startswith(one.why.rstrip(".。"))
        ):
            return {name: str(getattr(one, name, "")) for name in ("root_cause", "suggestion")}
    return {}


def _location(finding: Finding, order: Order) -> str:
    hit = next((one for one in order.hits if finding.by_rule and one.told in finding.detail), None)
    if hit is not None:
        return f"{hit.file}:{hit.line}"
    assert order.artifact is not None
    return order.artifact.location(finding.passage.words) if finding.passage is not None else ""


def _text(check: Check, case: Case) -> str:
    return check.text.said_in(language_in(case.material))


def _summary_by_rule(redlines: Iterable[RedlineViolation]) -> str:
    named = ", ".join(dict.fromkeys(one.rule for one in redlines))
    return f"By rules alone: {named}." if named else "By rules alone."


def _escalation(
    status: str, priority: str | None, defects: list[Defect], redlines: list[RedlineViolation], summary: str
) -> Escalation:
    if status != _RETRAIN:
        return Escalation(triggered=False, systemic_issue="", capability_gaps=[], recommended_action="", priority="P2")
    gaps = [one.description for one in defects if one.category == "能力缺陷"]
    urgent: Any = priority or "P1"
    return Escalation(
        triggered=True,
        systemic_issue="; ".join(dict.fromkeys(one.rule for one in redlines)) or summary,
        capability_gaps=list(dict.fromkeys(gaps)),
        recommended_action="Hold the delivery back and retrain the agent on the gaps named here.",
        priority=urgent,
    )


def _statistics(defects: list[Defect]) -> Statistics:
    levels = Counter(one.severity for one in defects)
    categories = Counter(one.category for one in defects)
    return Statistics(
        total_defects=len(defects),
        critical=levels["critical"],
        major=levels["major"],
        minor=levels["minor"],
        info=levels["info"],
        careless_errors=categories["粗心"],
        design_defects=categories["设计缺陷"],
        capability_gaps=categories["能力缺陷"],
    )


def _metadata(case: Case, order: Order, defects: list[Charge], now: datetime) -> Metadata:
    assert order.artifact is not None
    groups = Counter(_CHECKLIST.get(one.finding.check.id, one.finding.check.group or "") for one in defects)
    previous = [_previous(one) for one in order.assignment.previous_judgments]
    known = [one.total for one in previous if one.total >= 0]
    priority: Any = order.assignment.priority
    return Metadata(
        review_duration_ms=max(0, round((now - order.seen_at).total_seconds() * 1000)),
        lines_reviewed=order.artifact.lines,
        files_reviewed=len(order.artifact.files),
        artifact_type=str(order.artifact.kind),
        weights={name: round(case.tally.weights.get(name, 0.0), 4) for name in _DIMENSIONS},
        inapplicable_metrics=[name for name in _DIMENSIONS if name not in case.tally.dimensions],
        checklist={group: groups[group] for group in _GROUPS},
        scanners=list(order.scanners),
        previous_judgments=previous,
        change=case.tally.points - known[-1] if known else 0,
        priority=priority,
    )


def _previous(given: JsonValue) -> Previous:
    """An earlier judgment: its id alone, or a whole report or the part of one that says how it ended."""
    if not isinstance(given, dict):
        return Previous(judgment_id=str(given))
    score = given.get("score")
    total = score.get("total") if isinstance(score, dict) else given.get("total", score)
    whole = round(total) if isinstance(total, int | float) and 0 <= total <= 100 else -1
    status: Any = given.get("status") if given.get("status") in ("PASS", "REWORK", _RETRAIN) else ""
    return Previous(judgment_id=str(given.get("judgment_id", "")), total=whole, status=status)


def _whole(points: float) -> int:
    """Points as a whole number from 0 to 100, half a point up."""
    return min(100, max(0, math.floor(points + 0.5 + 1e-9)))
