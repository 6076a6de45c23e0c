"""What is remembered of judged traces after the process: late spans are late, whatever state the file is in."""

import logging
import sqlite3
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from collector.holding.ledger import Ledger, checksum
from collector.holding.ledger_file import FILE_NAME, LedgerFile

HOUR_S, DAY_S = 3600.0, 86400.0
START_NS = 1_700_000_000 * 10**9
TRACES = [bytes([number]) * 16 for number in range(1, 6)]
IDS = [number.to_bytes(8) for number in range(1, 4)]
SPANS = [b"span %d" % number for number in range(1, 4)]


class Life:
    """One process after the other over the same file; the wall clock is the test's."""

    def __init__(self, folder: Path) -> None:
        self.file = folder / FILE_NAME
        self.wall_ns = START_NS

    def begin(self, max_age_s: float = DAY_S, max_spans: int = 1000) -> tuple[Ledger, Callable[[], None]]:
        kept = LedgerFile(self.file, lambda: self.wall_ns)
        ledger = Ledger(max_age_s, max_spans, kept)
        kept.load(ledger, 0.0)
        return ledger, kept.close

    def rows(self) -> int:
        with sqlite3.connect(self.file) as connection:
            return int(connection.execute("SELECT count(*) FROM traces").fetchone()[0])


@pytest.fixture
def life(tmp_path: Path) -> Life:
    return Life(tmp_path)


def remember(ledger: Ledger, trace_id: bytes, now_s: float = 0.0, spans: int = 3) -> None:
    ledger.remember(trace_id, b"".join(IDS[:spans]), b"".join(map(checksum, SPANS[:spans])), now_s)


def test_after_a_restart_traces_are_known_and_so_are_their_spans(life: Life) -> None:
    ledger, close = life.begin()
    remember(ledger, TRACES[0])
    close()
    ledger, close = life.begin()
    assert TRACES[0] in ledger and TRACES[1] not in ledger
    assert ledger.has_seen(TRACES[0], IDS[0], SPANS[0]) and not ledger.has_seen(TRACES[0], IDS[0], SPANS[1])
    close()


def test_what_is_remembered_is_on_disk_soon_without_an_orderly_end(life: Life) -> None:
    ledger, close = life.begin()
    remember(ledger, TRACES[0])
    deadline_s = time.monotonic() + 20
    while life.rows() == 0 and time.monotonic() < deadline_s:
        time.sleep(0.02)
    other, close_other = life.begin()
    assert TRACES[0] in other
    close_other()
    close()


@pytest.mark.parametrize(
    ("passed_s", "known"),
    [
        (0.0, True),
        (DAY_S - 1, True),
        (DAY_S, False),
        (1000 * DAY_S, False),
        # A clock that was put back: as of now, and no older.
        (-1000 * DAY_S, True),
    ],
)
def test_a_trace_is_known_for_its_age_by_the_wall_clock(life: Life, passed_s: float, known: bool) -> None:
    ledger, close = life.begin()
    remember(ledger, TRACES[0])
    close()
    life.wall_ns += int(passed_s * 1e9)
    ledger, close = life.begin()
    assert (TRACES[0] in ledger) is known
    close()
    assert life.rows() == known


def test_a_clock_that_was_put_back_does_not_let_a_trace_live_for_ever(life: Life) -> None:
    ledger, close = life.begin()
    remember(ledger, TRACES[0])
    close()
    life.wall_ns -= int(1000 * DAY_S * 1e9)
    for _ in range(2):
        life.begin()[1]()
        life.wall_ns += int(13 * HOUR_S * 1e9)
    ledger, close = life.begin()
    assert TRACES[0] not in ledger
    close()


def test_the_age_goes_on_over_a_restart(life: Life) -> None:
    ledger, close = life.begin()
    remember(ledger, TRACES[0])
    close()
    life.wall_ns += int(20 * HOUR_S * 1e9)
    ledger, close = life.begin()
    ledger.expire(3.9 * HOUR_S)
    assert TRACES[0] in ledger
    ledger.expire(4.1 * HOUR_S)
    assert TRACES[0] not in ledger
    close()
    assert life.rows() == 0


def test_the_bound_on_spans_holds_on_disk_as_well_and_the_oldest_go_first(life: Life) -> None:
    ledger, close = life.begin(max_spans=6)
    for trace_id in TRACES[:3]:
        life.wall_ns += 1
        remember(ledger, trace_id)
    close()
    assert life.rows() == 2
    ledger, close = life.begin(max_spans=3)
    assert [trace_id in ledger for trace_id in TRACES[:3]] == [False, False, True]
    close()
    assert life.rows() == 1


def test_traces_without_known_spans_are_bounded_too(life: Life) -> None:
    ledger, close = life.begin(max_spans=2)
    for trace_id in TRACES:
        ledger.remember(trace_id, b"", b"", 0.0)
    assert len(ledger) == 2
    close()
    assert life.rows() == 2


def garbage(file: Path) -> None:
    file.write_bytes(b"not a database at all, and longer than a header " * 100)


def another_version(file: Path) -> None:
    with sqlite3.connect(file) as connection:
        connection.execute("CREATE TABLE traces (something_else TEXT)")
        connection.execute("PRAGMA user_version = 99")
    connection.close()


def flipped_bytes(file: Path) -> None:
    life = Life(file.parent)
    ledger, close = life.begin()
    for trace_id in TRACES:
        remember(ledger, trace_id)
    close()
    content = bytearray(file.read_bytes())
    content[200:4000] = bytes(3800)
    content[4200:4300] = b"\xff" * 100
    file.write_bytes(content)


@pytest.mark.parametrize("spoil", [garbage, another_version, flipped_bytes])
def test_a_file_that_cannot_be_used_is_moved_aside_and_the_start_goes_on(
    life: Life, spoil: Callable[[Path], None], caplog: pytest.LogCaptureFixture
) -> None:
    spoil(life.file)
    with caplog.at_level(logging.WARNING):
        ledger, close = life.begin()
    assert len(ledger) == 0
    assert "begins anew" in caplog.text and str(life.file) in caplog.text
    assert len(list(life.file.parent.glob(f"{FILE_NAME}.damaged-*"))) == 1
    remember(ledger, TRACES[0])
    close()
    ledger, close = life.begin()
    assert TRACES[0] in ledger
    close()


def test_a_file_that_vanishes_while_it_is_written_costs_nobody_anything(life: Life) -> None:
    ledger, close = life.begin()
    remember(ledger, TRACES[0])
    for file in life.file.parent.glob("*"):
        file.unlink()
    remember(ledger, TRACES[1])
    close()
    assert TRACES[0] in ledger and TRACES[1] in ledger
