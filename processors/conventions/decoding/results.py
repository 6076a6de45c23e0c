"""Results of tools, in any of the shapes that providers and frameworks give them.

In goes a decoded value, out come the text as the model is shown it and what the value says of the call: which it was,
and whether it failed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from evaluators.cases import JsonValue
from processors.conventions.decoding.calls import ID_KEYS, NAME_KEYS
from processors.conventions.decoding.cut import cut_json, has_open_end
from processors.conventions.decoding.values import as_text, first_at, parsed, text_at

TEXT_TYPES = frozenset({"text", "input_text", "output_text", "refusal", "markdown"})
RESULT_TYPES = frozenset(
    {"tool_call_response", "tool_result", "tool-result", "tool-error", "function_call_output", "tool_call_result"}
    | {"server_tool_call_response", "custom_tool_call_output", "web_search_tool_result", "code_execution_tool_result"}
)
_CONTENT_KEYS = ("response", "result", "output", "content", "value", "error")


@dataclass(frozen=True, slots=True)
class Result:
    """What came back from a call."""

    text: str | None
    call_id: str | None = None
    tool_name: str | None = None
    failed: bool | None = None


def result_of(value: Mapping[str, JsonValue]) -> Result:
    """A result in any shape."""
    content = first_at(value, *_CONTENT_KEYS)
    text, failed = result_text(None if has_open_end(value, content) else content)
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
        call_id=text_at(value, *ID_KEYS),
        tool_name=text_at(value, *NAME_KEYS),
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
        if content.get("error") is True:
            return as_text(content), True
    return as_text(content), None


def _block_text(item: JsonValue) -> str | None:
    if not isinstance(item, dict) or item.get("type") not in (None, *TEXT_TYPES):
        return None
    text = item.get("text")
    if isinstance(text, str):
        return text
    wrapped = item.get("json")
    return as_text(wrapped) if wrapped is not None else None


def output_of(value: JsonValue) -> Result:
    """What a tool's own span gives as its output: the plain text, or a framework's message wrapped round it."""
    decoded = parsed(value)
    if isinstance(decoded, list) and len(decoded) == 2 and isinstance(decoded[0], bool):
        # A flag that says whether it went well, and the message that the model is told.
        told = decoded[1]
        if isinstance(told, dict) and told.get("role") in ("function", "tool") and "content" in told:
            found = result_of(told)
            return Result(found.text, found.call_id, found.tool_name, not decoded[0])
    if isinstance(decoded, str) and (left := _cut_message(decoded)) is not None:
        return left
    if isinstance(decoded, dict):
        message = _tool_message(decoded)
        if message is not None:
            result = result_of(message)
            return Result(result.text, text_at(message, "tool_call_id", "toolUseId"), result.tool_name, result.failed)
    text, failed = result_text(decoded if isinstance(decoded, dict | list) else value)
    if isinstance(value, str) and text == as_text(decoded) and isinstance(decoded, dict | list):
        text = value
    elif isinstance(decoded, str):
        text = decoded
    return Result(text, failed=failed)


def _cut_message(text: str) -> Result | None:
    """What a length limit left of a framework's message; None when the text isn't the beginning of one."""
    value = cut_json(text) if text.startswith('{"') else None
    if not isinstance(value, dict):
        return None
    inner = next((found for key in ("output", "data") if isinstance(found := value.get(key), dict)), value)
    if not ("additional_kwargs" in inner or "graph" in inner or inner.get("lc") == 1):
        return None
    kwargs = inner.get("kwargs")
    message = kwargs if isinstance(kwargs, dict) else inner
    result = result_of(message)
    return Result(result.text, text_at(message, "tool_call_id"), result.tool_name, result.failed)


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
