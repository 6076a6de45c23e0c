"""The parts of a message's content, in any of the shapes that providers and frameworks give them.

A part is a text, a call, a result of a call, or something that isn't text.  Shapes are told apart by their keys, never
by who wrote them: OpenAI chat and responses, Anthropic blocks, Bedrock and Gemini parts, the AI SDK's, and the parts of
the GenAI conventions.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

from evaluators.cases import JsonValue
from processors.conventions.decoding.reprs import from_repr
from processors.conventions.decoding.values import (
    PLACEHOLDERS,
    OpenObject,
    as_text,
    first_at,
    from_json,
    from_python,
    parsed,
    text_at,
)
from processors.conventions.facts import CallFacts

_TEXT_TYPES = frozenset({"text", "input_text", "output_text", "refusal", "markdown"})
_CALL_TYPES = frozenset(
    {"tool_call", "tool_use", "tool-call", "function_call", "custom_tool_call", "mcp_call", "server_tool_use"}
    | {"server_tool_call", "toolcall"}
)
_RESULT_TYPES = frozenset(
    {"tool_call_response", "tool_result", "tool-result", "tool-error", "function_call_output", "tool_call_result"}
    | {"server_tool_call_response", "custom_tool_call_output", "web_search_tool_result", "code_execution_tool_result"}
)
_PROVIDER_CALLS = frozenset(
    {"web_search_call", "file_search_call", "code_interpreter_call", "computer_call", "image_generation_call"}
    | {"local_shell_call", "mcp_list_tools"}
)
_REASONING_TYPES = frozenset({"reasoning", "thinking", "redacted_thinking", "reasoning_content", "thought"})
_CALL_REPR = re.compile(r"\w{0,60}?(FunctionToolCall|FunctionCall)\w{0,60}\(")
_MEDIA_KEYS = (
    *("image", "image_url", "base64_image", "inlineData", "inline_data", "document", "video", "audio"),
    *("file", "blob", "uri"),
)

_ID_KEYS = ("call_id", "tool_call_id", "toolCallId", "tool_use_id", "toolUseId", "id")
_NAME_KEYS = ("name", "toolName", "tool_name", "tool")
_ARGUMENT_KEYS = ("arguments", "args", "input", "parameters", "kwargs", "tool_kwargs", "tool_args")
_CONTENT_KEYS = ("response", "result", "output", "content", "value", "error")


@dataclass(frozen=True, slots=True)
class Text:
    """Words."""

    text: str


@dataclass(frozen=True, slots=True)
class Result:
    """What came back from a call."""

    text: str | None
    call_id: str | None = None
    tool_name: str | None = None
    failed: bool | None = None


@dataclass(frozen=True, slots=True)
class Media:
    """Content that isn't text, by its type."""

    type: str


Part: TypeAlias = Text | CallFacts | Result | Media


def parts_of(content: JsonValue) -> list[Part]:
    """The parts of a message's content; reasoning is left out."""
    if content is None:
        return []
    found = [part for item in content for part in _part(item)] if isinstance(content, list) else _part(content)
    return [part for part in found if not _is_empty(part)]


def _is_empty(part: Part) -> bool:
    """Whether a part says nothing: a placeholder, or a call that was cut before its name."""
    if isinstance(part, CallFacts):
        return part.truncated and not part.name
    return isinstance(part, Text) and part.text in PLACEHOLDERS


def is_hidden(content: JsonValue) -> bool:
    """Whether an instrumentation put a placeholder where a message's content was, or left only the part's type."""
    return any(_is_placeholder(item) for item in (content if isinstance(content, list) else [content]))


def _is_placeholder(item: JsonValue) -> bool:
    if isinstance(item, dict):
        text = first_at(item, "text", "content", "value", "refusal")
        if text is None:
            return text_at(item, "type") in _TEXT_TYPES
        return isinstance(text, str) and text in PLACEHOLDERS
    return isinstance(item, str) and item in PLACEHOLDERS


