"""Keeps the ledger in a SQLite file beside the journal, so that late spans are known as late after a restart.

In: which traces are remembered and forgotten.  Out: at a start, those that were remembered.  Everything is written by a
thread of its own, what happened within about a second together; nothing waits for it, and what a crash keeps from being
written is lost, as the file may be altogether: it is moved aside when it is damaged or of another version.
"""

from __future__ import annotations

import logging
import sqlite3
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from collector.holding.ledger import CHECKSUM_BYTES, Ledger, Remembered
from collector.logs import RateLimited
from evaluators.judge.sqlite_file import move_aside, open_database

_log = RateLimited(logging.getLogger(__name__))
FILE_NAME = "ledger.db"
VERSION = 1
GATHER_S = 0.5
_WHAT = "the ledger of judged traces"
_TABLES = f"""
CREATE TABLE IF NOT EXISTS traces (
    trace_id BLOB PRIMARY KEY, since_ns INTEGER NOT NULL, span_ids BLOB NOT NULL, checksums BLOB NOT NULL
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS traces_since ON traces (since_ns);
PRAGMA user_version = {VERSION};
"""
_ID_BYTES, _NS = 8, 1_000_000_000


class _Row(NamedTuple):
    since_ns: int
    span_ids: bytes
    checksums: bytes


class LedgerFile:
    """A `collector.holding.ledger.Keeper`.

    Args:
        file: where; its directory is there.
        wall_clock: nanoseconds since 1970.
    """

    def __init__(self, file: Path, wall_clock: Callable[[], int] = time.time_ns) -> None:
        self._file = file
        self._wall_clock = wall_clock
        self._pending: dict[bytes, _Row | None] = {}
        self._lock = threading.Lock()
        self._news = threading.Event()
        self._closing = threading.Event()
        self._thread: threading.Thread | None = None

    def load(self, ledger: Ledger, now_s: float) -> None:
        """Tell a ledger what was remembered, and begin to write. Blocks; never raises for what the file contains.

        A wall clock that was put back makes nothing older than it is: what was remembered in its future counts as of
        now.
        """
        connection = self._open()
        try:
            now_ns = self._wall_clock()
            connection.execute("UPDATE traces SET since_ns = ? WHERE since_ns > ?", (now_ns, now_ns))
            connection.execute("DELETE FROM traces WHERE since_ns <= ?", (now_ns - int(ledger.max_age_s * _NS),))
            rows = connection.execute("SELECT trace_id, since_ns, span_ids, checksums FROM traces ORDER BY since_ns")
            for trace_id, since_ns, span_ids, checksums in rows:
                if len(span_ids) // _ID_BYTES == len(checksums) // CHECKSUM_BYTES:
                    ledger.restore(trace_id, Remembered(now_s - (now_ns - since_ns) / _NS, span_ids, checksums))
        except (sqlite3.Error, TypeError) as error:
            _log.warning(
                "%s: %s can't be read (%s); late spans of earlier traces aren't known", self._file, _WHAT, error
            )
        finally:
            connection.close()
        self._thread = threading.Thread(target=self._keep_writing, name="ledger", daemon=True)
        self._thread.start()

    def remember(self, trace_id: bytes, span_ids: bytes, checksums: bytes) -> None:
        """See `Keeper`."""
        self._put(trace_id, _Row(self._wall_clock(), span_ids, checksums))

    def forget(self, trace_id: bytes) -> None:
        """See `Keeper`."""
        self._put(trace_id, None)

    def close(self) -> None:
        """Write what is left. Blocks."""
        self._closing.set()
        self._news.set()
        if self._thread is not None:
            self._thread.join()
            self._thread = None

    def _put(self, trace_id: bytes, row: _Row | None) -> None:
        with self._lock:
            self._pending[trace_id] = row
        self._news.set()

    # -- the thread --------------------------------------------------------------------------------------------------

    def _keep_writing(self) -> None:
        connection: sqlite3.Connection | None = None
        while True:
            self._news.wait()
            # What comes meanwhile is written along.
            closing = self._closing.wait(GATHER_S)
            self._news.clear()
            with self._lock:
                batch, self._pending = self._pending, {}
            try:
                connection = connection or self._open()
                self._write(connection, batch)
            except (sqlite3.Error, OSError) as error:
                _log.warning(
                    "%s: %d entries of %s can't be written (%s); after a restart late spans of these count as new",
                    *(self._file, len(batch), _WHAT, error),
                )
                # Opened again it is looked over, and moved aside if it is damaged.
                if connection is not None:
                    connection.close()
                connection = None
            if closing:
                break
        if connection is not None:
            connection.close()

    def _write(self, connection: sqlite3.Connection, batch: dict[bytes, _Row | None]) -> None:
        connection.execute("BEGIN")
        try:
            connection.executemany(
                "INSERT OR REPLACE INTO traces VALUES (?, ?, ?, ?)",
                [(trace_id, *row) for trace_id, row in batch.items() if row is not None],
            )
            connection.executemany(
                "DELETE FROM traces WHERE trace_id = ?", [(trace_id,) for trace_id, row in batch.items() if row is None]
            )
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise

    def _open(self) -> sqlite3.Connection:
        if self._file.exists() and (found := _version_of(self._file)) not in (None, VERSION):
            try:
                move_aside(self._file, _WHAT, f"is of version {found}, this program writes version {VERSION}; it")
            except OSError as error:
                _log.warning("%s: can't be moved aside (%s); %s is kept in memory only", self._file, error, _WHAT)
                return open_database(None, _TABLES, _WHAT)
        return open_database(self._file, _TABLES, _WHAT)


def _version_of(file: Path) -> int | None:
    """The version that a file says it has; None if it says nothing, or can't be read."""
    try:
        connection = sqlite3.connect(file)
        try:
            return int(connection.execute("PRAGMA user_version").fetchone()[0]) or None
        finally:
            connection.close()
    except sqlite3.Error:
        return None
