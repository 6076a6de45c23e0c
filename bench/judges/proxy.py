"""A proxy before an OpenAI-compatible endpoint that counts what each system asks of it.

In: requests to `/<name>/v1/…`.  Out: the endpoint's own answers.  Counted by name are requests, the characters that
the model is shown (messages, and schemas and tools as compact JSON), and seconds until the answer was there.  Nothing
in a request is changed but its output limit, for everyone the same: small models run on.
"""

from __future__ import annotations

import http.client
import json
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self
from urllib.parse import quote, unquote, urlsplit

_LIMITS = ("max_tokens", "max_completion_tokens")
_PATIENCE_S = 3600


@dataclass(frozen=True, slots=True)
class Spent:
    """What was asked: requests, prompt characters, seconds of waiting for answers."""

    requests: int = 0
    chars: int = 0
    seconds: float = 0.0

    def __add__(self, other: Spent) -> Spent:
        return Spent(self.requests + other.requests, self.chars + other.chars, self.seconds + other.seconds)

    def __sub__(self, other: Spent) -> Spent:
        return Spent(self.requests - other.requests, self.chars - other.chars, self.seconds - other.seconds)


def chars_of(body: Mapping[str, Any]) -> int:
    """What the model is shown of a request: texts of messages, the schema of the answer, tools."""
    shown = 0
    for message in body.get("messages") or ():
        content = message.get("content")
        parts = content if isinstance(content, list) else [{"text": content}]
        shown += sum(len(part.get("text") or "") for part in parts)
    form = body.get("response_format") or {}
    for schema in (form.get("json_schema", {}).get("schema"), body.get("tools")):
        if schema:
            shown += len(json.dumps(schema, separators=(",", ":"), ensure_ascii=False))
    return shown


def limited(body: Mapping[str, Any], most_tokens: int) -> dict[str, Any]:
    """The request with an output limit that is no higher."""
    own = {name: min(body[name], most_tokens) for name in _LIMITS if isinstance(body.get(name), int)}
    return {**body, **(own or {"max_tokens": most_tokens})}


class CountingProxy:
    """The proxy, on a free port of the loopback interface while it is entered.

    Args:
        base_url: address of the endpoint, with `/v1`.
        most_output_tokens: the output limit of every request.
        api_key: for the endpoint; what systems send as theirs is not passed on.
    """

    def __init__(self, base_url: str, most_output_tokens: int, api_key: str = "") -> None:
        self._endpoint = urlsplit(base_url.rstrip("/"))
        self._most_output_tokens = most_output_tokens
        self._api_key = api_key
        self._spent: dict[str, Spent] = {}
        self._lock = threading.Lock()
        proxy = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            # Head and body go out in two writes; the second would wait for the first to be acknowledged.
            disable_nagle_algorithm = True

            def do_POST(self) -> None:
                status, kind, answer = proxy._ask(self.path, self.rfile.read(int(self.headers["Content-Length"])))
                self.send_response(status)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def url(self, name: str) -> str:
        """The base URL for the system of this name."""
        return f"http://127.0.0.1:{self._server.server_port}/{quote(name, safe='')}/v1"

    def spent(self, name: str) -> Spent:
        """What the system of this name has asked so far."""
        with self._lock:
            return self._spent.get(name, Spent())

    def _ask(self, path: str, content: bytes) -> tuple[int, str, bytes]:
        name, _, rest = path.removeprefix("/").partition("/v1/")
        body = json.loads(content)
        begun = time.monotonic()
        try:
            return self._forward(rest, limited(body, self._most_output_tokens))
        except OSError as error:
            return 502, "application/json", json.dumps({"error": {"message": f"no endpoint: {error}"}}).encode()
        finally:
            spent = Spent(1, chars_of(body), time.monotonic() - begun)
            with self._lock:
                self._spent[unquote(name)] = self._spent.get(unquote(name), Spent()) + spent

    def _forward(self, rest: str, body: Mapping[str, Any]) -> tuple[int, str, bytes]:
        secure = self._endpoint.scheme == "https"
        connect = http.client.HTTPSConnection if secure else http.client.HTTPConnection
        connection = connect(self._endpoint.hostname or "", self._endpoint.port, timeout=_PATIENCE_S)
        headers = {"Content-Type": "application/json"}
        if self._api_key:
            headers["Authorization"] = f"Bearer {self._api_key}"
        try:
            connection.request("POST", f"{self._endpoint.path}/{rest}", json.dumps(body).encode(), headers)
            answer = connection.getresponse()
            return answer.status, answer.getheader("Content-Type", "application/json"), answer.read()
        finally:
            connection.close()
