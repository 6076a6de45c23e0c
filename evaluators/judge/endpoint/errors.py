"""The one error of the judge's client: a request that brought no reply. It never leaves `evaluators.judge`."""

from __future__ import annotations

from evaluators.judge.endpoint.refusal import Refusal
from evaluators.judge.report import Outcome
from evaluators.judge.settings import JudgeSettings
from evaluators.verdict import Status


class RequestError(Exception):
    """A request that brought no reply.

    `again`: it was refused for the way in which it was asked, which has been learnt; to be asked again at once, which
    is no retry.  `refusal`: the endpoint's words, for `evaluators.judge.endpoint.memory` alone.  `window_tokens` and
    `prompt_tokens`: how much the model can read and how much it was given, where the endpoint says so.
    """

    def __init__(
        self,
        reason: str,
        outcome: Outcome,
        *,
        status: Status = Status.JUDGE_ERROR,
        retryable: bool = False,
        retry_after_s: float | None = None,
        http_status: int | None = None,
        again: bool = False,
        refusal: Refusal | None = None,
    ) -> None:
        super().__init__(reason)
        self.reason = reason
        self.outcome = outcome
        self.status = status
        self.retryable = retryable
        self.retry_after_s = retry_after_s
        self.http_status = http_status
        self.again = again
        self.refusal = refusal
        self.window_tokens = None if refusal is None else refusal.window_tokens
        self.prompt_tokens = None if refusal is None else refusal.prompt_tokens


def too_slow(settings: JudgeSettings) -> RequestError:
    """No answer within the time-out."""
    return RequestError(
        f"{settings.endpoint} gave no answer within {settings.timeout:g} s; raise timeout, or use a faster model",
        Outcome.TIMED_OUT,
        status=Status.TIMED_OUT,
    )
