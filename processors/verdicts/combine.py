"""One verdict per span and evaluator: several cases that fall on the same span become one verdict.

It happens where an instrumentation records a whole loop of turns on one LLM span, or several calls on one tool span.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from evaluators.doubts import NOT_CHECKED, is_unchecked
from evaluators.status import OPEN, Status, foremost
from evaluators.usage import total
from evaluators.verdict import Method, Verdict

_LESS_WHEN_A_PART_IS_MISSING = 0.2


def combine(verdicts: Sequence[Verdict]) -> Verdict:
    """The verdicts of one evaluator on cases of one span, as one.

    The score is the mean over everything that was judged, each case weighted by its judged calls; it passes only if all
    of them pass.  Of the cases without a score:

    * those to which the evaluator doesn't apply don't count;
    * one that a judge should have decided and didn't leaves the whole without a score, for what was judged must not
      pass for all of it; unless another case failed: then the whole has failed, whatever would have come of this one;
    * one whose inputs weren't captured never can be judged: what was judged stands, less sure, and says so.
    """
    if len(verdicts) == 1:
        return verdicts[0]
    scored = [verdict for verdict in verdicts if verdict.status is Status.OK]
    failed = [verdict for verdict in scored if verdict.passed is False]
    left_open = [verdict for verdict in verdicts if verdict.status in OPEN]
    if not scored or (left_open and not failed):
        return _without_score(verdicts, len(scored))
    missing = [verdict for verdict in verdicts if verdict.status not in (Status.OK, Status.NOT_APPLICABLE)]
    told = dict.fromkeys(verdict.explanation for verdict in (failed or scored) if verdict.explanation)
    unsure = min((v.confidence for v in scored if v.confidence is not None), default=None)
    if missing:
        told[_left_out(missing, len(verdicts))] = None
        unsure = None if unsure is None else max(round(unsure - _LESS_WHEN_A_PART_IS_MISSING, 4), 0.0)
    judged = [verdict for verdict in scored if verdict.method is Method.JUDGE]
    first = (failed or scored)[0]
    return replace(
        first,
        score=_mean(scored),
        explanation=" ".join(told),
        issues=tuple(issue for verdict in scored for issue in verdict.issues),
        calls=tuple(call for verdict in scored for call in verdict.calls),
        evidence=tuple(dict.fromkeys(ref for verdict in scored for ref in verdict.evidence)),
        details={**first.details, **(NOT_CHECKED if any(map(is_unchecked, scored)) else {})},
        method=Method.JUDGE if judged else scored[0].method,
        confidence=unsure,
        revision=(judged or scored)[0].revision,
        model=judged[0].model if judged else None,
        usage=total(verdict.usage for verdict in verdicts),
        judge_trace_id=judged[0].judge_trace_id if judged else None,
        uncalibrated=any(verdict.uncalibrated for verdict in judged),
    )


def _without_score(verdicts: Sequence[Verdict], scored: int) -> Verdict:
    """The first of those that lack a score for the foremost reason, with what is suspected of all."""
    status = foremost(verdict.status for verdict in verdicts if verdict.status is not Status.OK)
    alike = [verdict for verdict in verdicts if verdict.status is status]
    told = f"{alike[0].explanation} {_left_out(alike, len(verdicts))}" if scored else alike[0].explanation
    return replace(
        alike[0],
        explanation=told.strip(),
        issues=tuple(issue for verdict in verdicts for issue in verdict.issues),
        usage=total(verdict.usage for verdict in verdicts),
    )


def _left_out(verdicts: Sequence[Verdict], of: int) -> str:
    why = ", ".join(dict.fromkeys(str(verdict.status) for verdict in verdicts))
    return f"{len(verdicts)} of the {of} parts of this span could not be judged ({why})."


def _mean(scored: Sequence[Verdict]) -> float | None:
    """None where the evaluator gives categories."""
    graded = [(max(1, sum(c.label is not None for c in v.calls)), v.score) for v in scored if v.score is not None]
    if not graded:
        return None
    return round(sum(weight * score for weight, score in graded) / sum(weight for weight, _ in graded), 4)
