"""The one error of the judge's client: a request that brought no reply. It never leaves `evaluators.judge`."""

from __future__ import annotations

from evaluators.judge.report import Outcome
from evaluators.judge.settings import JudgeSettings
from evaluators.verdict import Status


class RequestError(Exception):
    """A request that brought no reply."""

    def __init__(
        self,
        reason: str,
        outcome: Outcome,
        *,
        status: Status = Status.JUDGE_ERROR,
        retryable: bool = False,
        retry_after_s: float | None = None,
        http_status: int | None = None,
    ) -> None:
        super().__init__(reason)
        self.reason = reason
        self.outcome = outcome
        self.status = status
        self.retryable = retryable
        self.retry_after_s = retry_after_s
        self.http_status = http_status


def too_slow(settings: JudgeSettings) -> RequestError:
    """No answer within the time-out."""
    return RequestError(
        f"{settings.endpoint} gave no answer within {settings.timeout:g} s; raise timeout, or use a faster model",
        Outcome.TIMED_OUT,
        status=Status.TIMED_OUT,
    )
