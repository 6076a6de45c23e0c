"""When a span began and ended, from whichever fields tell it.

A field's name may carry its unit (`start_time_ns`, `durationMs`).  A start with a duration gives the end; where neither
end nor duration is known, the end stays unknown.
"""

from __future__ import annotations

from collector.receivers.formats.fields import Keys
from collector.receivers.formats.times import duration_ns, has_no_zone, point_ns, unit_of_size

_STARTS = ("starttime", "starttimestamp", "startedat", "startdatetime", "start", "begintime", "begin", "starttimeutc")
_OTHER_STARTS = ("timestamp", "time", "createdat")
_ENDS = ("endtime", "endtimestamp", "endedat", "enddatetime", "end", "finishtime", "finishedat", "completedat")
_DURATIONS = ("duration", "latency", "elapsed", "durationtime", "executiontime", "executionduration")
_UNITS = {
    "ns": ("unixnano", "ns", "nano", "nanos", "nanoseconds"),
    "us": ("us", "micros", "microseconds"),
    "ms": ("unixms", "ms", "millis", "milliseconds"),
    "s": ("s", "sec", "seconds", "unix"),
}


def _with_units(stems: tuple[str, ...]) -> dict[str, str | None]:
    plain: dict[str, str | None] = dict.fromkeys(stems)
    return plain | {
        f"{stem}{suffix}": unit for stem in stems for unit, suffixes in _UNITS.items() for suffix in suffixes
    }


_START_KEYS = _with_units(_STARTS) | _with_units(_OTHER_STARTS)
_END_KEYS = _with_units((*_ENDS, "endtimeutc"))
_DURATION_KEYS = _with_units(_DURATIONS)
TIMES = (*_START_KEYS, *_END_KEYS, *_DURATION_KEYS)
"""Plain keys that tell of a span's time."""

NO_ZONE = "times without a time zone were read as UTC"
NO_UNIT = "durations without a unit were read in the unit of the start times, or else as milliseconds"


def times_of(keys: Keys) -> tuple[int, int, str]:
    """Start and end in nanoseconds since 1970, 0 where unknown, and what is to be noted about them."""
    started, ended = keys.find(tuple(_START_KEYS)), keys.find(tuple(_END_KEYS))
    took = keys.find(tuple(_DURATION_KEYS))
    start = point_ns(started[1], _START_KEYS[started[0]]) if started is not None else None
    end = point_ns(ended[1], _END_KEYS[ended[0]]) if ended is not None else None
    note = NO_ZONE if any(one is not None and has_no_zone(one[1]) for one in (started, ended)) else ""
    if start is not None and end is None and took is not None:
        unit = _DURATION_KEYS[took[0]]
        if unit is None and isinstance(took[1], int | float):
            given = started[1] if started is not None else None
            unit = unit_of_size(given) if isinstance(given, int | float) else "ms"
            note = NO_UNIT
        duration = duration_ns(took[1], unit)
        end = start + duration if duration is not None else None
    return start or 0, end or 0, note
