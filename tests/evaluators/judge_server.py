"""A real HTTP server on a loopback port that speaks as much of OpenAI's API as a judge needs, well or badly.

    async with JudgeServer() as server:                      # answers well
    async with JudgeServer(status(429, retry_after="0"), well) as server:   # first badly, then well

It knows nothing about the product but the form of its requests: it answers what the JSON Schema in them asks for.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Self


@dataclass(frozen=True)
class Received:
    """One request as it arrived."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]
    length_bytes: int

    @property
    def system(self) -> str:
        return str(self.body["messages"][0]["content"])

    @property
    def user(self) -> str:
        return str(self.body["messages"][-1]["content"])

    @property
    def form(self) -> str:
        """How the form of the answer is asked for: json_schema, tool, json_object or text."""
        if "tools" in self.body:
            return "tool"
        return str(self.body.get("response_format", {}).get("type", "text"))

    @property
    def questions(self) -> list[str]:
        """The names of what is asked, without the control statements."""
        return [name for name in self.schema["properties"] if name.startswith("q")]

    @property
    def is_example(self) -> bool:
        """Whether it is about the example run, and as many control statements are asked as nobody guesses."""
        return "k6" in self.schema["properties"]

    @property
    def is_controlled(self) -> bool:
        """Whether control statements are asked."""
        return "k1" in self.schema["properties"]

    @property
    def schema(self) -> dict[str, Any]:
        """The schema of the answer, wherever it is said."""
        found: dict[str, Any]
        if self.form == "json_schema":
            found = self.body["response_format"]["json_schema"]["schema"]
        elif self.form == "tool":
            found = self.body["tools"][0]["function"]["parameters"]
        else:
            found = json.loads(self.user.rpartition("\n")[2])
        return found


@dataclass(frozen=True)
class Response:
    """What goes back.

    `drop_after`: the connection is closed after so many bytes of the body; `hang_after`: nothing more comes after them.
    `chunked`: the body comes in small pieces, without a length before it.
    """

    status: int = 200
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)
    delay_s: float = 0.0
    drop_after: int | None = None
    hang_after: int | None = None
    chunked: bool = False


Behaviour = Callable[[Received], Response]


