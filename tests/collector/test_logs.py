"""The own log: its forms, and that messages which come with every request don't flood it."""

from __future__ import annotations

import asyncio
import json
import logging

import pytest

from collector.intake import OverloadedError
from collector.logs import Flood, JsonFormatter, LineFormatter, RateLimited, fault, tell_of_unhandled


def record(message: str, *arguments: object, level: int = logging.WARNING) -> logging.LogRecord:
    made = logging.LogRecord("collector.x", level, __file__, 1, message, arguments, None)
    made.created = 0.25
    return made


def test_a_line_is_one_line_whatever_is_in_the_message() -> None:
    shown = LineFormatter().format(record("said %s", "a\nb\r"))
    assert shown == "1970-01-01T00:00:00.250Z warn  collector.x: said a\\nb\\r"


def test_json_has_the_keys_of_the_collectors_log() -> None:
    assert json.loads(JsonFormatter().format(record("said %s", "a\nb", level=logging.INFO))) == {
        "ts": "1970-01-01T00:00:00.250Z",
        "level": "info",
        "logger": "collector.x",
        "msg": "said a\nb",
    }


CONTENT = "a secret"


def fail(error: Exception) -> None:
    try:
        raise error
    except Exception as caught:
        raise RuntimeError(f"could not read {caught}") from caught


@pytest.mark.parametrize("formatter", [LineFormatter(), JsonFormatter()])
def test_of_an_exception_kind_and_place_are_told_and_no_message_that_may_quote_content(
    formatter: logging.Formatter,
) -> None:
    made = record("failed")
    try:
        fail(ValueError(CONTENT))
    except RuntimeError as error:
        made.exc_info = (type(error), error, error.__traceback__)
    shown = formatter.format(made)
    assert "secret" not in shown
    assert shown.index("ValueError") < shown.index("RuntimeError")
    assert "in fail" in shown and "test_logs.py" in shown


def test_of_our_own_exceptions_and_the_systems_the_message_is_told() -> None:
    assert fault(OverloadedError("the queue is full", 1.0)).endswith("OverloadedError: the queue is full")
    assert fault(OSError(28, "No space left on device", "x")).endswith("OSError: No space left on device")


async def test_what_nobody_handles_is_logged_without_values(caplog: pytest.LogCaptureFixture) -> None:
    loop = asyncio.get_running_loop()
    loop.set_exception_handler(tell_of_unhandled)

    def callback(given: str) -> None:
        raise ValueError(given)

    loop.call_soon(callback, CONTENT)
    await asyncio.sleep(0.01)
    (entry,) = caplog.records
    shown = LineFormatter().format(entry)
    assert "not handled" in shown and "ValueError" in shown and "in callback" in shown
    assert "secret" not in shown


def test_no_place_in_the_code_can_fill_the_disk() -> None:
    times_s = iter([0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 11.0, 12.0])
    flood = Flood(most=2, clock=lambda: next(times_s))
    made = [record("said %s", number) for number in range(5)]
    assert [flood.filter(one) for one in made] == [True, True, False, False, False]
    elsewhere, later, last = record("other"), record("said %s", 5), record("said %s", 6)
    elsewhere.lineno = 2
    assert [flood.filter(one) for one in (elsewhere, later, last)] == [True, True, True]
    assert (later.getMessage(), last.getMessage()) == ("said 5 (3 more from there were left out)", "said 6")


def test_what_is_only_told_is_never_left_out() -> None:
    flood = Flood(most=1, clock=lambda: 0.0)
    assert all(flood.filter(record("listens on %d", port, level=logging.INFO)) for port in range(9))


def test_repeats_are_counted_and_not_logged(caplog: pytest.LogCaptureFixture) -> None:
    times_s = iter([0.0, 1.0, 2.0, 2.0, 2.0, 11.0])
    log = RateLimited(logging.getLogger("collector.test"), interval_s=10.0, clock=lambda: next(times_s))
    for _ in range(3):
        log.warning("%s is down: %d", "otlp/a", 503)
    log.warning("%s is down: %d", "otlp/b", 503)
    log.error("%s is down: %d", "otlp/a", 503)
    log.warning("%s is down: %d", "otlp/a", 502)
    assert [entry.getMessage() for entry in caplog.records] == [
        "otlp/a is down: 503",
        "otlp/b is down: 503",
        "otlp/a is down: 503",
        "otlp/a is down: 502 (2 more like this)",
    ]
