"""An HTTP status → what to do next.

OTLP calls 429, 502, 503 and 504 retryable (https://opentelemetry.io/docs/specs/otlp/#failures-1) and has clients drop
the data on everything else; here only data that the destination calls bad leaves for the dead-letter file.
"""

from __future__ import annotations

from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from urllib.parse import urlsplit

from collector.exporters.answers import clean
from collector.exporters.sender import (
    FaultyError,
    MisconfiguredError,
    RejectedDataError,
    RetryableError,
    SendError,
    TooLargeError,
    UnsupportedSignalError,
)
from collector.records import Signal

_BAD_DATA = frozenset({400, 422})
_TOO_LARGE = 413
# OTLP's, those of HTTP that say the same, and those of proxies about a server that is down, slow or overloaded.
_RETRYABLE = frozenset({408, 425, 429, 502, 503, 504, 521, 522, 523, 524, 529})
_NOT_THERE = frozenset({404, 405, 501})
_REDIRECTS = range(300, 400)


def failure(
    where: str, signal: Signal, status: int, retry_after_s: float | None = None, location: str = "", answer: str = ""
) -> SendError:
    """What a status that isn't a success means.

    Args:
        where: the URL, for the message.
        signal: of the request.
        status: the status code.
        retry_after_s: what Retry-After asks for; None when it asks for nothing.
        location: where a redirect leads.
        answer: the body as text; it may quote content.
    """
    said = f"{where} answered {status}"
    words = clean(answer)
    if status == _TOO_LARGE:
        return TooLargeError(f"{said}: the request is too large", words)
    if status in _BAD_DATA:
        return RejectedDataError(said, words)
    if status in _NOT_THERE and signal is not Signal.TRACES:
        return UnsupportedSignalError(f"{said} for {signal}")
    if status in _RETRYABLE:
        return RetryableError(said, retry_after_s, words)
    if status >= 500 and status not in _NOT_THERE:
        return FaultyError(said, retry_after_s, words)
    if status in _REDIRECTS:
        # Headers with credentials must not go where an answer says.
        return MisconfiguredError(f"{said}: redirects are not followed; configure the URL it leads to{_to(location)}")
    return MisconfiguredError(said, words)


def retry_after_s(header: str | None, date: str | None, now: datetime) -> float | None:
    """Seconds of a Retry-After header, which holds seconds or a date; None when it holds neither.

    Args:
        header: Retry-After.
        date: the Date header of the same answer: clocks may differ, and only the server's matters.
        now: our clock, in case there is no such header.
    """
    if header is None:
        return None
    if header.strip().isascii() and header.strip().isdigit():
        return float(header)
    until = _moment(header)
    if until is None:
        return None
    return max((until - ((_moment(date) if date else None) or now)).total_seconds(), 0.0)


def _moment(date: str) -> datetime | None:
    try:
        moment = parsedate_to_datetime(date)
    except (ValueError, OverflowError):
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _to(location: str) -> str:
    try:
        parts = urlsplit(location)
    except ValueError:
        return ""
    host = parts.netloc.rpartition("@")[2]
    return f" ({clean(f'{parts.scheme}://{host}{parts.path}' if host else parts.path)})" if location else ""
