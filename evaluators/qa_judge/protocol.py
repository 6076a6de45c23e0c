"""The report of a judgment, version 2.0 of its protocol: complete, without nulls, all metrics 0 to 100.

These models are what `details["judgment"]` of a verdict holds as JSON.  Whatever isn't known is an empty text or list;
a dimension that doesn't apply to an artifact counts 100, has the weight 0, and is listed in the metadata.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

Points = Annotated[int, Field(ge=0, le=100)]
Count = Annotated[int, Field(ge=0)]
Priority = Literal["P0", "P1", "P2", "P3"]
Status = Literal["PASS", "REWORK", "RETRAIN_REQUIRED"]
Level = Literal["critical", "major", "minor", "info"]
Category = Literal["粗心", "设计缺陷", "能力缺陷"]
"""Careless, a fault of design, a lack of capability."""


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Metrics(_Part):
    """The points of each dimension."""

    completeness: Points
    correctness: Points
    security: Points
    performance: Points
    maintainability: Points


class Score(_Part):
    """The total after bonus and caps, its grade, and the dimensions before them."""

    total: Points
    grade: Literal["S", "A", "B", "C", "D", "F"]
    breakdown: Metrics


class Feedback(_Part):
    """For whoever made the artifact."""

    summary: str
    action_items: list[str]
    best_practices: list[str]


class Escalation(_Part):
    """For whoever decides about retraining; `triggered` with RETRAIN_REQUIRED and only then."""

    triggered: bool
    systemic_issue: str
    capability_gaps: list[str]
    recommended_action: str
    priority: Priority


class Defect(_Part):
    """One fault. `example_fix` stays empty: a judge repairs nothing."""

    id: Annotated[str, Field(pattern=r"^D-\d{3}$")]
    severity: Level
    category: Category
    type: Literal["security", "function", "performance", "style", "doc"]
    location: str
    description: str
    root_cause: str
    suggestion: str
    example_fix: Literal[""] = ""
    deduction: Points
    cwe_id: Annotated[str, Field(pattern=r"^(?:CWE-\d+)?$")]
    seed_cwe: Annotated[str, Field(pattern=r"^(?:CWE-\d+)?$")] = ""
    confidence: Annotated[float, Field(ge=0.0, le=1.0)]


class RedlineViolation(_Part):
    """A fault that nothing makes up for."""

    rule: str
    type: str
    location: str
    details: str
    severity: Literal["critical"] = "critical"
    cwe_id: Annotated[str, Field(pattern=r"^(?:CWE-\d+)?$")]
    impact: str
    remediation: str


class ConsistencyIssue(_Part):
    """Something that two places of a delivery say differently."""

    type: Literal["naming", "interface", "logic", "style", "version"]
    severity: Literal["major", "minor"]
    locations: list[str]
    description: str
    suggestion: str


class Statistics(_Part):
    """Defects by severity and by category."""

    total_defects: Count
    critical: Count
    major: Count
    minor: Count
    info: Count
    careless_errors: Count
    design_defects: Count
    capability_gaps: Count


class Report(_Part):
    """Everything that was found."""

    summary: str
    strengths: list[str]
    defects: list[Defect]
    redline_violations: list[RedlineViolation]
    consistency_issues: list[ConsistencyIssue]
    metrics: Metrics
    statistics: Statistics


class Previous(_Part):
    """An earlier judgment on the same work; `total` and `status` where they are known, else -1 and empty."""

    judgment_id: str
    total: Annotated[int, Field(ge=-1, le=100)] = -1
    status: Literal["", "PASS", "REWORK", "RETRAIN_REQUIRED"] = ""


class Metadata(_Part):
    """How the judgment came about.

    `checklist` counts the findings of each group of the security checklist; `scanners` were used; `change` is the
    difference to the last earlier judgment whose total is known, 0 where there is none.
    """

    review_duration_ms: Count
    lines_reviewed: Count
    files_reviewed: Count
    artifact_type: str
    weights: dict[str, float]
    inapplicable_metrics: list[str]
    checklist: dict[str, int]
    scanners: list[str]
    previous_judgments: list[Previous]
    change: int
    priority: Priority


class Judgment(_Part):
    """A whole judgment."""

    judgment_id: Annotated[str, Field(pattern=r"^judge-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$")]
    version: Literal["2.0"] = "2.0"
    timestamp: Annotated[str, Field(pattern=r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$")]
    target_agent: str
    original_task: str
    score: Score
    status: Status
    feedback_to_agent: Feedback
    escalation_report_to_ceo: Escalation
    detailed_report: Report
    metadata: Metadata
