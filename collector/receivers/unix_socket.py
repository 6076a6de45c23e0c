"""Sockets in the file system: making one where a dead one may lie, with the right permissions, and taking it away.

A socket outlives the process that was killed before it could remove it.  It is replaced only when nobody listens on it
any more; a file of another kind is never touched.
"""

from __future__ import annotations

import contextlib
import os
import socket
import stat
from collections.abc import Iterator
from pathlib import Path

from collector.start_error import StartError

_PROBE_S = 1.0


class UnixSocketError(StartError):
    """There can be no socket at this path; the message says why and what to do."""


def clear_the_way(path: Path, key: str) -> None:
    """Remove a dead socket at the path, if there is one.

    Args:
        path: where a socket is to be.
        key: path of the setting, for the message.

    Raises:
        UnixSocketError: something else is there, or somebody listens, or there is no folder for it.
    """
    try:
        mode = path.lstat().st_mode
    except FileNotFoundError:
        if not path.parent.is_dir():
            raise UnixSocketError(f"can't listen on {path}: there is no folder {path.parent}; create it") from None
        return
    except OSError as error:
        raise _failed(path, key, error) from None
    if not stat.S_ISSOCK(mode):
        raise UnixSocketError(f"can't listen on {path}: a file that is no socket is there; move it, or change {key}")
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.settimeout(_PROBE_S)
        try:
            probe.connect(str(path))
        except ConnectionRefusedError:
            pass  # its process is gone
        except OSError as error:
            raise _failed(path, key, error) from None
        else:
            raise UnixSocketError(f"can't listen on {path}: another program listens there; stop it, or change {key}")
    try:
        path.unlink()
    except OSError as error:
        raise _failed(path, key, error) from None


@contextlib.contextmanager
def private_until_done() -> Iterator[None]:
    """What is bound within is accessible to nobody else until its permissions are set."""
    before = os.umask(0o177)
    try:
        yield
    finally:
        os.umask(before)


def bind(path: Path, mode: int, key: str, backlog: int) -> socket.socket:
    """A listening socket at the path; raises UnixSocketError."""
    clear_the_way(path, key)
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        with private_until_done():
            listening.bind(str(path))
        path.chmod(mode)
        listening.listen(backlog)
    except OSError as error:
        listening.close()
        raise _failed(path, key, error) from None
    listening.setblocking(False)
    return listening


class OwnSocket:
    """A socket that this process has made, to be removed by it and not if another has taken its place."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._made = self._identity()

    def remove(self) -> None:
        """Take it away; nothing happens if it is gone."""
        if self._made is not None and self._identity() == self._made:
            self._path.unlink(missing_ok=True)

    def _identity(self) -> tuple[int, int] | None:
        try:
            found = self._path.lstat()
        except OSError:
            return None
        return found.st_dev, found.st_ino


def _failed(path: Path, key: str, error: OSError) -> UnixSocketError:
    reason = error.strerror or type(error).__name__
    return UnixSocketError(f"can't listen on {path}: {reason}; correct the permissions there, or change {key}")
