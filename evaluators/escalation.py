"""A second judge for verdicts that the first one's answer leaves in doubt.

In: a verdict, what rules had found, and if need be a second verdict on the same case.  Out: which of them stands, with
both judges' votes and how far they are apart.  Doubtful is a verdict whose confidence is low, one that passes what
rules suspect, and one that the first judge couldn't give in a valid form.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from evaluators.cases import JsonValue, Run
from evaluators.evaluator import Screening
from evaluators.judge.question import Answer, Judge, Question
from evaluators.status import Status
from evaluators.usage import add
from evaluators.verdict import Verdict

VOTES, SPREAD = "votes", "spread"
_LESS_WHEN_APART = 0.2


@dataclass(frozen=True)
class EscalatingJudge:
    """A judge whose doubtful verdicts are left to another one, which may itself be such a judge.

    `below_confidence`: verdicts of less confidence than that are doubtful.
    """

    first: Judge
    second: Judge
    below_confidence: float

    @property
    def model(self) -> str:
        """The first judge's model."""
        return self.first.model

    async def ask(self, run: Run, questions: Sequence[Question]) -> list[Answer]:
        """The first judge's answers; whoever makes verdicts of them decides what is doubtful."""
        return await self.first.ask(run, questions)

    def doubts(self, verdict: Verdict, screening: Screening, *, junk: bool) -> bool:
        """Whether the second judge is to be asked.

        Args:
            verdict: by the first judge's answer.
            screening: what rules had found before.
            junk: what the first judge says of the case can't be used.
        """
        if verdict.status is not Status.OK:
            # A judge that is down, too slow or has no budget left says nothing about the case.
            return junk
        suspected = any(not found.conclusive for found in screening.issues)
        unsure = verdict.confidence is not None and verdict.confidence < self.below_confidence
        return unsure or (suspected and verdict.passed is True)


def settled(first: Verdict, second: Verdict) -> Verdict:
    """The verdict that stands: the second one, unless it has no score.

    Args:
        first: was in doubt.
        second: on the same case by the second judge.
    """
    usage = add(first.usage, second.usage)
    if second.status is not Status.OK:
        if first.status is not Status.OK:
            return replace(second, usage=usage)
        # Why, with addresses and times to wait, is for the operator's log and not for whoever reads the trace.
        told = f"{first.explanation} A second judge gave no verdict ({second.status}).".strip()
        return replace(first, explanation=told, usage=usage)
    if first.status is not Status.OK:
        return replace(second, usage=usage)
    votes: list[JsonValue] = [_vote(first), *(_votes_of(second) or [_vote(second)])]
    scores = [vote["score"] for vote in votes if isinstance(vote, dict)]
    known = [score for score in scores if isinstance(score, int | float)]
    spread = round(max(known) - min(known), 4) if known else None
    confidence = second.confidence
    if confidence is not None and first.passed is not second.passed:
        confidence = max(round(confidence - _LESS_WHEN_APART, 4), 0.0)
    details = {**second.details, VOTES: votes, SPREAD: spread}
    return replace(second, usage=usage, confidence=confidence, details=details)


def _votes_of(verdict: Verdict) -> list[JsonValue]:
    votes = verdict.details.get(VOTES)
    return list(votes) if isinstance(votes, list) else []


def _vote(verdict: Verdict) -> JsonValue:
    return {"model": verdict.model, "label": verdict.label, "score": verdict.score, "confidence": verdict.confidence}
