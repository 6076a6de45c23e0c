"""Ids and times in all ways of writing them."""

from __future__ import annotations

import pytest

from collector.receivers.formats.ids import Ids, exact_id
from collector.receivers.formats.shape import Findings, WrongPieceError
from collector.receivers.formats.times import duration_ns, has_no_zone, point_ns

TRACE = "5b8efff798038103d269b633813fc60c"
SPAN = "eee19b7ec3c1b174"


@pytest.mark.parametrize(
    ("written", "size", "exact"),
    [
        (TRACE, 16, TRACE),
        (TRACE.upper(), 16, TRACE),
        (f"0x{TRACE}", 16, TRACE),
        ("W47/95gDgQPSabYzgT/GDA==", 16, TRACE),
        ("5b8efff7-9803-8103-d269-b633813fc60c", 16, TRACE),
        (f"tr-{TRACE}", 16, TRACE),
        ("d269b633813fc60c", 16, "0000000000000000d269b633813fc60c"),
        (SPAN, 8, SPAN),
        ("7uGbfsPBsXQ=", 8, SPAN),
        ("7uGbfsPBsXQ", 8, SPAN),
        ("1f", 8, "000000000000001f"),
        (0xEEE19B7EC3C1B174, 8, SPAN),
        ("", 8, ""),
        ("None", 8, ""),
        (None, 8, ""),
    ],
)
def test_an_id_keeps_its_bytes_however_it_is_written(written: object, size: int, exact: str) -> None:
    assert exact_id(written, size) == bytes.fromhex(exact)


@pytest.mark.parametrize("written", ["obs-clx7", "5b8efff7-9803-8103-d269-b633813fc60c", TRACE])
def test_an_id_of_another_length_becomes_the_same_one_everywhere_and_that_is_told(written: str) -> None:
    first, second = Findings(), Findings()
    assert Ids(first).span(written) == Ids(second).parent(written)
    assert len(Ids(first).span(written)) == 8
    assert len(first.notes) == 1


@pytest.mark.parametrize("nothing", [None, "", "0" * 32, 0])
def test_without_an_id_there_is_none(nothing: object) -> None:
    assert Ids(Findings()).parent(nothing) == b""
    with pytest.raises(WrongPieceError, match="no trace id"):
        Ids(Findings()).trace(nothing)


DAY_NS = 1_796_065_375_000_000_000  # 2026-11-30T19:02:55Z


@pytest.mark.parametrize(
    ("written", "unit", "nanoseconds"),
    [
        ("2026-11-30T19:02:55Z", None, DAY_NS),
        ("2026-11-30T19:02:55.829190123Z", None, DAY_NS + 829_190_123),
        ("2026-11-30T20:02:55.5+01:00", None, DAY_NS + 500_000_000),
        ("2026-11-30 19:02:55.000001+0000", None, DAY_NS + 1000),
        ("2026-11-30 19:02:55 UTC", None, DAY_NS),
        ("2026-11-30T19:02:55", None, DAY_NS),
        (1796065375, None, DAY_NS),
        (1796065375.25, None, DAY_NS + 250_000_000),
        (1796065375000, None, DAY_NS),
        (1796065375000001, None, DAY_NS + 1000),
        (DAY_NS + 7, None, DAY_NS + 7),
        (str(DAY_NS + 7), None, DAY_NS + 7),
        ([1796065375, 12], None, DAY_NS + 12),
        (5, "us", 5000),
        ("yesterday", None, None),
        ("2026-13-30T19:02:55Z", None, None),
        (True, None, None),
        (-1, None, None),
        ({}, None, None),
    ],
)
def test_points_in_time(written: object, unit: str | None, nanoseconds: int | None) -> None:
    assert point_ns(written, unit) == nanoseconds


@pytest.mark.parametrize(
    ("written", "unit", "nanoseconds"),
    [
        ("PT1.5S", None, 1_500_000_000),
        ("PT1M0.25S", None, 60_250_000_000),
        ("P1DT2H", None, 93_600_000_000_000),
        ("00:00:01.2345678", None, 1_234_567_800),
        ("1.02:00:00", None, 93_600_000_000_000),
        ("230ms", None, 230_000_000),
        ("9" * 1_000_000 + "ms", None, None),
        (f"P{'9' * 1_000_000}D", None, None),
        (f"PT1.{'9' * 1_000_000}S", None, None),
        ("9" * 1_000_000 + ".00:00:00", None, None),
        ("PT..S", None, None),
        ("1.5s", None, 1_500_000_000),
        ("12µs", None, 12_000),
        ("2m", None, 120_000_000_000),
        (12, "ms", 12_000_000),
        ("12", "us", 12_000),
        (0.5, "s", 500_000_000),
        (12, None, None),
        ("P", None, None),
        ("PT", None, None),
        ("long", "ms", None),
        (-3, "ms", None),
    ],
)
def test_durations(written: object, unit: str | None, nanoseconds: int | None) -> None:
    assert duration_ns(written, unit) == nanoseconds


def test_a_time_without_a_zone_is_known_as_such() -> None:
    assert has_no_zone("2026-11-30T19:02:55")
    assert not has_no_zone("2026-11-30T19:02:55+02:00")
    assert not has_no_zone(1796065375)
