"""What was used survives a restart, is shared by processes, and a damaged file is moved aside."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from evaluators.judge.limits.spending import Amount
from evaluators.judge.limits.spending_limits import Entry
from evaluators.judge.limits.spending_store import SpendingStore

_NOW_S = 1_796_040_000.0
_MINUTE = int(_NOW_S // 60)


def test_what_was_used_is_there_after_a_restart(tmp_path: Path) -> None:
    file = tmp_path / "deep" / "budgets.db"
    store = SpendingStore(file, "judge/a")
    assert store.changed(_NOW_S) == {}
    store.add(Entry(_MINUTE, Amount(1, 100, 7)))
    store.add(Entry(_MINUTE, Amount(1, -20, 3)))
    store.add(Entry(_MINUTE + 1, Amount(1, 5, 0)))
    store.close()
    again = SpendingStore(file, "judge/a")
    assert again.changed(_NOW_S) == {_MINUTE: Amount(2, 80, 10), _MINUTE + 1: Amount(1, 5, 0)}
    again.close()


def test_each_judge_has_its_own(tmp_path: Path) -> None:
    first, second = (SpendingStore(tmp_path / "budgets.db", name) for name in ("judge/a", "judge/b"))
    first.add(Entry(_MINUTE, Amount(1)))
    assert second.changed(_NOW_S) == {}
    first.close()
    second.close()


def test_another_process_sees_what_was_used_and_nobody_looks_twice_in_vain(tmp_path: Path) -> None:
    first, second = (SpendingStore(tmp_path / "budgets.db", "judge/a") for _ in range(2))
    assert first.changed(_NOW_S) == second.changed(_NOW_S) == {}
    first.add(Entry(_MINUTE, Amount(1, 10)))
    assert first.changed(_NOW_S) is None
    assert second.changed(_NOW_S) == {_MINUTE: Amount(1, 10)}
    assert second.changed(_NOW_S) is None
    first.close()
    second.close()


def test_what_is_older_than_a_day_is_forgotten(tmp_path: Path) -> None:
    store = SpendingStore(tmp_path / "budgets.db", "judge/a")
    store.add(Entry(_MINUTE, Amount(1)))
    store.changed(_NOW_S + 2 * 86_400)
    store.close()
    again = SpendingStore(tmp_path / "budgets.db", "judge/a")
    assert again.changed(_NOW_S) == {}
    again.close()


@pytest.mark.parametrize("content", [b"this is no database" * 200, b"SQLite format 3\x00" + b"\xff" * 5000])
def test_a_damaged_file_is_moved_aside_with_a_word_in_the_log(
    tmp_path: Path, content: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    file = tmp_path / "budgets.db"
    file.write_bytes(content)
    with caplog.at_level(logging.WARNING):
        store = SpendingStore(file, "judge/a")
    store.add(Entry(_MINUTE, Amount(1)))
    store.close()
    (aside,) = tmp_path.glob("budgets.db.damaged-*")
    assert aside.read_bytes() == content
    assert "was damaged and is now budgets.db.damaged-" in caplog.text
    again = SpendingStore(file, "judge/a")
    assert again.changed(_NOW_S) == {_MINUTE: Amount(1)}
    again.close()


def test_a_file_that_can_not_be_written_costs_its_memory_and_no_start(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("no directory")
    with caplog.at_level(logging.WARNING):
        store = SpendingStore(blocked / "budgets.db", "judge/a")
    store.add(Entry(_MINUTE, Amount(1)))
    assert store.changed(_NOW_S) == {_MINUTE: Amount(1)}
    store.close()
    assert "kept in memory only" in caplog.text


def test_what_a_clock_that_was_put_back_left_in_the_future_counts_as_of_now(tmp_path: Path) -> None:
    store = SpendingStore(tmp_path / "budgets.db", "judge/a")
    store.add(Entry(_MINUTE + 500_000, Amount(2)))
    store.add(Entry(_MINUTE, Amount(1)))
    assert store.changed(_NOW_S) == {_MINUTE: Amount(3)}
    store.close()
    again = SpendingStore(tmp_path / "budgets.db", "judge/a")
    assert again.changed(_NOW_S + 60) == {_MINUTE: Amount(3)}
    again.close()


def test_nobody_else_may_read_the_file(tmp_path: Path) -> None:
    store = SpendingStore(tmp_path / "budgets.db", "judge/a")
    store.add(Entry(_MINUTE, Amount(1)))
    assert {file.stat().st_mode & 0o777 for file in tmp_path.iterdir()} == {0o600}
    store.close()
