"""How urgent a question is: what failed goes first, then what rules suspect.

In: a run and a question about it.  Out: an `Urgency`.  A pure function of both.
"""

from __future__ import annotations

from collections.abc import Iterable

from evaluators.cases import Run
from evaluators.judge.limits.line import Urgency
from evaluators.judge.question import Question


def most_urgent(run: Run, questions: Iterable[Question]) -> Urgency:
    """The urgency of the most urgent of questions about the run."""
    failed_calls = {call.id for call in run.calls if call.result is not None and call.result.failed}
    run_failed = run.aborted or bool(failed_calls) or any(turn.error is not None for turn in run.turns)

    def urgency(question: Question) -> Urgency:
        failed = not failed_calls.isdisjoint(question.call_ids) if question.call_ids else run_failed
        if failed:
            return Urgency.FAILURE
        return Urgency.SUSPICION if question.findings else Urgency.SAMPLE

    return min(map(urgency, questions), default=Urgency.SAMPLE)
