"""Asks running sidecars over their control sockets.

In: a request, and perhaps which socket.  Out: the answer of each sidecar that runs.  A socket whose process is gone is
passed over.
"""

from __future__ import annotations

import errno
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import httpx2

from collector.control.location import known_sockets

TIMEOUT_S = 90.0
_GONE = frozenset({errno.ECONNREFUSED, errno.ENOENT})


class Answered(NamedTuple):
    """What one sidecar said."""

    socket: Path
    status: int
    body: dict[str, Any]


class UnansweredError(Exception):
    """No sidecar could be asked. The message says why and what to do."""


def ask(method: str, path: str, socket: Path | None = None) -> list[Answered]:
    """The answers of all sidecars that this user can find, or of the one behind `socket`.

    Raises:
        UnansweredError: there is none, or it can't be asked.
    """
    answers: list[Answered] = []
    closed: list[str] = []
    for one in [socket] if socket is not None else known_sockets():
        try:
            answers.append(_ask(method, path, one))
        except httpx2.ConnectError as error:
            if socket is not None or not _is_gone(one, error):
                closed.append(f"{one} can't be opened: {error}")
        except httpx2.HTTPError as error:
            closed.append(f"{one} gave no answer: {error}")
    if not answers:
        raise UnansweredError("; ".join(closed) or _NONE_RUNS)
    return answers


_NONE_RUNS = (
    "no running sidecar was found; run this as its user, name its socket with --socket (its log says where that is), "
    "or start one"
)


def _ask(method: str, path: str, socket: Path) -> Answered:
    transport = httpx2.HTTPTransport(uds=str(socket))
    with httpx2.Client(transport=transport, base_url="http://sidecar", timeout=TIMEOUT_S, trust_env=False) as client:
        answer = client.request(method, path)
        return Answered(socket, answer.status_code, answer.json())


def _is_gone(socket: Path, error: Exception) -> bool:
    """Whether the process behind a socket is gone, and not closed to us."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, OSError) and cause.errno in _GONE:
            return True
        cause = cause.__cause__ or cause.__context__
    return not socket.exists()


def best(answers: Iterable[Answered]) -> Answered:
    """The answer of whoever knows most: one that was found before one that wasn't."""
    return min(answers, key=lambda one: (one.status != 200, one.status == 404))
