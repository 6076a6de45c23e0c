"""Messages that were flattened into attributes, as the nested ones they were made from.

In goes one message, its keys relative to its place in the list (`role`, `content`, `tool_calls.0.name`); out comes the
message that was flattened, in the shape in which all others are read.  OpenInference puts the names of its objects in
between (`message.tool_calls.0.tool_call.function.name`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from evaluators.cases import JsonValue
from processors.conventions.decoding.values import as_object, is_place

Items = dict[int, dict[str, JsonValue]]
ItemT = TypeVar("ItemT")


def nested(item: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    """A flattened message as a nested one; its parts stand under `content`, its calls under `tool_calls`."""
    message: dict[str, JsonValue] = {}
    calls: Items = {}
    parts: Items = {}
    results: Items = {}
    texts: dict[int, JsonValue] = {}
    for key, value in item.items():
        key = key.removeprefix("message.")
        group, _, rest = key.partition(".")
        number, _, rest = rest.partition(".")
        if group == "function_call" and number:
            calls.setdefault(0, {})[number] = value
        elif not is_place(number):
            message[key] = value
        elif group == "tool_calls":
            _put_call(calls.setdefault(int(number), {}), rest, value)
        elif group == "contents":
            _put_part(parts.setdefault(int(number), {}), rest, value)
        elif group == "function" and not rest:
            results[int(number)] = {**as_object(value), "type": "tool_result"}
        elif group == "content" and not rest:
            texts[int(number)] = value
        else:
            message[key] = value
    if calls:
        message["tool_calls"] = [*_in_order(calls)]
    if results:
        message["content"] = [*_in_order(results)]
    elif parts and not message.get("content"):
        message["content"] = [_whole_part(part) for part in _in_order(parts)]
    elif texts and not message.get("content"):
        message["content"] = [*_in_order(texts)]
    if message.get("role") == "user" and message.get("tool_call_id"):
        # Providers that send results as the user's have them flattened that way.
        message["role"] = "tool"
    name = message.get("function_call_name")
    if isinstance(name, str) and not calls:
        message["function_call"] = {"name": name, "arguments": message.get("function_call_arguments_json")}
    return message


def _in_order(items: Mapping[int, ItemT]) -> list[ItemT]:
    return [items[number] for number in sorted(items)]


def _put_call(call: dict[str, JsonValue], rest: str, value: JsonValue) -> None:
    rest = rest.removeprefix("tool_call.")
    if rest.startswith("function."):
        _inner(call, "function")[rest.removeprefix("function.")] = value
    else:
        call[rest] = value


def _put_part(part: dict[str, JsonValue], rest: str, value: JsonValue) -> None:
    if rest.startswith("tool_call."):
        _put_call(_inner(part, "tool_call"), rest, value)
        part["type"] = "tool_call"
    else:
        key = rest.removeprefix("message_content.")
        if key != "type" or "type" not in part:
            part[key] = value


def _inner(outer: dict[str, JsonValue], key: str) -> dict[str, JsonValue]:
    inner = outer.get(key)
    if not isinstance(inner, dict):
        inner = outer[key] = {}
    return inner


def _whole_part(part: dict[str, JsonValue]) -> dict[str, JsonValue]:
    """A part; a text that belongs to a call is its result."""
    call_id = part.get("message.tool_call_id")
    return {"type": "tool_result", "tool_call_id": call_id, "content": part.get("text")} if call_id else part
