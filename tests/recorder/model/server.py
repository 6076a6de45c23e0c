"""The scripted model's HTTP server: one per run.

In: requests in the protocols of this package. Out: the scenario's turns, one per request, and `exchanges`: what was
asked and what was answered, from which the facts of the run are written.
"""

from __future__ import annotations

import json
import threading
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any
from urllib.parse import unquote, urlsplit

from tests.recorder.model import chat, converse, gemini, messages, responses
from tests.recorder.model.exchange import Answer, Asked, Reply, Requested, Spelling, made_up_id
from tests.recorder.scenarios import HANDED_OVER, Call, Scenario, Turn


@dataclass(frozen=True, slots=True)
class Exchange:
    """A request and what it got; `reply` is None when it was refused."""

    asked: Asked
    reply: Reply | None


class ModelServer:
    """Serves a scenario's turns in the order of requests, on a free port of this machine, while it is entered."""

    def __init__(
        self,
        scenario: Scenario,
        *,
        handed_over: Call | None = None,
        prefix: str = "",
        spelling: Spelling | None = None,
    ) -> None:
        self.exchanges: list[Exchange] = []
        self._scenario = scenario
        self._handed_over = handed_over
        self._prefix = prefix
        self._spelling = spelling
        self._unsaid: list[Reply] = []
        self._lock = threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05})

    @property
    def url(self) -> str:
        """The server's root, without a path."""
        return f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> ModelServer:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def answer(self, path: str, body: dict[str, Any]) -> Answer:
        """Answer one request."""
        asked = _asked(path, body)
        if asked is None:
            return Answer.of({"error": {"message": f"Nothing is served at {path}."}}, 404)
        with self._lock:
            if self._unsaid:
                return _answer(path, self._unsaid.pop(0), asked, body)
            number = len(self.exchanges)
            if number >= len(self._scenario.turns):
                return _refusal(400, "The script has no further turn.")
            turn = self._scenario.turns[number]
            reply = None if turn.refused else self._reply(number, turn)
            self.exchanges.append(Exchange(asked, reply))
            if reply is None:
                return _refusal(turn.refused or 400, "The catalogue model is out of service.")
            said, *self._unsaid = self._spelling(reply) if self._spelling else [reply]
        return _answer(path, said, asked, body)

    def _reply(self, number: int, turn: Turn) -> Reply:
        calls = [self._handed_over or call if call.name == HANDED_OVER else call for call in turn.calls]
        return Reply(
            number,
            turn.text,
            tuple(
                Requested(
                    made_up_id("call_", self._scenario.name, number, place),
                    self._prefix + call.name,
                    call.arguments if isinstance(call.arguments, str) else json.dumps(call.arguments),
                )
                for place, call in enumerate(calls)
            ),
        )


def _refusal(status: int, message: str) -> Answer:
    return Answer.of({"type": "error", "error": {"type": "invalid_request_error", "message": message}}, status)


def _asked(path: str, body: dict[str, Any]) -> Asked | None:
    if path.endswith("/chat/completions"):
        return chat.asked(body)
    if path.endswith("/responses"):
        return responses.asked(body)
    if path.endswith("/messages"):
        return messages.asked(body)
    if path.endswith("/converse"):
        return converse.asked(body, path.split("/")[-2])
    model, _, action = path.rpartition("/")[2].partition(":")
    if action in ("generateContent", "streamGenerateContent"):
        return gemini.asked(body, model, stream=action.startswith("stream"))
    return None


def _answer(path: str, reply: Reply, asked: Asked, body: dict[str, Any]) -> Answer:
    for end, protocol in (
        ("/chat/completions", chat.answer),
        ("/responses", responses.answer),
        ("/messages", messages.answer),
        ("/converse", converse.answer),
    ):
        if path.endswith(end):
            return protocol(reply, asked, body)
    return gemini.answer(reply, asked, body)


def _handler(server: ModelServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            self._send(server.answer(unquote(urlsplit(self.path).path), json.loads(self._body())))

        def do_GET(self) -> None:
            self._send(Answer.of({"object": "list", "data": []}))

        def _body(self) -> bytes:
            if self.headers.get("Transfer-Encoding") != "chunked":
                return self.rfile.read(int(self.headers["Content-Length"]))
            chunks: list[bytes] = []
            while size := int(self.rfile.readline(), 16):
                chunks.append(self.rfile.read(size))
                self.rfile.readline()
            self.rfile.readline()
            return b"".join(chunks)

        def _send(self, answer: Answer) -> None:
            self.send_response(answer.status)
            self.send_header("Content-Type", answer.content_type)
            self.send_header("Content-Length", str(len(answer.body)))
            self.end_headers()
            self.wfile.write(answer.body)

        def log_message(self, format: str, *args: Any) -> None:
            pass

    return Handler
