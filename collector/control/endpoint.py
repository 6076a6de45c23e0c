"""The `control` extension: HTTP/1.1 with JSON over a socket of this machine, for the sidecar's own commands.

    GET  /                who answers: process number, since when
    GET  /traces/ID       what became of a trace (`spanjudge explain`)
    POST /reload          read the configuration again (`spanjudge reload`)

The socket can be opened by its own user (and root) alone, and is removed at the end.
"""

from __future__ import annotations

import json
import logging
import os
import socket
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import Any
from urllib.parse import unquote

from collector.control.location import own_socket
from collector.control.settings import ControlSettings
from collector.http_endpoint import HttpEndpoint, Message, Receive, Send
from collector.receivers.unix_socket import OwnSocket, bind
from collector.start_error import StartError

Answer = tuple[int, dict[str, Any]]
_log = logging.getLogger(__name__)
_KEY = "extensions::control::socket"
_MODE = 0o600
_BACKLOG = 16
_TRACES = "/traces/"


class Control:
    """The endpoint.

    Args:
        settings: of the extension.
        declared: whether the configuration names it. If not, a sidecar that can't have a socket works without one.
        explain: answers what became of a trace.
        reload: reads the configuration again, and answers what came of it.
    """

    def __init__(
        self,
        settings: ControlSettings,
        explain: Callable[[str], Awaitable[Answer]],
        reload: Callable[[], Awaitable[Answer]],
        *,
        declared: bool,
    ) -> None:
        self._settings = settings
        self._declared = declared
        self._explain = explain
        self._reload = reload
        self._since = datetime.now(UTC)
        self._endpoint: HttpEndpoint | None = None
        self._own: OwnSocket | None = None

    async def start(self) -> None:
        """Begin to answer.

        Raises:
            StartError: there can be no socket, and the configuration says that there has to be one.
        """
        endpoint = HttpEndpoint("control", self._listen, self._answer)
        try:
            await endpoint.start()
        except StartError as error:
            if self._declared:
                raise
            _log.warning("commands can't ask this sidecar anything: %s", error)
            return
        self._endpoint = endpoint

    def _listen(self) -> socket.socket:
        path = self._settings.socket or own_socket()
        listening = bind(path, _MODE, _KEY, _BACKLOG)
        self._own = OwnSocket(path)
        _log.info("commands are answered at %s", path)
        return listening

    async def stop(self) -> None:
        """Stop answering, and take the socket away."""
        if self._own is not None:
            self._own.remove()
        if self._endpoint is not None:
            await self._endpoint.stop()

    async def _answer(self, scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        try:
            status, body = await self._route(scope["method"], scope["path"])
        except Exception:  # the outermost loop: whoever asks gets an answer, and everything else goes on
            _log.exception("a command could not be answered")
            status, body = 500, {"error": "an unexpected fault; see the sidecar's log"}
        headers = [(b"content-type", b"application/json")]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": json.dumps(body).encode()})

    async def _route(self, method: str, path: str) -> Answer:
        match method, path:
            case "GET", "/":
                return 200, {"pid": os.getpid(), "since": self._since.isoformat(timespec="seconds")}
            case "POST", "/reload":
                return await self._reload()
            case "GET", _ if path.startswith(_TRACES):
                return await self._explain(unquote(path.removeprefix(_TRACES)))
            case _:
                return 404, {"error": "there are GET /, GET /traces/ID and POST /reload"}
