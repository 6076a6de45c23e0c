"""What judges tell of their work, gathered until it is sent to the service.

In: reports of judges' clients, with the judge's id.  Out: counts as plain data, equal things added up.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from collector.judging.jobs import LevelCount, QuestionCount, RequestCount, SpendingCount
from evaluators.judge.client import OpenAIJudge
from evaluators.judge.report import QuestionsReport, RequestReport, SpendingReport


class JudgeCounts:
    """Counts since they were last taken."""

    def __init__(self) -> None:
        self._requests: list[RequestCount] = []
        self._questions: Counter[tuple[str, str, str]] = Counter()
        self._tokens: Counter[tuple[str, bool]] = Counter()
        self._money: dict[tuple[str, bool], float] = {}

    def request(self, judge_id: str, report: RequestReport) -> None:
        """One request to a judge."""
        usage = report.usage
        self._requests.append(
            RequestCount(
                judge_id,
                report.outcome.value,
                report.duration_s,
                usage.prompt_tokens or 0,
                usage.completion_tokens or 0,
                report.problem,
                report.learnt,
            )
        )

    def report(self, judge_id: str, report: QuestionsReport | SpendingReport) -> None:
        """What came of questions to a judge, or what a request to it used."""
        if isinstance(report, QuestionsReport):
            self._questions[judge_id, report.asked.value, report.problem] += report.questions
            return
        key = (judge_id, report.estimated)
        self._tokens[key] += report.tokens
        if report.money is not None:
            self._money[key] = self._money.get(key, 0.0) + report.money

    def take(self, judges: Iterable[OpenAIJudge]) -> list[RequestCount | QuestionCount | SpendingCount | LevelCount]:
        """What was counted, and how it stands with the judges' limits."""
        requests, self._requests = self._requests, []
        questions = [QuestionCount(*kind, count) for kind, count in self._questions.items()]
        spending = [SpendingCount(*key, tokens, self._money.get(key)) for key, tokens in self._tokens.items()]
        for counted in (self._questions, self._tokens, self._money):
            counted.clear()
        levels = []
        for judge in judges:
            now = judge.levels()
            levels.append(LevelCount(judge.name, now.queued, now.under_way, now.limit, now.breaker_open))
        return [*requests, *questions, *spending, *levels]