def _part(value: JsonValue) -> list[Part]:
    if isinstance(value, str):
        return [Text(value)]
    if not isinstance(value, dict):
        return []
    kind = first_at(value, "type", "block_type")
    kind = kind.lower() if isinstance(kind, str) else ""
    if kind in _REASONING_TYPES or value.get("thought") is True:
        return []
    if kind in _CALL_TYPES:
        return [call_of(value)]
    function = value.get("function")
    if kind == "function" and isinstance(function, dict) and "arguments" in function:
        return [call_of(value)]
    if kind in _PROVIDER_CALLS:
        return [_provider_call(kind, value)]
    if kind in _RESULT_TYPES:
        return [result_of(value)]
    for keys, read in (
        (("toolUse", "functionCall", "function_call", "tool_use", "tool_call"), call_of),
        (("toolResult", "functionResponse", "function_response", "tool_result", "tool_call_result"), result_of),
    ):
        for key in keys:
            inner = value.get(key)
            if isinstance(inner, dict):
                return [read(inner)]
    if not kind and isinstance(value.get("origin"), dict):
        return [result_of(value)]
    if not kind and "tool_name" in value and any(key in value for key in _ARGUMENT_KEYS):
        return [call_of(value)]
    if kind in _TEXT_TYPES or not kind:
        words = _words(value)
        if words is not None:
            return [_called_in_repr(words) or Text(_text_in_repr(words))]
    if kind in _TEXT_TYPES:
        return []
    if kind and not isinstance(value.get("text"), str):
        return [Media(kind)]
    for key in _MEDIA_KEYS:
        if key in value:
            return [Media(key)]
    words = _words(value)
    return [Text(words)] if words is not None else []


def _called_in_repr(text: str) -> CallFacts | None:
    """The call in a text that is the repr of an SDK's tool call and nothing else."""
    if _CALL_REPR.match(text) is None:
        return None
    value = from_repr(text)
    return call_of(value) if value is not None and "name" in value and "arguments" in value else None


def _text_in_repr(text: str) -> str:
    """The words in a text that is the repr of an SDK's own text part; any other text is the words itself."""
    if not (text.startswith("{'") and "'type': 'output_text'" in text):
        return text
    part = from_python(text)
    words = part.get("text") if isinstance(part, dict) else None
    return words if isinstance(words, str) else text


def _words(part: Mapping[str, JsonValue]) -> str | None:
    for key in ("text", "content", "refusal", "value"):
        words = part.get(key)
        if isinstance(words, str):
            return words
        if isinstance(words, dict) and isinstance(words.get("value"), str):
            return str(words["value"])
    return None


def call_of(value: Mapping[str, JsonValue]) -> CallFacts:
    """A call in any shape: flat, or with the name and arguments under `function`, or wrapped in `tool_call`."""
    wrapped = value.get("tool_call")
    if isinstance(wrapped, dict):
        value = wrapped
    function = value.get("function")
    inner = function if isinstance(function, dict) else value
    kind = value.get("type")
    arguments = first_at(inner, *_ARGUMENT_KEYS)
    cut = isinstance(inner, OpenObject) or isinstance(arguments, OpenObject)
    return CallFacts(
        name=text_at(inner, *_NAME_KEYS) or (function if isinstance(function, str) else "") or "",
        id=text_at(value, *_ID_KEYS),
        arguments=arguments_of(arguments) if arguments or not cut else None,
        truncated=cut,
        provider_executed=isinstance(kind, str) and (kind.startswith("server_tool") or kind == "mcp_call"),
    )


def _provider_call(kind: str, value: Mapping[str, JsonValue]) -> CallFacts:
    asked = first_at(value, "action", "queries", "code", "arguments")
    return CallFacts(
        name=kind.removesuffix("_call"),
        id=text_at(value, *_ID_KEYS),
        arguments=asked if isinstance(asked, dict) else None,
        provider_executed=True,
    )


