"""The sidecar's own log: one line or one JSON object per message on standard error.

Messages name components, codes, counts and ids; nothing from a span's content is ever logged.
"""

from __future__ import annotations

import asyncio
import json
import logging
import sys
import time
import traceback
from collections.abc import Callable, Mapping
from datetime import UTC, datetime

from collector.config.telemetry_settings import LogSettings

_LEVELS = {"debug": logging.DEBUG, "info": logging.INFO, "warn": logging.WARNING, "error": logging.ERROR}
_ROOMS = ("collector", "processors", "evaluators")
REPEAT_AFTER_S = 10.0
# So many warnings of one place in the code within that time are logged, whatever they say.
MOST_REPEATS = 20


class JsonFormatter(logging.Formatter):
    """One JSON object a line, with the keys of the Collector's log."""

    def format(self, record: logging.LogRecord) -> str:
        """The record as JSON."""
        entry = {
            "ts": _timestamp(record),
            "level": _level(record),
            "logger": record.name,
            "msg": record.getMessage(),
        }
        if record.exc_info:
            entry["error"] = fault(record.exc_info[1])
        return json.dumps(entry, ensure_ascii=False)


class LineFormatter(logging.Formatter):
    """Time, level, logger and message, on one line."""

    def format(self, record: logging.LogRecord) -> str:
        """The record as a line; line breaks within the message are escaped."""
        message = record.getMessage().replace("\r", "\\r").replace("\n", "\\n")
        line = f"{_timestamp(record)} {_level(record):5} {record.name}: {message}"
        return f"{line}\n{fault(record.exc_info[1])}" if record.exc_info else line


def fault(error: BaseException | None) -> str:
    """Where an exception was raised, of what kind it is, and what it came from.

    Its message is told only if it is our own or the system's: any other may quote what was being read.
    """
    parts: list[str] = []
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        kind = type(error)
        told = f"{kind.__module__}.{kind.__qualname__}".removeprefix("builtins.")
        if isinstance(error, OSError) and error.strerror:
            told += f": {error.strerror}"
        elif kind.__module__.split(".")[0] in _ROOMS:
            told += f": {error}"
        frames = "".join(traceback.format_tb(error.__traceback__))
        parts.append(f"Traceback (most recent call last):\n{frames}{told}")
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    return "\n\nraised while handling this or because of it:\n\n".join(reversed(parts))


def tell_of_unhandled(_: asyncio.AbstractEventLoop, context: Mapping[str, object]) -> None:
    """A loop's exception handler that logs what nobody handled, without the values that asyncio would show."""
    error = context.get("exception")
    # What follows are the callback and its arguments.
    message = str(context.get("message")).partition(" in callback ")[0]
    logging.getLogger(__name__).error(
        "not handled: %s", message, exc_info=error if isinstance(error, BaseException) else None
    )


class Flood(logging.Filter):
    """Keeps warnings and errors of one place in the code, a library's as well, from filling the disk.

    Args:
        most: how many are let through within `REPEAT_AFTER_S`; the first one after that tells how many weren't.
        clock: seconds.
    """

    def __init__(self, most: int = MOST_REPEATS, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._most = most
        self._clock = clock
        self._seen: dict[tuple[str, int], tuple[float, int]] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether to log it."""
        if record.levelno < logging.WARNING:
            return True
        place = record.pathname, record.lineno
        now_s = self._clock()
        since_s, seen = self._seen.get(place, (now_s, 0))
        if now_s - since_s >= REPEAT_AFTER_S:
            if seen > self._most:
                record.msg = f"{record.getMessage()} ({seen - self._most} more from there were left out)"
                record.args = ()
            since_s, seen = now_s, 0
        self._seen[place] = since_s, seen + 1
        return seen < self._most


def set_up_logging(settings: LogSettings) -> None:
    """Send the log of the three rooms to standard error, at the level asked for; libraries only warn."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonFormatter() if settings.encoding == "json" else LineFormatter())
    handler.addFilter(Flood())
    root = logging.getLogger()
    for old in list(root.handlers):
        root.removeHandler(old)
    root.addHandler(handler)
    root.setLevel(logging.WARNING)
    for room in _ROOMS:
        logging.getLogger(room).setLevel(_LEVELS[settings.level])


class RateLimited:
    """A logger for messages that come with every request: each is logged once in a while, with the number left out.

    Messages are told apart by level, text before formatting and first argument, which is the component.

    Args:
        logger: where they go.
        interval_s: how often one of them is logged at most.
        clock: seconds.
    """

    def __init__(
        self,
        logger: logging.Logger,
        interval_s: float = REPEAT_AFTER_S,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._logger = logger
        self._interval_s = interval_s
        self._clock = clock
        self._last: dict[tuple[int, str, object], tuple[float, int]] = {}

    def error(self, message: str, *arguments: object) -> None:
        """Something that needs an operator."""
        self._say(logging.ERROR, message, arguments)

    def warning(self, message: str, *arguments: object) -> None:
        """Something that passes by itself, or that an operator may want to know."""
        self._say(logging.WARNING, message, arguments)

    def _say(self, level: int, message: str, arguments: tuple[object, ...]) -> None:
        key = (level, message, arguments[0] if arguments else None)
        now_s = self._clock()
        last_s, left_out = self._last.get(key, (float("-inf"), 0))
        if now_s - last_s < self._interval_s:
            self._last[key] = (last_s, left_out + 1)
            return
        self._last[key] = (now_s, 0)
        more = f" ({left_out} more like this)" if left_out else ""
        self._logger.log(level, message + more, *arguments, stacklevel=3)


def _level(record: logging.LogRecord) -> str:
    return "warn" if record.levelno == logging.WARNING else record.levelname.lower()


def _timestamp(record: logging.LogRecord) -> str:
    return datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
