"""uvicorn's HTTP/1.1 protocol with the limits it lacks: on the size of a head, on the time a head may take, and on how
many connections there may be.

A connection that sends its head slowly, or never, is closed; so is one whose request was answered before its body
was sent and that goes on sending, one that sends much beside the chunks of a body, and one that sends requests and
doesn't read the answers. Bytes that are no HTTP get an answer in the form OTLP prescribes.
"""

from __future__ import annotations

import asyncio
import re
from typing import Any

import httptools
from uvicorn.config import Config
from uvicorn.protocols.http.flow_control import FlowControl
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.server import ServerState

from collector.receivers.answers import Code, Refusal, status_json
from collector.receivers.connections import Connections

MAX_HEAD_BYTES = 64 << 10
HEAD_DEADLINE_S = 10.0
# How long the rest of a body may still arrive after the answer. Closing at once would reset the connection, and the
# sender would never read the answer.
LINGER_S = 5.0
# How many requests of one connection may wait for the answer to the one before; more are not read before.
MAX_WAITING = 16
# How long answers may stay unread, when there are so many that they no longer fit into the connection.
UNREAD_S = 30.0


# Java's HTTP client offers HTTP/2 with every request. The offer may be ignored, but httptools would take what follows
# the head for the other protocol, and the body would be lost.
_UPGRADE = re.compile(rb"\r\nupgrade[ \t]*:", re.IGNORECASE)
_REASONS = {400: "Bad Request", 431: "Request Header Fields Too Large", 503: "Service Unavailable"}


def _without_upgrade(data: bytes) -> bytes:
    """The same bytes, with a header that asks for another protocol renamed."""
    if data.find(b"pgrade", 0, MAX_HEAD_BYTES) < 0 and data.find(b"PGRADE", 0, MAX_HEAD_BYTES) < 0:
        return data
    head, blank_line, rest = data.partition(b"\r\n\r\n")
    return _UPGRADE.sub(b"\r\nx-upgrade:", head) + blank_line + rest


class _Flow(FlowControl):
    """uvicorn's, which reads on whenever a body is asked for, however many requests wait."""

    is_crowded = False

    def resume_reading(self) -> None:
        if not self.is_crowded:
            super().resume_reading()


class DeadlineProtocol(HttpToolsProtocol):
    """One connection."""

    def __init__(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
        *,
        connections: Connections,
    ) -> None:
        super().__init__(config, server_state, app_state, _loop)
        self._connections = connections
        self._head_timer: asyncio.TimerHandle | None = None
        self._linger_timer: asyncio.TimerHandle | None = None
        self._unread_timer: asyncio.TimerHandle | None = None
        self._head_bytes = 0
        self._in_body = False
        self._bytes_since_body = 0
        self._upgrading = False
        self._broken = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """A head is due from now on."""
        super().connection_made(transport)
        self.flow = self._flow = _Flow(transport)
        self._head_timer = self.loop.call_later(HEAD_DEADLINE_S, self._close)
        self._connections.opened(self)

    def connection_lost(self, exc: Exception | None) -> None:
        """Nothing is due any more."""
        self._connections.closed(self)
        self._cancel_timers()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Bytes outside a body belong to a head, and are counted."""
        if self._broken:
            return
        if not self._in_body:
            self._head_bytes += len(data)
            if self._head_timer is None:
                self._head_timer = self.loop.call_later(HEAD_DEADLINE_S, self._close)
            data = _without_upgrade(data)
        self._bytes_since_body += len(data)
        super().data_received(data)
        if len(self.pipeline) > MAX_WAITING:
            self._flow.is_crowded = True
            self._flow.pause_reading()
        if self._upgrading:
            self._answer_and_close(503, "another protocol was asked for; only HTTP/1.1 is spoken here, try again")
        elif not self._in_body and self._head_bytes > MAX_HEAD_BYTES and not self.transport.is_closing():
            self._answer_and_close(431, f"the request's head is larger than {MAX_HEAD_BYTES >> 10} KiB")
        elif self._in_body and self._bytes_since_body > MAX_HEAD_BYTES and not self.transport.is_closing():
            self._close()

    def on_header(self, name: bytes, value: bytes) -> None:
        """Headers after the body are read by nobody, and not kept."""
        if not self._in_body:
            super().on_header(name, value)

    def on_body(self, body: bytes) -> None:
        """A part of the body, not of what may stand between its chunks or after them."""
        self._bytes_since_body = 0
        if not self._broken:
            super().on_body(body)

    def on_headers_complete(self) -> None:
        """The head came in time."""
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None
        self._connections.at_work(self)
        self._in_body = True
        self._upgrading = self.parser.should_upgrade()
        if not self._upgrading:
            try:
                super().on_headers_complete()
            except httptools.HttpParserInvalidURLError:
                self._broken = True
                self._answer_and_close(400, "the path of the request can't be read")

    def on_message_complete(self) -> None:
        """The body is complete; the next head is due when its first byte has come."""
        self._in_body = False
        self._head_bytes = 0
        if self._upgrading or self._broken:
            return
        if self._linger_timer is not None:
            self._linger_timer.cancel()
            self._linger_timer = None
        super().on_message_complete()

    def on_response_complete(self) -> None:
        """Answered; if the body is still arriving, it gets a little time."""
        if len(self.pipeline) <= MAX_WAITING:
            self._flow.is_crowded = False
        super().on_response_complete()
        if self.transport.is_closing():
            self._close()
        elif self._in_body:
            self._linger_timer = self.loop.call_later(LINGER_S, self._close)
        elif self.cycle.response_complete:
            self._connections.waits(self)

    def timeout_keep_alive_handler(self) -> None:
        """No next request has come."""
        self._close()

    def pause_writing(self) -> None:
        """So many answers are unread that no more are written; they have to be read some time."""
        super().pause_writing()
        self._unread_timer = self.loop.call_later(UNREAD_S, self.transport.abort)

    def resume_writing(self) -> None:
        """They are being read."""
        super().resume_writing()
        if self._unread_timer is not None:
            self._unread_timer.cancel()
            self._unread_timer = None

    def make_room(self) -> None:
        """Another connection needs the place of this one, which is idle."""
        self._close()

    def send_400_response(self, msg: str) -> None:
        """Answer bytes that are no HTTP."""
        if self._broken:
            return
        self._broken = True
        if self._in_body and self.cycle.response_started:
            self._close()  # a second answer would be taken for the one to the next request
        elif not self._in_body and not getattr(self.cycle, "response_complete", True):
            self.cycle.keep_alive = False  # it is due for good requests before; then the connection ends
        else:
            self._answer_and_close(400, "the bytes received are no HTTP/1.1 request")

    def _answer_and_close(self, http_status: int, message: str) -> None:
        code = Code.UNAVAILABLE if http_status == 503 else Code.INVALID_ARGUMENT
        body = status_json(Refusal(code, http_status, message))
        head = (
            f"HTTP/1.1 {http_status} {_REASONS[http_status]}\r\ncontent-type: application/json\r\n"
            f"content-length: {len(body)}\r\nconnection: close\r\n\r\n"
        )
        self.transport.write(head.encode("ascii") + body)
        self._close()

    def _close(self) -> None:
        self._cancel_timers()
        if not self.transport.is_closing():
            self.transport.close()
        # Closing waits until what was written is read, which may be never.
        self._linger_timer = self.loop.call_later(LINGER_S, self.transport.abort)

    def _cancel_timers(self) -> None:
        for timer in (self._head_timer, self._linger_timer, self._unread_timer):
            if timer is not None:
                timer.cancel()
        self._head_timer = self._linger_timer = self._unread_timer = None
