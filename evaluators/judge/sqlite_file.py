"""A small SQLite file that may be lost: opened whatever state it is in.

In: a path and the tables.  Out: a connection.  A damaged file is moved aside and a new one begun; where none can be
written, memory takes its place.  Both are said in one line of the log; neither ever stops a start.
"""

from __future__ import annotations

import logging
import sqlite3
import time
from pathlib import Path

_log = logging.getLogger(__name__)
# Others may use the file: a start waits for them, the event loop hardly.
_BUSY_AT_START_S = 2.0
_BUSY_MS = 50


def open_database(file: Path | None, tables: str, what: str) -> sqlite3.Connection:
    """A connection to the file, or to memory.

    Args:
        file: the file; None for memory.
        tables: SQL that makes what isn't there.
        what: what is kept in it, for the log.
    """
    if file is not None:
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            try:
                return _open_file(file, tables)
            except sqlite3.OperationalError:
                raise
            except sqlite3.DatabaseError:
                move_aside(file, what)
                return _open_file(file, tables)
        except (OSError, sqlite3.Error) as error:
            _log.warning("%s: %s can't be kept here (%s); it is kept in memory only", file, what, error)
    return _open(":memory:", tables)


def move_aside(file: Path, what: str, why: str = "was damaged and") -> None:
    """Give a file that can't be used another name.

    Args:
        file: the file.
        what: what is kept in it, for the log.
        why: what is wrong with it, followed by "is now" and its new name.

    Raises:
        OSError: it can't be renamed.
    """
    aside = file.with_name(f"{file.name}.damaged-{time.strftime('%Y%m%dT%H%M%S', time.gmtime())}")
    file.rename(aside)
    for ending in ("-wal", "-shm"):
        file.with_name(file.name + ending).unlink(missing_ok=True)
    _log.warning("%s %s is now %s; %s begins anew", file, why, aside.name, what)


def _open_file(file: Path, tables: str) -> sqlite3.Connection:
    # What it holds is nobody else's business; SQLite's files beside it have the rights of this one.
    file.touch(mode=0o600)
    return _open(str(file), tables)


def _open(name: str, tables: str) -> sqlite3.Connection:
    connection = sqlite3.connect(name, timeout=_BUSY_AT_START_S, isolation_level=None)
    try:
        connection.execute("PRAGMA journal_mode = WAL")
        # What is lost when the machine fails is lost; a crash of this process loses nothing.
        connection.execute("PRAGMA synchronous = NORMAL")
        damage = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
        if damage != "ok":
            raise sqlite3.DatabaseError(damage)
        connection.executescript(tables)
        connection.execute(f"PRAGMA busy_timeout = {_BUSY_MS}")
    except BaseException:
        connection.close()
        raise
    return connection
