"""Tool loops over the providers' SDKs, as one writes them without a framework.

A conversation (`Chat`, `Responses`, `Messages`) keeps its history and speaks one protocol, streaming or not; `answer`
is the loop over it. What wraps a turn or a tool in spans comes from the program.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import desk

RunTool = Callable[[str, "dict[str, Any]", str], str]
"""Runs a tool: name, arguments, call id → JSON text. Raises what the tool raises."""


@dataclass(frozen=True)
class Call:
    """A call that the model asked for; `arguments` is text."""

    call_id: str
    name: str
    arguments: str


class Conversation(Protocol):
    """A conversation with the model."""

    def say(self, text: str) -> None: ...
    def ask(self) -> tuple[str, list[Call]]: ...
    def tell(self, outcomes: list[tuple[Call, str, bool]]) -> None: ...


def answer(conversation: Conversation, user: str, run_tool: RunTool) -> str:
    """Answer the user: ask the model and run its calls, until it calls no more."""
    conversation.say(user)
    while True:
        text, calls = conversation.ask()
        if not calls:
            return text
        conversation.tell([(call, *_outcome(call, run_tool)) for call in calls])


def _outcome(call: Call, run_tool: RunTool) -> tuple[str, bool]:
    try:
        arguments = json.loads(call.arguments)
    except ValueError:
        return "Error: the arguments are not valid JSON.", True
    if call.name not in {tool["name"] for tool in desk.definitions()}:
        return f"Error: there is no tool called {call.name}.", True
    try:
        return run_tool(call.name, arguments, call.call_id), False
    except Exception as error:
        return f"Error: {error}", True


class Chat:
    """OpenAI chat completions."""

    def __init__(self, client: Any, *, stream: bool = False) -> None:
        self._client = client
        self._stream = stream
        self._messages: list[Any] = [{"role": "system", "content": desk.system()}]
        self._tools = [{"type": "function", "function": tool} for tool in desk.definitions()]

    def say(self, text: str) -> None:
        self._messages.append({"role": "user", "content": text})

    def ask(self) -> tuple[str, list[Call]]:
        request = {"model": desk.MODEL, "messages": self._messages, "tools": self._tools}
        if self._stream:
            options = {"include_usage": True}
            text, calls = self._read(
                self._client.chat.completions.create(**request, stream=True, stream_options=options)
            )
        else:
            message = self._client.chat.completions.create(**request).choices[0].message
            text = message.content or ""
            calls = [Call(c.id, c.function.name, c.function.arguments) for c in message.tool_calls or []]
        said: dict[str, Any] = {"role": "assistant", "content": text or None}
        if calls:
            said["tool_calls"] = [
                {"id": c.call_id, "type": "function", "function": {"name": c.name, "arguments": c.arguments}}
                for c in calls
            ]
        self._messages.append(said)
        return text, calls

    def tell(self, outcomes: list[tuple[Call, str, bool]]) -> None:
        self._messages += [
            {"role": "tool", "tool_call_id": call.call_id, "content": text} for call, text, _ in outcomes
        ]

    @staticmethod
    def _read(chunks: Any) -> tuple[str, list[Call]]:
        text, calls = "", {}
        for chunk in chunks:
            for choice in chunk.choices:
                text += choice.delta.content or ""
                for piece in choice.delta.tool_calls or []:
                    call = calls.setdefault(piece.index, ["", "", ""])
                    call[0] += piece.id or ""
                    call[1] += piece.function.name or ""
                    call[2] += piece.function.arguments or ""
        return text, [Call(*call) for call in calls.values()]


class Responses:
    """OpenAI responses; with `stored`, the history stays with the provider and only what is new is sent."""

    def __init__(self, client: Any, *, stream: bool = False, stored: bool = False) -> None:
        self._client = client
        self._stream = stream
        self._stored = stored
        self._previous: str | None = None
        self._system = desk.system()
        self._items: list[Any] = []
        self._tools = [{"type": "function", "strict": True, **tool} for tool in desk.definitions()]

    def say(self, text: str) -> None:
        self._items.append({"role": "user", "content": text})

    def ask(self) -> tuple[str, list[Call]]:
        request = {"model": desk.MODEL, "instructions": self._system, "input": self._items, "tools": self._tools}
        if self._previous:
            request["previous_response_id"] = self._previous
        response = self._client.responses.create(**request, **({"stream": True} if self._stream else {}))
        if self._stream:
            events = list(response)
            response = next(event.response for event in events if event.type == "response.completed")
        if self._stored:
            self._previous, self._items = response.id, []
        else:
            self._items = [*self._items, *(item.model_dump(exclude_none=True) for item in response.output)]
        calls = [Call(i.call_id, i.name, i.arguments) for i in response.output if i.type == "function_call"]
        return response.output_text, calls

    def tell(self, outcomes: list[tuple[Call, str, bool]]) -> None:
        self._items += [
            {"type": "function_call_output", "call_id": call.call_id, "output": text} for call, text, _ in outcomes
        ]


class Messages:
    """Anthropic messages; `stream` is False, "events" (create with stream=True) or "helper" (messages.stream)."""

    def __init__(self, client: Any, *, stream: bool | str = False) -> None:
        self._client = client
        self._stream = stream
        self._system = desk.system()
        self._messages: list[Any] = []
        self._tools = [
            {"name": tool["name"], "description": tool["description"], "input_schema": tool["parameters"]}
            for tool in desk.definitions()
        ]

    def say(self, text: str) -> None:
        self._messages.append({"role": "user", "content": text})

    def ask(self) -> tuple[str, list[Call]]:
        request = {
            "model": desk.MODEL,
            "max_tokens": 500,
            "system": self._system,
            "messages": self._messages,
            "tools": self._tools,
        }
        if self._stream == "helper":
            with self._client.messages.stream(**request) as stream:
                blocks = [block.model_dump() for block in stream.get_final_message().content]
        elif self._stream:
            blocks = self._read(self._client.messages.create(**request, stream=True))
        else:
            blocks = [block.model_dump() for block in self._client.messages.create(**request).content]
        self._messages.append({"role": "assistant", "content": [_without_nulls(block) for block in blocks]})
        text = "".join(block["text"] for block in blocks if block["type"] == "text")
        calls = [Call(b["id"], b["name"], json.dumps(b["input"])) for b in blocks if b["type"] == "tool_use"]
        return text, calls

    def tell(self, outcomes: list[tuple[Call, str, bool]]) -> None:
        content = [
            {"type": "tool_result", "tool_use_id": call.call_id, "content": text, "is_error": failed}
            for call, text, failed in outcomes
        ]
        self._messages.append({"role": "user", "content": content})

    @staticmethod
    def _read(events: Any) -> list[dict[str, Any]]:
        blocks: list[dict[str, Any]] = []
        pieces = ""
        for event in events:
            if event.type == "content_block_start":
                blocks.append(event.content_block.model_dump())
                pieces = ""
            elif event.type == "content_block_delta" and event.delta.type == "text_delta":
                blocks[-1]["text"] += event.delta.text
            elif event.type == "content_block_delta":
                pieces += event.delta.partial_json
            elif event.type == "content_block_stop" and blocks[-1]["type"] == "tool_use":
                blocks[-1]["input"] = json.loads(pieces or "{}")
        return blocks


def _without_nulls(block: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in block.items() if value is not None}


def run_plainly(name: str, arguments: dict[str, Any], call_id: str) -> str:
    """Run a tool without any span of its own."""
    return desk.run(name, arguments)


def from_environment() -> Conversation:
    """The conversation that `DESK_API` names: chat, responses or messages, with `-stream`, `-stored` or `-helper`."""
    import os

    api, _, mode = os.environ.get("DESK_API", "chat").partition("-")
    if api == "messages":
        from anthropic import Anthropic

        return Messages(Anthropic(), stream="helper" if mode == "helper" else mode == "stream")
    from openai import OpenAI

    if api == "responses":
        return Responses(OpenAI(), stream=mode == "stream", stored=mode == "stored")
    return Chat(OpenAI(), stream=mode == "stream")
