"""The one shape of every evaluator: screen by rules, ask what is open, conclude.

`screen` is pure and decides what code can know.  What it leaves open becomes a `Question`; `conclude` combines both
into the verdict.  Nothing here talks to a model or a network.
"""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import ClassVar, Generic, TypeVar

from pydantic import BaseModel, ConfigDict, Field

from evaluators.cases import Case, CaseKind, JsonValue
from evaluators.judge.question import JudgeAnswer, JudgeFailure, Question
from evaluators.verdict import CallVerdict, Issue, Level, Method, Status, Verdict, passes

CaseT = TypeVar("CaseT", bound=Case)
_MOST_EXPLAINED = 4


class EvaluatorSettings(BaseModel):
    """What every evaluator can be told. Each evaluator sets its own default threshold."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    without_effect: ClassVar[frozenset[str]] = frozenset({"judge"})
    """Settings that change no verdict, and so no revision."""

    threshold: float | None = Field(default=1.0, ge=0.0, le=1.0, description="Lowest score that passes.")
    judge: str | None = Field(
        default=None,
        description="Id of the judge extension that decides what rules leave open; without one, rules alone.",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Screening:
    """What the rules know of a case.

    `status`  ok: decided, `score` is set, or `label` alone where what was found is no grade.  needs_judge: open.
              Others: `reason` says why there is no score.
    `fallback_score` and `fallback_confidence` are what rules alone may say of an open case when there is no judge.
    `issues`  conclusive ones and suspicions.  `details` end up in the verdict's.
    """

    status: Status
    score: float | None = None
    label: str | None = None
    confidence: float = 1.0
    fallback_score: float | None = None
    fallback_confidence: float | None = None
    issues: tuple[Issue, ...] = ()
    calls: tuple[CallVerdict, ...] = ()
    evidence: tuple[str, ...] = ()
    reason: str = ""
    details: Mapping[str, JsonValue] = field(default_factory=dict)


class Evaluator(ABC, Generic[CaseT]):
    """Base of all evaluators.

    Subclasses set `name`, `judges` (the kind of case they take), `level`, the two labels and `code_version` (raised
    whenever a rule changes its mind), and implement `screen`, `question` and `conclude`.  Where one class serves many
    evaluators, as those that are made from a file, each instance has its own.  `rules_decide` says that a judge only
    refines what rules can always tell, so that a judge that fails costs confidence and not the score.
    `takes_options`: a case in a file may bring settings of its own.  `needs` are the evaluators from whose verdicts on
    the same run this one's is derived, each with what is lost without it; such an evaluator finds them in the `sources`
    of its `RunCase`.  `Settings` is the model of what an evaluator of another package can be told.
    """

    name: str
    judges: CaseKind
    level: Level
    good_label: str
    bad_label: str
    code_version: str
    rules_decide: ClassVar[bool] = False
    takes_options: ClassVar[bool] = False
    needs: ClassVar[Mapping[str, str]] = {}
    Settings: ClassVar[type[EvaluatorSettings]] = EvaluatorSettings
    facts: tuple[str, ...] = ()

    def __init__(self, settings: EvaluatorSettings) -> None:
        self.settings = settings

    @abstractmethod
    def screen(self, case: CaseT) -> Screening:
        """What rules can say of the case; pure, no I/O, linear in the size of the case."""

    @abstractmethod
    def question(self, case: CaseT, screening: Screening) -> Question:
        """What to ask a judge of a case that `screen` left open."""

    @abstractmethod
    def conclude(self, case: CaseT, screening: Screening, answer: JudgeAnswer) -> Verdict:
        """The verdict on an open case from what the rules found and what the judge answered."""

    @abstractmethod
    def criteria(self) -> str:
        """The prompt text of this evaluator; part of its revision."""

    def revision(self, model: str | None = None, manner: str = "") -> str:
        """A short hash of everything that can change a verdict: rules, prompt, settings, model, way of asking."""
        settings = self.settings.model_dump_json(exclude=set(self.settings.without_effect))
        parts = (self.name, self.code_version, self.criteria(), settings, model or "", manner)
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:12]

    def conclude_by_rules(self, screening: Screening) -> Verdict:
        """The verdict when there is no judge to ask, or nothing to ask it."""
        if screening.status is Status.OK and screening.score is not None:
            return self.scored(screening, screening.score, screening.confidence, method=Method.RULE)
        if screening.status is Status.OK and screening.label is not None:
            return self.labelled(screening, screening.label)
        if screening.status is Status.NEEDS_JUDGE and screening.fallback_score is not None:
            confidence = screening.fallback_confidence if screening.fallback_confidence is not None else 0.5
            return self.scored(screening, screening.fallback_score, confidence, method=Method.RULE)
        return self.unscored(screening, screening.status, screening.reason)

    def conclude_failure(self, screening: Screening, failure: JudgeFailure) -> Verdict:
        """The verdict on an open case whose judge gave no valid answer.

        A status and no score, unless rules can decide the case alone; then theirs, which says that the judge failed.
        """
        if self.rules_decide and screening.fallback_score is not None:
            verdict = self.conclude_by_rules(screening)
            told = f"{verdict.explanation} By rules alone: {failure.reason}".strip()
            return replace(verdict, explanation=told, usage=failure.usage)
        verdict = self.unscored(screening, failure.status, failure.reason)
        return replace(
            verdict,
            method=Method.JUDGE,
            model=failure.model or None,
            usage=failure.usage,
            revision=self.revision(failure.model),
        )

    def scored(
        self, screening: Screening, score: float, confidence: float, *, method: Method, explanation: str = ""
    ) -> Verdict:
        """A verdict with a score: label and passed follow from score, threshold and critical issues.

        Without a threshold it is a measure, and has neither.
        """
        threshold = self.settings.threshold
        passed = None if threshold is None else passes(score, threshold, screening.issues)
        # Calls that are wrong in the same way are told once.
        decided = list(dict.fromkeys(found.detail for found in screening.issues if found.conclusive))
        return Verdict(
            evaluator=self.name,
            level=self.level,
            status=Status.OK,
            label=None if passed is None else self.good_label if passed else self.bad_label,
            score=round(score, 4),
            passed=passed,
            explanation=explanation or " ".join(decided[:_MOST_EXPLAINED]) or screening.reason,
            issues=screening.issues,
            calls=screening.calls,
            evidence=screening.evidence,
            details=screening.details,
            method=method,
            confidence=round(confidence, 4),
            revision=self.revision(),
        )

    def labelled(self, screening: Screening, label: str) -> Verdict:
        """A verdict that is no grade: a label alone; `reason` becomes its explanation."""
        return Verdict(
            evaluator=self.name,
            level=self.level,
            status=Status.OK,
            label=label,
            explanation=screening.reason,
            issues=screening.issues,
            evidence=screening.evidence,
            details=screening.details,
            confidence=round(screening.confidence, 4),
            revision=self.revision(),
        )

    def unscored(self, screening: Screening, status: Status, reason: str) -> Verdict:
        """A verdict without a score; `reason` becomes its explanation."""
        return Verdict(
            evaluator=self.name,
            level=self.level,
            status=status,
            explanation=reason,
            issues=screening.issues,
            evidence=screening.evidence,
            details=screening.details,
            revision=self.revision(),
        )
