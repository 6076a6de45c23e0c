"""A scripted, OpenAI-compatible model on loopback: same question, same answers, no network."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from .scenarios import SCENARIOS, Scenario

MODEL = "travel-desk-script"


def next_step(messages: list[dict[str, Any]]) -> tuple[int, Scenario]:
    """Which step of which scenario the conversation is at."""
    question = next(message["content"] for message in messages if message["role"] == "user")
    scenario = next(scenario for scenario in SCENARIOS if scenario.question == question)
    return sum(message["role"] == "assistant" for message in messages), scenario


def completion(request: dict[str, Any]) -> dict[str, Any]:
    """The answer to a chat completion request."""
    number, scenario = next_step(request["messages"])
    step = scenario.steps[number]
    message: dict[str, Any] = {"role": "assistant", "content": step if isinstance(step, str) else None}
    if not isinstance(step, str):
        message["tool_calls"] = [
            {
                "id": f"call_{number + 1}_{place}",
                "type": "function",
                "function": {"name": name, "arguments": json.dumps(arguments)},
            }
            for place, (name, arguments) in enumerate(step, start=1)
        ]
    finish_reason = "stop" if isinstance(step, str) else "tool_calls"
    prompt_tokens = len(json.dumps(request["messages"])) // 4
    return {
        "id": f"chatcmpl-{number + 1}",
        "object": "chat.completion",
        "created": 0,
        "model": MODEL,
        "choices": [{"index": 0, "message": message, "finish_reason": finish_reason}],
        "usage": {"prompt_tokens": prompt_tokens, "completion_tokens": 20, "total_tokens": prompt_tokens + 20},
    }


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length", "0")))
        answer = json.dumps(completion(json.loads(body))).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, format: str, *args: object) -> None:
        """Requests are not logged: the screen belongs to the traces."""


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that breaks off in the middle, when the demo is ended, is no error."""


@contextmanager
def model_server() -> Iterator[str]:
    """Serve on a free port of loopback; gives the base URL."""
    server = _Server(("127.0.0.1", 0), _Handler)
    thread = threading.Thread(target=server.serve_forever, name="scripted model", daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/v1"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
