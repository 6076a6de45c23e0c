"""What came of judging a trace, for the record of what became of it: codes and ids, and content only on request.

In: what the processors said.  Out: the same sealed, see `collector.accounts.told`.
"""

from __future__ import annotations

from collector.accounts.told import MissingInput, Told, ToldVerdict, seal
from evaluators.verdict import Method, Status
from processors.trace_jobs import TraceScores
from processors.verdicts.telling import PlacedVerdict

# An account is an answer to one question of one person; a trace of thousands of steps tells of its first verdicts.
MAX_VERDICTS = 1000
MAX_EXPLANATION_CHARS = 1000
_BY_THE_JUDGE = frozenset({Status.JUDGE_ERROR, Status.TIMED_OUT, Status.OVER_BUDGET, Status.TOO_LARGE})


def account_of(found: TraceScores, *, show_content: bool) -> bytes:
    """What was said, sealed; with explanations only if content may be shown."""
    return seal(
        Told(
            verdicts=tuple(_told(placed, show_content) for placed in found.verdicts[:MAX_VERDICTS]),
            missing=tuple(MissingInput(one.fact, one.attribute, one.switch) for one in found.missing),
            dialects=found.dialects,
        )
    )


def _told(placed: PlacedVerdict, show_content: bool) -> ToldVerdict:
    verdict = placed.verdict
    # Why a judge gave no answer, or wasn't asked, is said without anything of what it was shown.
    by_judge = verdict.status in _BY_THE_JUDGE and verdict.method is Method.JUDGE
    says_why = by_judge or verdict.status is Status.SAMPLED_OUT
    return ToldVerdict(
        span_id=placed.span_id,
        evaluator=verdict.evaluator,
        status=verdict.status.value,
        label=verdict.label,
        score=verdict.score,
        passed=verdict.passed,
        method=verdict.method.value,
        issues=tuple(str(issue.code) for issue in verdict.issues),
        confidence=verdict.confidence,
        revision=verdict.revision,
        model=verdict.model,
        sequence=placed.sequence,
        way=placed.way,
        why=verdict.explanation[:MAX_EXPLANATION_CHARS] if says_why else "",
        explanation=verdict.explanation[:MAX_EXPLANATION_CHARS] if show_content else "",
    )
