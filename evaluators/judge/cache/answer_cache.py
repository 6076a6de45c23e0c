"""Answers that a judge gave, kept in SQLite: what was asked once isn't paid for again.

In: keys (`evaluators.judge.cache.case_key`) and valid answers as the model wrote them, with the run's aliases in
place of ids; secrets and personal data of known formats are replaced before anything is written.  Out: the same for
an equal key, until it is too old or the oldest has to make room.  Failures are never kept.  A file that is damaged,
full or busy costs hits, never a verdict.
"""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import orjson

from evaluators.cases import JsonValue
from evaluators.judge.limit_settings import CacheSettings
from evaluators.judge.sqlite_file import move_aside, open_database
from evaluators.rules.secrets import redact

_log = logging.getLogger(__name__)
_WHAT = "the cache of judges' answers"
_TABLES = """
CREATE TABLE IF NOT EXISTS answers (
    key BLOB PRIMARY KEY, kept_s REAL NOT NULL, size INTEGER NOT NULL, answer BLOB NOT NULL
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS by_age ON answers (kept_s);
"""
_ROW_BYTES = 128
"""What a row takes beside its answer."""
_AT_A_TIME = 8
_COUNTED_AFTER = 256
"""Other processes may write as well: how large it all is, is counted anew after so many answers."""


@dataclass(frozen=True, slots=True)
class Kept:
    """An answer as the model wrote it, and what makes it less sure.

    `left_out` is the share of the run's texts that the model hadn't been shown; `unchecked`: it is too weak for control
    statements.
    """

    written: Mapping[str, JsonValue]
    left_out: float
    unchecked: bool


class AnswerCache:
    """Answers by key.

    Args:
        settings: where, how many and for how long.
    """

    def __init__(self, settings: CacheSettings) -> None:
        self._file: Path | None = settings.file
        self._most_bytes = settings.max_size_mib * 1024**2
        self._max_age_s = settings.max_age
        self._bytes = 0
        self._told = False
        self._put = 0
        self._open()

    def close(self) -> None:
        """Close the file."""
        self._database.close()

    def get(self, key: bytes, wall_s: float) -> Kept | None:
        """The answer under a key; None if there is none that is young enough."""
        try:
            row = self._database.execute(
                "SELECT answer FROM answers WHERE key = ? AND kept_s > ?", (key, wall_s - self._max_age_s)
            ).fetchone()
            if row is None:
                return None
        except sqlite3.Error as error:
            self._failed(error)
            return None
        try:
            written, left_out, unchecked = orjson.loads(row[0])
        except (ValueError, TypeError):
            # Written by another version.
            return None
        return Kept(written, left_out, unchecked)

    def put(self, key: bytes, kept: Kept, wall_s: float) -> None:
        """Keep an answer."""
        answer = orjson.dumps((_redacted(dict(kept.written)), kept.left_out, kept.unchecked))
        size = len(answer) + len(key) + _ROW_BYTES
        try:
            changed = self._database.execute(
                "INSERT OR REPLACE INTO answers VALUES (?, ?, ?, ?)", (key, wall_s, size, answer)
            )
            self._bytes += size * changed.rowcount
            self._put += 1
            if self._put % _COUNTED_AFTER == 0:
                self._bytes = self._sum()
            while self._bytes > self._most_bytes and self._forget_oldest():
                pass
        except sqlite3.Error as error:
            self._failed(error)

    def _forget_oldest(self) -> bool:
        """Forget a few, the oldest; False if there were none."""
        gone = self._database.execute(
            "DELETE FROM answers WHERE key IN (SELECT key FROM answers ORDER BY kept_s LIMIT ?) RETURNING size",
            (_AT_A_TIME,),
        ).fetchall()
        self._bytes -= sum(size for (size,) in gone)
        return bool(gone)

    def _sum(self) -> int:
        total: int = self._database.execute("SELECT coalesce(sum(size), 0) FROM answers").fetchone()[0]
        return total

    def _open(self) -> None:
        self._database = open_database(self._file, _TABLES, _WHAT)
        self._bytes = self._sum()

    def _failed(self, error: sqlite3.Error) -> None:
        if isinstance(error, sqlite3.OperationalError):
            if not self._told:
                self._told = True
                _log.warning("%s: %s can't be used (%s)", self._file, _WHAT, error)
            return
        self._database.close()
        if self._file is not None:
            try:
                move_aside(self._file, _WHAT)
            except OSError as other:
                _log.warning("%s is damaged and can't be moved aside (%s); nothing is kept", self._file, other)
                self._file = None
        self._open()


def _redacted(value: JsonValue) -> JsonValue:
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, dict):
        return {key: _redacted(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_redacted(inner) for inner in value]
    return value
