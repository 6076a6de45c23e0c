"""Durations as people write them in configuration: `500ms`, `10s`, `1m30s`, `1h`.

The notation of Go's `time.ParseDuration`, which OpenTelemetry Collector users know.  In: a string; of bare integers
only zero, as in Go.  Out: seconds as a float, and the same notation again in JSON.  Never guesses a unit.
"""

from __future__ import annotations

import math
import re
from typing import Annotated

from pydantic import BeforeValidator, PlainSerializer, WithJsonSchema

_UNITS_S = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "μs": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0}
_PART = r"(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|µs|μs|ms|s|m|h)"
_WHOLE = re.compile(rf"(?:{_PART})+", re.ASCII)
_PARTS = re.compile(r"(\d+(?:\.\d*)?|\.\d+)(ns|us|µs|μs|ms|s|m|h)", re.ASCII)


def parse_duration(text: str) -> float:
    """Seconds of a Go-style duration.

    Raises:
        ValueError: not such a duration, or a negative one.
    """
    stripped = text.strip()
    if stripped == "0":
        return 0.0
    if not _WHOLE.fullmatch(stripped):
        raise ValueError(f"{text!r} is not a duration; write a number with a unit, such as 500ms, 10s, 1m30s or 1h")
    return math.fsum(float(number) * _UNITS_S[unit] for number, unit in _PARTS.findall(stripped))


def format_duration(seconds: float) -> str:
    """The shortest usual notation of a duration: `1m30s`, `250ms`, `0s`."""
    if seconds == 0:
        return "0s"
    if seconds < 1:
        return f"{seconds * 1000:g}ms"
    hours, rest = divmod(seconds, 3600)
    minutes, rest = divmod(rest, 60)
    parts = [f"{hours:g}h" if hours else "", f"{minutes:g}m" if minutes else "", f"{round(rest, 9):g}s" if rest else ""]
    return "".join(parts)


def _seconds(value: object) -> object:
    if isinstance(value, str):
        return parse_duration(value)
    if isinstance(value, bool):
        raise ValueError("a duration is a number with a unit, such as 10s")
    if isinstance(value, int) and value != 0:
        # Defaults are floats, in seconds; a bare integer from a configuration file has forgotten its unit.
        raise ValueError(f"{value} has no unit; write {value}s for seconds or {value}ms for milliseconds")
    return value


Duration = Annotated[
    float,
    BeforeValidator(_seconds),
    PlainSerializer(format_duration, return_type=str, when_used="json"),
    WithJsonSchema({"type": "string", "format": "duration", "examples": ["500ms", "10s", "1m30s"]}),
]
"""A pydantic field: seconds as a float inside, a Go-style duration in configuration."""
