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

from evaluators.judge.errors import RequestError, too_slow
from evaluators.judge.report import Outcome
from evaluators.judge.settings import JudgeSettings
from evaluators.verdict import Status

_TOO_LONG = re.compile(
    r"context.?(?:length|window|size)|maximum context|too many tokens|(?:prompt|input|request) is too l", re.IGNORECASE
)
_NO_SCHEMA = re.compile(r"response_format|json_schema|structured.?output|guided|grammar", re.IGNORECASE)
_READ_CHARS = 4_000
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
        return _from_status(error, settings)
    return unreadable(settings)


def broken_off(error: httpx2.HTTPError, settings: JudgeSettings) -> RequestError:
    """The connection failed while the answer came in."""
    if isinstance(error, httpx2.TimeoutException):
        return too_slow(settings)
    return RequestError(
        f"{settings.endpoint} broke its answer off ({type(error).__name__}); look at its own log",
        Outcome.UNREACHABLE,
        retryable=True,
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


def _from_status(error: openai.APIStatusError, settings: JudgeSettings) -> RequestError:
    code = error.status_code
    words = f"{error.code or ''} {error.type or ''} {error.message[:_READ_CHARS]}"
    where = settings.endpoint

    def failed(reason: str, outcome: Outcome, *, status: Status = Status.JUDGE_ERROR) -> RequestError:
        return RequestError(reason, outcome, status=status, http_status=code)

    def passing(reason: str, outcome: Outcome) -> RequestError:
        wait = retry_after_s(error.response.headers, datetime.now(UTC))
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
    if code == 413 or (code in (400, 422) and _TOO_LONG.search(words)):
        return failed(
            f"the request was too long for {settings.model} ({code}); lower max_prompt_chars",
            Outcome.TOO_LARGE,
            status=Status.TOO_LARGE,
        )
    if code == 429 and (error.code in _QUOTA_CODES or error.type in _QUOTA_CODES):
        return failed(f"the quota at {where} is used up (429); check plan and billing there", Outcome.OUT_OF_QUOTA)
    if code == 429:
        return passing(
            f"{where} limits the rate of requests (429); lower max_concurrent_requests", Outcome.RATE_LIMITED
        )
    if code in (408, 409) or code >= 500:
        return passing(f"{where} failed ({code}); look at its own log", Outcome.SERVER_ERROR)
    if code in (400, 422) and settings.temperature is not None and "temperature" in words:
        return failed(f"{settings.model} accepts no such temperature ({code}); remove temperature", Outcome.REJECTED)
    if code in (400, 422) and _NO_SCHEMA.search(words):
        return failed(
            f"{where} doesn't give answers of a JSON schema with {settings.model} ({code}); use a model that does",
            Outcome.REJECTED,
        )
    return failed(f"{where} rejected the request ({code}); check model and base_url", Outcome.REJECTED)