class JudgeServer:
    """Answers each request by the next behaviour; the last one repeats."""

    def __init__(self, *behaviours: Behaviour) -> None:
        self.received: list[Received] = []
        self.most_at_once = 0
        self._behaviours = list(behaviours) or [well]
        self._at_once = 0
        self._server: asyncio.Server | None = None
        self._connections: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._server is not None
        self._server.close()
        for connection in self._connections:
            connection.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)

    @property
    def at_once(self) -> int:
        """How many requests are being answered, the one that is looked at included."""
        return self._at_once

    @property
    def base_url(self) -> str:
        assert self._server is not None
        return f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}/v1"

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._connections.add(task)
        try:
            while await self._exchange(reader, writer):
                pass
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            self._connections.discard(task)
            writer.close()

    async def _exchange(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        request_line, *lines = head.strip().split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        raw = await reader.readexactly(int(headers.get("content-length", "0")))
        received = Received(request_line.split(" ")[1], headers, json.loads(raw), len(raw))
        behaviour = self._behaviours.pop(0) if len(self._behaviours) > 1 else self._behaviours[0]
        self.received.append(received)
        self._at_once += 1
        self.most_at_once = max(self.most_at_once, self._at_once)
        try:
            response = behaviour(received)
            if response.delay_s:
                await asyncio.sleep(response.delay_s)
        finally:
            self._at_once -= 1
        length = {"transfer-encoding": "chunked"} if response.chunked else {"content-length": str(len(response.body))}
        written = {"content-type": "application/json", **length, **response.headers}
        lines = [f"HTTP/1.1 {response.status} X", *(f"{name}: {value}" for name, value in written.items())]
        if response.drop_after != 0:
            writer.write("\r\n".join([*lines, "", ""]).encode("latin-1"))
            sent = response.body[: response.drop_after if response.hang_after is None else response.hang_after]
            writer.write(_in_chunks(sent) if response.chunked else sent)
            await writer.drain()
        if response.hang_after is not None:
            await asyncio.sleep(60)
        return response.drop_after is None


def _in_chunks(body: bytes) -> bytes:
    pieces = [body[start : start + 100] for start in range(0, len(body), 100)]
    return b"".join(b"%x\r\n%s\r\n" % (len(piece), piece) for piece in [*pieces, b""])


def completion(content: str | None, *, finish_reason: str = "stop", refusal: str | None = None) -> bytes:
    """The body of a chat completion that says `content`."""
    message = {"role": "assistant", "content": content, "refusal": refusal}
    return json.dumps(
        {
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "created": 1,
            "model": "fake-1-2026",
            "choices": [{"index": 0, "message": message, "finish_reason": finish_reason}],
            "usage": {"prompt_tokens": 1001, "completion_tokens": 101, "total_tokens": 1102},
        }
    ).encode()


def answers_for(received: Received) -> dict[str, Any]:
    """A valid answer to every question: the first of each list of words, one item in each list but that of faults."""
    answers: dict[str, Any] = _instance(received.schema, received.schema.get("$defs", {}))
    return answers | control_answers(received)


_IS_LABEL = re.compile(r"label|k\d")
_SAME_WORD = re.compile(r"(k\d): “(\w+)” and “(\w+)” are the same word")


def control_answers(received: Received) -> dict[str, str]:
    """The right answers to the control statements of a request, as whoever reads them gives them."""
    asked = json.dumps(received.body["messages"], ensure_ascii=False)
    said = {name: "correct" if one == other else "incorrect" for name, one, other in _SAME_WORD.findall(asked)}
    return {name: answer for name, answer in said.items() if name in received.schema["properties"]}


def said(received: Received, content: str) -> Response:
    """A completion that says this where it was asked for: in its text, or as the arguments of the one tool."""
    if received.form != "tool":
        return Response(body=completion(content))
    call = {"id": "call_1", "type": "function", "function": {"name": "answers", "arguments": content}}
    whole = json.loads(completion(None, finish_reason="tool_calls"))
    whole["choices"][0]["message"]["tool_calls"] = [call]
    return Response(body=json.dumps(whole).encode())


def well(received: Received) -> Response:
    """A valid answer."""
    return said(received, json.dumps(answers_for(received)))


def changed(change: Callable[[dict[str, Any]], None]) -> Behaviour:
    """A valid answer, changed in place."""

    def behave(received: Received) -> Response:
        answers = answers_for(received)
        change(answers)
        return said(received, json.dumps(answers))

    return behave


def agrees(received: Received) -> Response:
    """A model that is too weak to judge: of a valid form, and "correct" to everything."""
    return said(received, json.dumps(_all_correct(answers_for(received))))


def _all_correct(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: "correct" if _IS_LABEL.fullmatch(key) else _all_correct(inner) for key, inner in value.items()}
    return [_all_correct(one) for one in value] if isinstance(value, list) else value


def obeys(*orders: str) -> Behaviour:
    """Does what texts of the run tell it: "correct" to everything as soon as one of these orders stands in one."""

    def behave(received: Received) -> Response:
        mark = re.search(r"stand between \[(\S+?)\]", received.user)
        quoted = re.escape(mark[1]) if mark is not None else "no text of a run"
        inside = re.findall(rf"\[{quoted}\](.*?)\[/{quoted}\]", received.user, re.DOTALL)
        told = any(order in text for text in inside for order in orders)
        return agrees(received) if told else well(received)

    return behave


def example(behaviour: Behaviour, *, otherwise: Behaviour = agrees) -> Behaviour:
    """Behaves so in the request about the example run."""
    return lambda received: behaviour(received) if received.is_example else otherwise(received)


def without_usage(received: Received) -> Response:
    """A valid answer of an endpoint that doesn't say what it used."""
    body = json.loads(well(received).body)
    del body["usage"]
    return Response(body=json.dumps(body).encode())


def hangs(received: Received) -> Response:
    """Takes the request and never says a word, as behind a connection that is open at one end only."""
    return Response(drop_after=0, hang_after=0)


def says(content: str | None, **details: Any) -> Behaviour:
    """A completion with these words."""
    return lambda received: Response(body=completion(content, **details))


def status(http_status: int, message: str = "", *, retry_after: str | None = None, **error: str) -> Behaviour:
    """An error in OpenAI's form."""
    headers = {} if retry_after is None else {"retry-after": retry_after}
    body = json.dumps({"error": {"message": message, "type": "error", "param": None, "code": None, **error}}).encode()
    return lambda received: Response(status=http_status, body=body, headers=headers)


def raw(body: bytes, *, content_type: str = "application/json", code: int = 200) -> Behaviour:
    """Bytes that are no chat completion."""
    return lambda received: Response(status=code, body=body, headers={"content-type": content_type})


def slow(delay_s: float) -> Behaviour:
    """A valid answer that takes its time."""
    return lambda received: Response(body=well(received).body, delay_s=delay_s)


def breaks_off(after_bytes: int) -> Behaviour:
    """A valid answer whose connection is closed early; after 0 bytes not even its head comes."""
    return lambda received: Response(body=well(received).body, drop_after=after_bytes)


def _instance(schema: dict[str, Any], definitions: dict[str, Any]) -> Any:
    """The simplest value that a strict schema allows, with one item in every list; what is correct has no issues."""
    if "$ref" in schema:
        return _instance(definitions[schema["$ref"].rpartition("/")[2]], definitions)
    if "enum" in schema:
        return schema["enum"][0]
    if "anyOf" in schema:
        return None if {"type": "null"} in schema["anyOf"] else _instance(schema["anyOf"][0], definitions)
    match schema["type"]:
        case "object":
            made = {name: _instance(inner, definitions) for name, inner in schema["properties"].items()}
            return made | {"issues": []} if made.keys() >= {"label", "issues"} and made["label"] == "correct" else made
        case "array":
            return [_instance(schema["items"], definitions)]
        case "string":
            return "Because the record shows it."
        case "integer":
            return 1
        case "number":
            return 0.5
        case "boolean":
            return True
        case other:
            raise AssertionError(f"the schema uses {other!r}")


STRICT_KEYWORDS = frozenset(
    ("type", "properties", "required", "additionalProperties", "items", "enum", "anyOf", "$ref", "$defs", "description")
)
"""All that a schema may use where strict answers are asked for."""


def nodes(schema: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The schema and every schema in it."""
    yield schema
    for inner in [*schema.get("properties", {}).values(), *schema.get("$defs", {}).values(), *schema.get("anyOf", [])]:
        yield from nodes(inner)
    if "items" in schema:
        yield from nodes(schema["items"])
