"""What went wrong with a request, in words an operator can act on.

In: an error of the `openai` library or its transport.  Out: a `RequestError` with the verdict's status, one sentence
with the remedy, and whether trying again may help.  Never repeats what the endpoint wrote: it may quote the request,
and with it the run or a key.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

import httpx2
import openai

from evaluators.judge.endpoint.errors import RequestError, too_slow
from evaluators.judge.endpoint.lessons import TOO_LONG
from evaluators.judge.endpoint.refusal import Refusal, refusal_of
from evaluators.judge.report import Outcome
from evaluators.judge.settings import JudgeSettings
from evaluators.verdict import Status

DEFINITE = frozenset((400, 404, 422))
"""Statuses of a request that will be refused again if it is sent as it was."""
_QUOTA_CODES = frozenset(("insufficient_quota", "billing_hard_limit_reached", "billing_not_active"))


def from_library(error: openai.OpenAIError, settings: JudgeSettings) -> RequestError:
    """The failure behind an error of the library."""
    if isinstance(error, openai.APITimeoutError):
        return too_slow(settings)
    if isinstance(error, openai.APIConnectionError):
        cause = type(error.__cause__).__name__ if error.__cause__ is not None else "no connection"
        return RequestError(
            f"{settings.endpoint} can't be reached ({cause}); check base_url and that the endpoint is up",
            Outcome.UNREACHABLE,
            retryable=True,
        )
    if isinstance(error, openai.APIStatusError):
        return from_status(error.status_code, refusal_of(error.response.content), error.response.headers, settings)
    return unreadable(settings)


def broken_off(error: httpx2.HTTPError, settings: JudgeSettings) -> RequestError:
    """The connection failed while the answer came in."""
    if isinstance(error, httpx2.TimeoutException):
        return too_slow(settings)
    return RequestError(
        f"{settings.endpoint} broke its answer off ({type(error).__name__}); look at its own log",
        Outcome.UNREACHABLE,
        retryable=True,
        http_status=200,
    )


def unreadable(settings: JudgeSettings, what: str = "is no chat completion") -> RequestError:
    """An answer of the endpoint that isn't what its API promises."""
    return RequestError(
        f"the answer of {settings.endpoint} {what}; check that base_url is an OpenAI-compatible API",
        Outcome.UNREADABLE,
        http_status=200,
    )


def retry_after_s(headers: Mapping[str, str], now: datetime) -> float | None:
    """Seconds the endpoint asks to wait (RFC 9110 §10.2.3, or OpenAI's `retry-after-ms`); None when it doesn't say."""
    try:
        if (milliseconds := headers.get("retry-after-ms")) is not None:
            return max(0.0, float(milliseconds) / 1000)
        value = headers.get("retry-after")
        if value is None:
            return None
        if re.fullmatch(r"\d+(\.\d+)?", value.strip()):
            return float(value)
        when = parsedate_to_datetime(value)
        return max(0.0, ((when if when.tzinfo else when.replace(tzinfo=UTC)) - now).total_seconds())
    except ValueError:
        return None


def from_status(code: int, refusal: Refusal, headers: Mapping[str, str], settings: JudgeSettings) -> RequestError:
    """The failure that an HTTP status and the words with it stand for."""
    where = settings.endpoint

    def failed(reason: str, outcome: Outcome, *, status: Status = Status.JUDGE_ERROR) -> RequestError:
        return RequestError(reason, outcome, status=status, http_status=code, refusal=refusal)

    def passing(reason: str, outcome: Outcome) -> RequestError:
        wait = retry_after_s(headers, datetime.now(UTC))
        return RequestError(reason, outcome, retryable=True, retry_after_s=wait, http_status=code)

    if code == 401:
        return failed(f"{where} refused the key (401); check api_key", Outcome.UNAUTHORIZED)
    if code == 403:
        return failed(
            f"{where} doesn't allow this key to use {settings.model} (403); check api_key and model",
            Outcome.UNAUTHORIZED,
        )
    if code == 404:
        return failed(f"{where} knows no such path or model (404); check base_url and model", Outcome.NOT_FOUND)
    if code == 413 or (code in DEFINITE and TOO_LONG.search(f"{refusal.words} {' '.join(refusal.codes)}")):
        return failed(
            f"the request was too long for {settings.model} ({code}); lower max_prompt_tokens",
            Outcome.TOO_LARGE,
            status=Status.TOO_LARGE,
        )
    if code == 402 or (code == 429 and refusal.codes & _QUOTA_CODES):
        return failed(f"the quota at {where} is used up ({code}); check plan and billing there", Outcome.OUT_OF_QUOTA)
    if code == 429:
        return passing(
            f"{where} limits the rate of requests (429); lower max_concurrent_requests", Outcome.RATE_LIMITED
        )
    if code in (408, 409) or code >= 500:
        return passing(f"{where} failed ({code}); look at its own log", Outcome.SERVER_ERROR)
    return failed(f"{where} rejected the request ({code}); check model and base_url", Outcome.REJECTED)
