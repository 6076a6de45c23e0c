"""The trajectory quality evaluator: the weighted mean of the parts of which anything is known."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import ClassVar

from evaluators.cases import CaseKind, JsonValue, RunCase
from evaluators.computed import ComputedEvaluator
from evaluators.evaluator import Screening
from evaluators.status import foremost
from evaluators.trajectory_quality.parts import (
    EFFICIENCY,
    TOOL_CHOICE,
    WEIGHTS,
    Part,
    completeness,
    from_verdicts,
)
from evaluators.trajectory_quality.settings import TrajectoryQualitySettings
from evaluators.verdict import Level, Status, Verdict

_LESS_WHEN_A_PART_IS_MISSING = 0.2
_MOST_TOLD = 3


class TrajectoryQuality(ComputedEvaluator[RunCase]):
    """Agent Insight's trajectory score: 0.45 completeness + 0.35 tool choice + 0.20 efficiency."""

    name = "trajectory_quality"
    judges = CaseKind.RUN
    level = Level.TRACE
    good_label = "pass"
    bad_label = "fail"
    code_version = "1"
    needs: ClassVar[Mapping[str, str]] = {
        "tool_selection": "the part tool_choice is left out",
        "step_efficiency": "the part efficiency is left out",
    }

    def __init__(self, settings: TrajectoryQualitySettings | None = None) -> None:
        super().__init__(settings or TrajectoryQualitySettings())
        self._key_actions = (settings or TrajectoryQualitySettings()).key_actions

    def screen(self, case: RunCase) -> Screening:
        """The weighted mean of the known parts; without any, the foremost reason why."""
        named = case.reference.key_actions if case.reference is not None else None
        parts = (
            completeness(case.run, self._key_actions if named is None else named),
            from_verdicts(TOOL_CHOICE, "tool_selection", case.sources),
            from_verdicts(EFFICIENCY, "step_efficiency", case.sources),
        )
        known = [part for part in parts if part.score is not None]
        left_out = "; ".join(f"{part.name}: {part.why}" for part in parts if part.score is None)
        details: dict[str, JsonValue] = {"parts": {part.name: _told(part) for part in parts}}
        if not known:
            status = foremost(part.status for part in parts)
            return Screening(status=status, reason=f"Nothing is known of the trajectory ({left_out}).", details=details)
        weight = sum(WEIGHTS[part.name] for part in known)
        made_of = ", ".join(f"{part.name} {part.score:.2f}" for part in known)
        confidence = min(part.confidence for part in known) - (_LESS_WHEN_A_PART_IS_MISSING if left_out else 0.0)
        return Screening(
            status=Status.OK,
            score=sum(WEIGHTS[part.name] * (part.score or 0.0) for part in known) / weight,
            confidence=max(round(confidence, 4), 0.0),
            issues=tuple(found for part in known for found in part.issues),
            evidence=tuple(dict.fromkeys(ref for part in known for ref in part.evidence)),
            reason=f"From {made_of}." + (f" Left out: {left_out}." if left_out else ""),
            details=details,
        )

    def conclude_by_rules(self, screening: Screening) -> Verdict:
        """The verdict, which says first what it is made of."""
        missed = [found.detail for found in screening.issues[:_MOST_TOLD]]
        return replace(super().conclude_by_rules(screening), explanation=" ".join((screening.reason, *missed)))


def _told(part: Part) -> JsonValue:
    told: dict[str, JsonValue] = {"score": part.score, "weight": WEIGHTS[part.name], "of": part.of}
    return told if part.score is not None else {**told, "status": str(part.status), "why": part.why}
