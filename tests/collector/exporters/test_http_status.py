"""Every HTTP status, and what its headers say: what the exporter takes it for."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from collector.exporters.http_status import failure, retry_after_s
from collector.exporters.otlp_http import OtlpHttpSender, OtlpHttpSettings
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
from tests.collector.backends import HttpAnswer, HttpBackend, trace_request

NOW = datetime(2026, 3, 1, 12, 0, 0, tzinfo=UTC)
RETRYABLE = {408, 425, 429, 502, 503, 504, 521, 522, 523, 524, 529}


def expected_of(status: int, signal: Signal) -> type[SendError] | None:
    if 200 <= status < 300:
        return None
    if status in (400, 422):
        return RejectedDataError
    if status == 413:
        return TooLargeError
    if status in (404, 405, 501):
        return MisconfiguredError if signal is Signal.TRACES else UnsupportedSignalError
    if status in RETRYABLE:
        return RetryableError
    return FaultyError if status >= 500 else MisconfiguredError


@pytest.mark.parametrize("signal", [Signal.TRACES, Signal.METRICS])
async def test_every_status_from_a_real_server_says_what_to_do_next(signal: Signal) -> None:
    # 1xx come before an answer; 204 and 304 have no body by definition.
    statuses = [*range(200, 600)]
    async with HttpBackend() as backend:
        sender = OtlpHttpSender("otlphttp", OtlpHttpSettings(endpoint=backend.url))
        await sender.start()
        for status in statuses:
            body = b"" if status in (204, 304) else b"a secret"
            backend.answer = lambda number, request, status=status, body=body: HttpAnswer(status, body)  # type: ignore[misc]
            expected = expected_of(status, signal)
            found: SendError | None = None
            try:
                await sender.send(signal, trace_request("a"), {})
            except SendError as error:
                found = error
            assert (type(found) if found else None) is expected, status
            if found is not None:
                assert str(status) in str(found)
                assert "secret" not in str(found)
        await sender.stop()
    assert backend.connections <= 2


def test_what_the_destination_said_is_kept_apart_from_the_message() -> None:
    found = failure("http://h", Signal.TRACES, 400, answer="value 'my\nsecret' is bad")
    assert (str(found), found.answer) == ("http://h answered 400", "value 'my secret' is bad")


@pytest.mark.parametrize(
    ("location", "words"),
    [
        ("https://new.example/v1/traces", "(https://new.example/v1/traces)"),
        ("https://user:pw@new.example/v1/traces?token=t", "(https://new.example/v1/traces)"),
        ("/login?next=x", "(/login)"),
        ("", "the URL it leads to"),
        ("http://[broken", "the URL it leads to"),
    ],
)
def test_a_redirect_is_told_with_where_it_leads_and_without_secrets(location: str, words: str) -> None:
    message = str(failure("http://h", Signal.TRACES, 308, location=location))
    assert "redirects are not followed" in message
    assert message.endswith(words)


@pytest.mark.parametrize(
    ("header", "expected_s"),
    [
        (None, None),
        ("7", 7.0),
        (" 7 ", 7.0),
        ("0", 0.0),
        ("9" * 400, float("inf")),
        (format_datetime(NOW + timedelta(hours=1), usegmt=True), 3600.0),
        (format_datetime(NOW - timedelta(hours=1), usegmt=True), 0.0),
        ("Sun, 01 Mar 2026 12:00:30", 30.0),
        ("soon", None),
        ("-5", None),
        ("7.5", None),
        ("", None),
        ("²", None),
        (f"Mon, 01 Jan {'9' * 30} 00:00:00 GMT", None),
    ],
)
def test_retry_after_is_read_as_seconds_or_as_a_date(header: str | None, expected_s: float | None) -> None:
    assert retry_after_s(header, None, NOW) == expected_s


def test_a_date_is_measured_by_the_servers_clock_if_it_tells_it() -> None:
    server = NOW + timedelta(days=400)
    header = format_datetime(server + timedelta(seconds=20), usegmt=True)
    assert retry_after_s(header, format_datetime(server, usegmt=True), NOW) == 20.0
    assert retry_after_s(header, "nonsense", server) == 20.0


async def test_retry_after_of_an_answer_arrives_with_the_failure() -> None:
    headers = (("retry-after", "7"),)
    async with HttpBackend(lambda number, request: HttpAnswer(503, headers=headers)) as backend:
        sender = OtlpHttpSender("otlphttp", OtlpHttpSettings(endpoint=backend.url))
        await sender.start()
        with pytest.raises(RetryableError) as caught:
            await sender.send(Signal.TRACES, trace_request("a"), {})
        await sender.stop()
    assert caught.value.retry_after_s == 7.0
