"""Points in time and durations, however they were written → nanoseconds.

Points: numbers since 1970 (in a given unit, or in the one that their size tells), pairs of seconds and nanoseconds,
ISO 8601.  Durations: numbers, ISO 8601 (PT1.5S), clock form (00:00:01.5), numbers with units (1.5s, 230ms).
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from decimal import Decimal, InvalidOperation

UNITS = {"ns": 1, "us": 1_000, "ms": 1_000_000, "s": 1_000_000_000}
_NUMBER = re.compile(r"[0-9]{1,20}(?:\.[0-9]{1,20})?")
_ISO = re.compile(
    r"([0-9]{4}-[0-9]{2}-[0-9]{2})[T ]([0-9]{2}:[0-9]{2}(?::[0-9]{2})?)(?:[.,]([0-9]{1,12}))? ?"
    r"([Zz]|UTC|[+-][0-9]{2}:?(?:[0-9]{2})?)?"
)
_ISO_DURATION = re.compile(
    r"P(?:([0-9.]{1,40})D)?(?:T(?:([0-9.]{1,40})H)?(?:([0-9.]{1,40})M)?(?:([0-9.]{1,40})S)?)?", re.IGNORECASE
)
_CLOCK = re.compile(r"(?:([0-9]{1,20})[. ])?([0-9]{1,2}):([0-9]{2}):([0-9]{2}(?:\.[0-9]{1,20})?)")
_WITH_UNIT = re.compile(r"([0-9]{1,20}(?:\.[0-9]{1,20})?) ?(ns|us|µs|μs|ms|s|m|h)")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_DAY, _HOUR, _MINUTE = 86_400, 3_600, 60
_LONGEST_DURATION_S = 1 << 33


def point_ns(value: object, unit: str | None = None) -> int | None:
    """Nanoseconds since 1970; None where the value is no time.

    Args:
        unit: of numbers: ns, us, ms or s. Without one, their size tells it: all units give dates of this century.
    """
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return _from_number(value, unit)
    if isinstance(value, list) and len(value) == 2 and all(type(part) is int for part in value):
        return int(value[0]) * UNITS["s"] + int(value[1])
    if not isinstance(value, str):
        return None
    if _NUMBER.fullmatch(value):
        return _from_number(int(value) if value.isdecimal() else float(value), unit)
    return _from_iso(value)


def duration_ns(value: object, unit: str | None = None) -> int | None:
    """Nanoseconds; None where the value is no duration, or a number of unknown unit.

    Args:
        unit: of numbers: ns, us, ms or s.
    """
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return None if unit is None or not 0 <= value < 1e19 else round(value * UNITS[unit])
    if not isinstance(value, str):
        return None
    if _NUMBER.fullmatch(value):
        return None if unit is None else _scaled(value, unit)
    iso, clock, with_unit = _ISO_DURATION.fullmatch(value), _CLOCK.fullmatch(value), _WITH_UNIT.fullmatch(value)
    if iso is not None and any(iso.groups()):
        return _in_seconds(iso.groups(), (_DAY, _HOUR, _MINUTE, 1))
    if clock is not None:
        return _in_seconds(clock.groups(), (_DAY, _HOUR, _MINUTE, 1))
    if with_unit is not None:
        number, name = with_unit.groups()
        if name in ("m", "h"):
            return _in_seconds((number,), (_MINUTE if name == "m" else _HOUR,))
        return _scaled(number, "us" if name[-2:] in ("us", "µs", "μs") else name)
    return None


def has_no_zone(value: object) -> bool:
    """Whether it is an ISO time that doesn't say in which time zone; such times are read as UTC."""
    match = _ISO.fullmatch(value) if isinstance(value, str) else None
    return match is not None and match[4] is None


def unit_of_size(value: int | float) -> str:
    """The unit in which a number is a date between 1973 and 5138."""
    return "s" if value < 1e11 else "ms" if value < 1e14 else "us" if value < 1e17 else "ns"


def _from_number(value: int | float, unit: str | None) -> int | None:
    if not 0 <= value < 1e20:
        return None
    factor = UNITS[unit or unit_of_size(value)]
    if isinstance(value, int):
        return value * factor
    # A double holds less than a microsecond of today's dates; more digits would be made up.
    return round(value * factor / 1000) * 1000 if factor > 1 else round(value)


def _from_iso(text: str) -> int | None:
    match = _ISO.fullmatch(text.strip())
    if match is None:
        return None
    day, clock, fraction, zone = match.groups()
    try:
        whole = datetime.fromisoformat(f"{day}T{clock}{'+00:00' if zone in (None, 'Z', 'z', 'UTC') else zone}")
    except ValueError:
        return None
    nanoseconds = int((fraction or "0")[:9].ljust(9, "0"))
    return (whole - _EPOCH) // timedelta(seconds=1) * UNITS["s"] + nanoseconds


def _scaled(number: str, unit: str) -> int | None:
    try:
        return round(Decimal(number) * UNITS[unit])
    except InvalidOperation:
        return None


def _in_seconds(numbers: tuple[str | None, ...], factors: tuple[int, ...]) -> int | None:
    try:
        seconds = sum(Decimal(number or 0) * factor for number, factor in zip(numbers, factors, strict=True))
    except InvalidOperation:
        return None
    return round(seconds * UNITS["s"]) if seconds < _LONGEST_DURATION_S else None
