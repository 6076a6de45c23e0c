"""Which questions share a request.

In: the questions about one run.  Out: groups of them.  Questions of different evaluators share a request; of one
evaluator at most `steps_per_request` do, in groups of nearly equal size that follow the order of the run.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from evaluators.judge.question import Question


def batches(questions: Sequence[Question], steps_per_request: int) -> list[list[int]]:
    """The places of the questions, grouped into requests."""
    per_evaluator = Counter(question.evaluator for question in questions)
    groups = -(-max(per_evaluator.values(), default=0) // steps_per_request)
    seen: Counter[str] = Counter()
    grouped: list[list[int]] = [[] for _ in range(groups)]
    for place, question in enumerate(questions):
        grouped[seen[question.evaluator] * groups // per_evaluator[question.evaluator]].append(place)
        seen[question.evaluator] += 1
    return [group for group in grouped if group]
