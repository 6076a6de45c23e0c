"""What a judge has used, kept in a file, so that neither a restart nor a crash frees a budget.

In: entries of a ledger.  Out: the ledger of the last day.  Several processes may use one file: each sees what the
others have used.  A file that fails costs its memory, never a start or a verdict.
"""

from __future__ import annotations

import logging
import sqlite3
from pathlib import Path

from evaluators.judge.limits.spending import Amount
from evaluators.judge.limits.spending_limits import DAY_MINUTES, Entry
from evaluators.judge.sqlite_file import move_aside, open_database

_log = logging.getLogger(__name__)
_WHAT = "what judges have used of their budgets"
_TABLES = """
CREATE TABLE IF NOT EXISTS used (
    judge TEXT NOT NULL, minute INTEGER NOT NULL, calls INTEGER NOT NULL, tokens INTEGER NOT NULL,
    micros INTEGER NOT NULL, PRIMARY KEY (judge, minute)
) WITHOUT ROWID
"""
_ADD = """
INSERT INTO used VALUES (?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET
    calls = calls + excluded.calls, tokens = tokens + excluded.tokens, micros = micros + excluded.micros
"""


class SpendingStore:
    """The file, for one judge.

    Args:
        file: the file.
        judge: whose budgets these are.
    """

    def __init__(self, file: Path, judge: str) -> None:
        self._file = file
        self._judge = judge
        self._database = open_database(file, _TABLES, _WHAT)
        self._version = -1
        self._told = False

    def close(self) -> None:
        """Close the file."""
        self._database.close()

    def changed(self, wall_s: float) -> dict[int, Amount] | None:
        """What was used by minute, if another process has written since this was asked last; at first in any case."""
        try:
            version = self._database.execute("PRAGMA data_version").fetchone()[0]
            if version == self._version:
                return None
            found = self._database.execute(
                "SELECT minute, calls, tokens, micros FROM used WHERE judge = ?", (self._judge,)
            ).fetchall()
            now = int(wall_s // 60)
            self._database.execute("DELETE FROM used WHERE minute < ?", (now - DAY_MINUTES,))
            self._version = version
            used = {minute: Amount(*amounts) for minute, *amounts in found}
            return self._without_future(used, now)
        except sqlite3.Error as error:
            self._failed(error)
            return None

    def _without_future(self, used: dict[int, Amount], now: int) -> dict[int, Amount]:
        """What a clock that was put back has left ahead of it, entered under now: it must not count for ever."""
        ahead = [minute for minute in used if minute > now + 1]
        for minute in ahead:
            amount = used.pop(minute)
            used[now] = used.get(now, Amount()) + amount
            self._database.execute("DELETE FROM used WHERE judge = ? AND minute = ?", (self._judge, minute))
            self.add(Entry(now, amount))
        return used

    def add(self, entry: Entry) -> None:
        """Keep an entry."""
        amount = entry.amount
        row = (self._judge, entry.minute, amount.calls, amount.tokens, amount.micros)
        try:
            self._database.execute(_ADD, row)
        except sqlite3.Error as error:
            self._failed(error)

    def _failed(self, error: sqlite3.Error) -> None:
        if isinstance(error, sqlite3.OperationalError):
            if not self._told:
                self._told = True
                _log.warning("%s: %s can't be kept (%s); it counts until a restart", self._file, _WHAT, error)
            return
        self._database.close()
        try:
            move_aside(self._file, _WHAT)
        except OSError as other:
            _log.warning("%s is damaged and can't be moved aside (%s)", self._file, other)
        self._database = open_database(self._file, _TABLES, _WHAT)
        self._version = self._database.execute("PRAGMA data_version").fetchone()[0]
