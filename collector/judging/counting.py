"""What the judging process counted → the sidecar's own metrics, and log lines about what an operator has to know."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from collector.judging.jobs import (
    AdmissionCount,
    Count,
    LevelCount,
    QuestionCount,
    RequestCount,
    ScoreCount,
    SpendingCount,
    VerdictCount,
)
from collector.logs import RateLimited
from collector.telemetry import JudgeMetrics, Telemetry

_log = logging.getLogger(__name__)
_often = RateLimited(_log)


class Counting:
    """Takes counts over.

    Args:
        telemetry: where they go.
    """

    def __init__(self, telemetry: Telemetry) -> None:
        self._telemetry = telemetry
        self._judges: dict[str, JudgeMetrics] = {}

    def _of(self, judge: str) -> JudgeMetrics:
        if judge not in self._judges:
            self._judges[judge] = self._telemetry.judge(judge)
        return self._judges[judge]

    def take(self, counts: Sequence[Count]) -> None:
        """What was counted since the last time."""
        for count in counts:
            match count:
                case VerdictCount():
                    self._telemetry.traces.judged(*count)
                case ScoreCount():
                    self._telemetry.scores.of(*count[:3]).join(*count[3:])
                case AdmissionCount():
                    self._telemetry.traces.admitted(*count)
                case RequestCount(judge=judge):
                    self._of(judge).request(count.outcome, count.duration_s)
                    self._of(judge).tokens(count.tokens_read, count.tokens_written)
                    if count.problem:
                        _often.warning("%s: a request failed: %s", judge, count.problem)
                    if count.learnt:
                        _log.info("%s: the endpoint is asked in another way from now on: %s", judge, count.learnt)
                case QuestionCount(judge=judge):
                    self._of(judge).asked(count.asked, count.questions)
                    if count.problem:
                        _often.warning("%s: questions without an answer: %s", judge, count.problem)
                case SpendingCount(judge=judge):
                    self._of(judge).spent(count.tokens, count.money, estimated=count.estimated)
                case LevelCount(judge=judge):
                    self._of(judge).stands(*count[1:])
