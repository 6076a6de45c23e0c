"""One verdict per span and evaluator: several cases that fall on the same span become one verdict.

It happens where an instrumentation records a whole loop of turns on one LLM span, or several calls on one tool span.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from evaluators.verdict import Method, Status, Usage, Verdict


def combine(verdicts: Sequence[Verdict]) -> Verdict:
    """The verdicts of one evaluator on cases of one span, as one.

    The score is the mean over everything that was judged, each case weighted by its judged calls; it passes only if all
    of them pass.  Cases without a score don't count unless all are without; then the first speaks.
    """
    if len(verdicts) == 1:
        return verdicts[0]
    scored = [verdict for verdict in verdicts if verdict.status is Status.OK and verdict.score is not None]
    if not scored:
        return replace(verdicts[0], usage=_sum(verdicts))
    weights = [max(1, sum(call.label is not None for call in verdict.calls)) for verdict in scored]
    score = sum(weight * (verdict.score or 0.0) for weight, verdict in zip(weights, scored, strict=True)) / sum(weights)
    failed = [verdict for verdict in scored if verdict.passed is False]
    explanations = dict.fromkeys(verdict.explanation for verdict in (failed or scored) if verdict.explanation)
    judged = [verdict for verdict in scored if verdict.method is Method.JUDGE]
    return replace(
        (failed or scored)[0],
        score=round(score, 4),
        explanation=" ".join(explanations),
        issues=tuple(issue for verdict in scored for issue in verdict.issues),
        calls=tuple(call for verdict in scored for call in verdict.calls),
        evidence=tuple(dict.fromkeys(ref for verdict in scored for ref in verdict.evidence)),
        method=Method.JUDGE if judged else scored[0].method,
        confidence=min((v.confidence for v in scored if v.confidence is not None), default=None),
        revision=(judged or scored)[0].revision,
        model=judged[0].model if judged else None,
        usage=_sum(verdicts),
        judge_trace_id=judged[0].judge_trace_id if judged else None,
    )


def _sum(verdicts: Sequence[Verdict]) -> Usage:
    prompt = [v.usage.prompt_tokens for v in verdicts if v.usage.prompt_tokens is not None]
    completion = [v.usage.completion_tokens for v in verdicts if v.usage.completion_tokens is not None]
    return Usage(
        requests=sum(v.usage.requests for v in verdicts),
        prompt_chars=sum(v.usage.prompt_chars for v in verdicts),
        prompt_tokens=sum(prompt) if prompt else None,
        completion_tokens=sum(completion) if completion else None,
    )
