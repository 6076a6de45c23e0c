"""What judging would cost: a judge that counts what it would be asked, and asks nobody.

In: questions about runs, as every judge gets them.  Out: no answers, and the tokens that the requests would take, by
evaluator.  Requests are composed as the real judge composes them; what it adds when something goes wrong (repetitions,
corrections) isn't counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from evaluators.cases import Run
from evaluators.judge.asking.batches import batches, halves
from evaluators.judge.asking.composing import empty_order, named, prompt_beside
from evaluators.judge.cache.case_key import case_keys
from evaluators.judge.endpoint.output_limit import output_limit
from evaluators.judge.endpoint.request import Order
from evaluators.judge.question import Answer, JudgeFailure, NamedQuestion, Question
from evaluators.judge.settings import JudgeSettings
from evaluators.judge.showing.prompt import ShownRun, prepare
from evaluators.judge.showing.redactor import Redactor
from evaluators.usage import share
from evaluators.verdict import Status, Usage

_NOT_ASKED = "This is an estimate; no judge was asked."


@dataclass(slots=True)
class Estimate:
    """What one judge would be asked and use.

    `questions`, `read`, `written` are by evaluator: how many, tokens to be read, and tokens that answers take at most.
    `known` counts questions whose answer a cache would know, `too_large` those that don't fit.
    """

    requests: int = 0
    known: int = 0
    too_large: int = 0
    questions: Counter[str] = field(default_factory=Counter)
    read: Counter[str] = field(default_factory=Counter)
    written: Counter[str] = field(default_factory=Counter)


class EstimatingJudge:
    """Implements `evaluators.judge.question.Judge` without a model.

    Args:
        settings: those of the judge that would be asked.
    """

    def __init__(self, settings: JudgeSettings) -> None:
        self._settings = settings
        self._seen: set[bytes] = set()
        self.estimate = Estimate()

    @property
    def model(self) -> str:
        """The model that would be asked."""
        return self._settings.model

    async def ask(self, run: Run, questions: Sequence[Question]) -> list[Answer]:
        """A failure for each question, as nobody was asked."""
        shown = prepare(run, Redactor(self._settings.redact), with_control=self._settings.control_statements)
        new = self._new(shown, questions)
        for places in batches(new, self._settings.steps_per_request):
            self._count(named(new, places), shown)
        return [JudgeFailure(status=Status.NEEDS_JUDGE, reason=_NOT_ASKED, model=self.model) for _ in questions]

    def _new(self, shown: ShownRun, questions: Sequence[Question]) -> list[Question]:
        """The questions whose answers no cache would know."""
        if self._settings.cache is None:
            return list(questions)
        new = []
        for question, key in zip(questions, case_keys(shown, questions, self._settings), strict=True):
            if key in self._seen:
                self.estimate.known += 1
            else:
                self._seen.add(key)
                new.append(question)
        return new

    def _count(self, asked: Sequence[NamedQuestion], shown: ShownRun) -> None:
        order = self._order(asked, shown)
        if order is None and len(asked) > 1:
            for half in halves(asked):
                self._count(half, shown)
            return
        if order is None:
            self.estimate.too_large += 1
            return
        found = self.estimate
        found.requests += 1
        used = Usage(prompt_tokens=order.tokens, completion_tokens=output_limit(order.schema))
        for (_, question), part in zip(asked, share(used, len(asked)), strict=True):
            found.questions[question.evaluator] += 1
            found.read[question.evaluator] += part.prompt_tokens or 0
            found.written[question.evaluator] += part.completion_tokens or 0

    def _order(self, asked: Sequence[NamedQuestion], shown: ShownRun) -> Order | None:
        order = empty_order(shown, asked)
        prompt = prompt_beside(order, shown, asked, self._settings.max_prompt_tokens)
        return None if prompt is None else replace(order, system=prompt.system, user=prompt.user)