def arguments_of(value: JsonValue) -> JsonValue:
    """Arguments as a model gave them: an object where it is one however often encoded, else the text; None: unknown."""
    for _ in range(3):
        if isinstance(value, dict):
            spoilt = value.get("INVALID_JSON")
            return spoilt if isinstance(spoilt, str) and len(value) == 1 else value
        if not isinstance(value, str):
            break
        text = value.strip()
        if not text or text == "null":
            return {}
        decoded = from_json(text) if text[0] in '{"' else None
        if decoded is None or not isinstance(decoded, dict | str):
            return value
        value = decoded
    return value if value is None or isinstance(value, str) else as_text(value)


def result_of(value: Mapping[str, JsonValue]) -> Result:
    """A result in any shape."""
    content: JsonValue = None
    for key in _CONTENT_KEYS:
        if value.get(key) is not None:
            content = value[key]
            break
    text, failed = result_text(content)
    flag = first_at(value, "is_error", "isError")
    if isinstance(flag, bool):
        failed = flag
    if value.get("status") in ("error", "failed") or value.get("type") == "tool-error":
        failed = True
    origin = value.get("origin")
    if isinstance(origin, dict):
        # The call itself stands in place of its id.
        failed = value.get("error") is True or failed
        value = origin
    return Result(
        text=text,
        call_id=text_at(value, *_ID_KEYS),
        tool_name=text_at(value, *_NAME_KEYS),
        failed=failed,
    )


def result_text(content: JsonValue) -> tuple[str | None, bool | None]:
    """A result's text as the model sees it, and whether the value itself says that the call failed."""
    if content is None or isinstance(content, str):
        return content, None
    if isinstance(content, list):
        texts = [_block_text(item) for item in content]
        if texts and all(text is not None for text in texts):
            return "\n".join(text for text in texts if text is not None), None
        return as_text(content), None
    if isinstance(content, dict):
        kind = content.get("type")
        if isinstance(kind, str) and "value" in content and set(content) <= {"type", "value", "providerOptions"}:
            return as_text(content["value"]), kind.startswith("error") or None
        blocks = content.get("content")
        flag = first_at(content, "isError", "is_error")
        if isinstance(blocks, list) and (isinstance(flag, bool) or set(content) <= {"content", "structuredContent"}):
            text, _ = result_text(blocks)
            return text, flag if isinstance(flag, bool) else None
    return as_text(content), None


def _block_text(item: JsonValue) -> str | None:
    if not isinstance(item, dict) or item.get("type") not in (None, *_TEXT_TYPES):
        return None
    text = item.get("text")
    if isinstance(text, str):
        return text
    wrapped = item.get("json")
    return as_text(wrapped) if wrapped is not None else None


def output_of(value: JsonValue) -> Result:
    """What a tool's own span gives as its output: the plain text, or a framework's message wrapped round it."""
    decoded = parsed(value)
    if isinstance(decoded, dict):
        message = _tool_message(decoded)
        if message is not None:
            result = result_of(message)
            return Result(result.text, text_at(message, "tool_call_id", "toolUseId"), result.tool_name, result.failed)
    text, failed = result_text(decoded if isinstance(decoded, dict | list) else value)
    if isinstance(value, str) and failed is None and text == as_text(decoded) and isinstance(decoded, dict | list):
        text = value
    elif isinstance(decoded, str):
        text = decoded
    return Result(text, failed=failed)


def _tool_message(value: Mapping[str, JsonValue]) -> Mapping[str, JsonValue] | None:
    for key in ("output", "data", "kwargs", "toolResult"):
        inner = parsed(value.get(key))
        if isinstance(inner, dict) and len(value) <= 5:
            found = _tool_message(inner)
            if found is not None:
                return found
    if "content" in value and ("tool_call_id" in value or "toolUseId" in value):
        return value
    if value.keys() == {"id", "name", "response"}:
        return {"tool_call_id": value["id"], "name": value["name"], "content": value["response"]}
    return None
