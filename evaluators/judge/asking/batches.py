"""Which questions share a request.

In: the questions about one run.  Out: groups of them.  Questions of different evaluators share a request; of one
evaluator at most `steps_per_request` do, in groups of nearly equal size that follow the order of the run.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from evaluators.judge.question import NamedQuestion, Question


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


def halves(asked: Sequence[NamedQuestion]) -> tuple[Sequence[NamedQuestion], Sequence[NamedQuestion]]:
    """Questions in two parts, none of them empty if there are two: by evaluator, so that each has its criteria once."""
    evaluators = list(dict.fromkeys(question.evaluator for _, question in asked))
    if len(evaluators) == 1:
        return asked[: len(asked) // 2], asked[len(asked) // 2 :]
    first = set(evaluators[: len(evaluators) // 2])
    return [one for one in asked if one[1].evaluator in first], [one for one in asked if one[1].evaluator not in first]
