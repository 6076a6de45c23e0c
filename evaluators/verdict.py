"""What an evaluator says: a verdict, always with how it was reached, on what evidence, and how sure it is.

`score`, `label` and `passed` are set only if `status` is ok.  Nothing else is ever put in their place: content that was
not captured, a judge that was unreachable, an answer that was junk each have a status of their own.  Two kinds of
verdicts have less than all three: a measure without a threshold is a score alone, and a finding that is no grade (whose
fault something was) is a label alone.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from evaluators.cases import JsonValue
from evaluators.issues import CRITICAL_CODES, IssueCode, Severity, default_severity
from evaluators.status import Status as Status


class Method(StrEnum):
    """How a verdict was reached."""

    RULE = "rule"
    JUDGE = "judge"
    REFERENCE = "reference"


class Level(StrEnum):
    """What a verdict is about."""

    SPAN = "span"
    TRACE = "trace"
    SESSION = "session"


@dataclass(frozen=True, slots=True, kw_only=True)
class Issue:
    """One thing that is wrong, or suspected to be.

    `code` is an `IssueCode`, or one that a rubric brings along.
    `detail` is one short sentence for a person; quotes in it are already redacted.  `conclusive` tells a finding that
    decides from a suspicion that a judge has to confirm.  `ref` says where it was seen.
    """

    code: IssueCode | str
    detail: str
    severity: Severity
    call_id: str | None = None
    ref: str | None = None
    conclusive: bool = True


def issue(
    code: IssueCode,
    detail: str,
    *,
    call_id: str | None = None,
    ref: str | None = None,
    conclusive: bool = True,
    severity: Severity | None = None,
) -> Issue:
    """An `Issue` of the code's own severity unless one is given."""
    return Issue(
        code=code,
        detail=detail,
        severity=severity or default_severity(code),
        call_id=call_id,
        ref=ref,
        conclusive=conclusive,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class CallVerdict:
    """The verdict on one call of a turn. `label` is None when this call could not be judged."""

    call_id: str
    label: str | None
    issues: tuple[IssueCode | str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """What a judge cost: requests made, characters sent, tokens as the endpoint reported them (None: it did not)."""

    requests: int = 0
    prompt_chars: int = 0
    prompt_tokens: int | None = None
    completion_tokens: int | None = None


NO_USAGE = Usage()
_SHAPES = frozenset(((True, True, True), (False, True, False), (True, False, False)))
"""Which of label, score and passed a verdict may have: a grade, a measure without a threshold, a category."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """The answer of one evaluator about one case.

    `score` is 0..1 and finite, higher is better; `confidence` 0..1.  `evidence` are `ref`s of the case.
    `revision` names the exact rules, prompt, thresholds and model that were used.
    `explanation` is for people, at most a few sentences, and says why there is no score when there is none.
    `uncalibrated`: a judge decided that agrees too little with people, or of which nobody knows how much it does.
    `details` is what an evaluator has to tell beyond that (labels of steps, features, sub-goals), as JSON values.
    """

    evaluator: str
    level: Level
    status: Status
    label: str | None = None
    score: float | None = None
    passed: bool | None = None
    explanation: str = ""
    issues: tuple[Issue, ...] = ()
    calls: tuple[CallVerdict, ...] = ()
    evidence: tuple[str, ...] = ()
    method: Method = Method.RULE
    confidence: float | None = None
    revision: str = ""
    model: str | None = None
    usage: Usage = NO_USAGE
    judge_trace_id: str | None = None
    uncalibrated: bool = False
    details: Mapping[str, JsonValue] = field(default_factory=dict)

    def __post_init__(self) -> None:
        scored = (self.label, self.score, self.passed)
        if self.status is Status.OK:
            if tuple(one is not None for one in scored) not in _SHAPES:
                raise ValueError(
                    f"{self.evaluator}: status ok needs label, score and passed, a score alone or a label alone, "
                    f"got {scored}"
                )
            if self.score is not None and (not math.isfinite(self.score) or not 0.0 <= self.score <= 1.0):
                raise ValueError(f"{self.evaluator}: score {self.score!r} is not a finite number in 0..1")
        elif scored != (None, None, None):
            raise ValueError(f"{self.evaluator}: status {self.status} must not carry {scored}")

    @property
    def worst_issue(self) -> Issue | None:
        """The most severe issue that decided, the first of its severity; None when there is none."""
        order = {Severity.CRITICAL: 0, Severity.MAJOR: 1, Severity.MINOR: 2}
        decided = [found for found in self.issues if found.conclusive]
        return min(decided, key=lambda found: order[found.severity], default=None)


def passes(score: float, threshold: float, issues: tuple[Issue, ...]) -> bool:
    """Whether a score passes: at or above the threshold and no conclusive critical issue."""
    return score >= threshold and not any(
        found.conclusive and (found.severity is Severity.CRITICAL or found.code in CRITICAL_CODES) for found in issues
    )
