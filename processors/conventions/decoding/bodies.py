"""Whole request and response bodies, as instrumentations attach them beside, or instead of, decoded messages.

Request: OpenAI chat (`messages`) and responses (`input`, `instructions`), Anthropic (`system`), Gemini (`contents`),
LangChain (batches of messages).  Response: OpenAI (`choices`, `output`), Anthropic (`content`), LangChain
(`generations`), or plain text.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from evaluators.cases import JsonValue, Role, Tool
from processors.conventions.decoding.calls import CALL_TYPES
from processors.conventions.decoding.definitions import tools_of
from processors.conventions.decoding.messages import Messages
from processors.conventions.decoding.parts import Text, parts_of
from processors.conventions.decoding.tool_choices import read_choice
from processors.conventions.decoding.values import data, first_at, parsed, text_at
from processors.conventions.facts import MessageFacts

_MESSAGE_KEYS = ("messages", "input", "contents", "chat_history")
_SYSTEM_KEYS = ("instructions", "system", "systemInstruction", "system_instruction")
_CHOICE_KEYS = ("function_calling_config", "functionCallingConfig", "tool_choice", "toolChoice")
_GROUPS = ("kwargs", "config", "parameters", "options", "extra_body")
_SYSTEM_KEY = re.compile(rf'"(?:{"|".join(_SYSTEM_KEYS)})"\s*:')


def request_messages(body: JsonValue, messages: Messages) -> tuple[MessageFacts, ...] | None:
    """The messages that a request body carries, instructions first as a system message; None when it carries none."""
    decoded = parsed(body)
    if isinstance(decoded, list):
        return messages.read(decoded, Role.USER) or None
    if not isinstance(decoded, dict):
        return None
    found = messages.read(data(_given(decoded, *_MESSAGE_KEYS)), Role.USER)
    if found is None:
        return None
    system = text_of_parts(_given(decoded, *_SYSTEM_KEYS))
    return (MessageFacts(role=Role.SYSTEM, text=system), *found) if system else found


def request_system(body: JsonValue) -> str | None:
    """The instructions that a request body, or what is left of one, gives beside its messages; None without any."""
    if isinstance(body, str) and _SYSTEM_KEY.search(body) is None:
        return None
    decoded = parsed(body)
    return text_of_parts(_given(decoded, *_SYSTEM_KEYS)) if isinstance(decoded, dict) else None


def response_messages(body: JsonValue, messages: Messages) -> tuple[MessageFacts, ...] | None:
    """The messages that a response body carries; None when it carries none."""
    decoded = parsed(body)
    if isinstance(decoded, str):
        return messages.read(decoded, Role.ASSISTANT)
    if isinstance(decoded, list):
        whole = [item for item in decoded if isinstance(item, dict) and _is_body(item)]
        if whole and len(whole) == len(decoded):
            return tuple(one for item in whole for one in response_messages(item, messages) or ()) or None
        return messages.read(decoded, Role.ASSISTANT) or None
    if not isinstance(decoded, dict):
        return None
    generations = decoded.get("generations")
    choices = decoded.get("choices")
    candidates = decoded.get("candidates")
    if isinstance(generations, list):
        first = generations[0] if generations else None
        choices = first if isinstance(first, list) else generations
    elif isinstance(candidates, list):
        choices = [{"message": item.get("content")} for item in candidates if isinstance(item, dict)]
    if isinstance(choices, list):
        first = choices[0] if choices else None
        inner = first.get("message") if isinstance(first, dict) else None
        return messages.read(inner, Role.ASSISTANT) if isinstance(inner, dict) else None
    listed = first_at(decoded, "messages", "output", "replies")
    if isinstance(listed, list):
        return messages.read(listed, Role.ASSISTANT)
    wrapped = decoded.get("message")
    if isinstance(wrapped, dict):
        return messages.read(wrapped, Role.ASSISTANT)
    is_item = text_at(decoded, "type") in CALL_TYPES
    if is_item or "content" in decoded or "tool_calls" in decoded or "parts" in decoded:
        return messages.read(decoded, Role.ASSISTANT)
    return None


def finish_reasons_of(body: JsonValue) -> tuple[str, ...] | None:
    """Why the model stopped, as its response body says it; None when it doesn't say."""
    decoded = parsed(body)
    if not isinstance(decoded, dict):
        return None
    choices = first_at(decoded, "choices", "candidates")
    choice = choices[0] if isinstance(choices, list) and choices else None
    for said in (choice, decoded):
        if isinstance(said, dict):
            reason = first_at(said, "finish_reason", "finishReason", "stop_reason", "stopReason")
            if isinstance(reason, str):
                return (reason,)
    return None


def request_definitions(body: JsonValue) -> JsonValue:
    """The definitions of tools in a request body, as they stand there; None when it says nothing of tools."""
    if isinstance(body, str) and not any(key in body for key in ('"tools"', '"functions"')):
        return None
    decoded = parsed(body)
    return _given(decoded, "tools", "functions") if isinstance(decoded, dict) else None


def _given(body: Mapping[str, JsonValue], *keys: str) -> JsonValue:
    """The first of these parameters, which may stand among further ones in a group of their own."""
    for place in (body, *(body.get(group) for group in _GROUPS)):
        found = first_at(place, *keys) if isinstance(place, Mapping) else None
        if found is not None:
            return found
    return None


def _is_body(item: Mapping[str, JsonValue]) -> bool:
    """Whether an item of a list is a response by itself, and no message."""
    return "role" not in item and any(isinstance(item.get(key), list) for key in ("output", "choices", "candidates"))


def request_tools(body: JsonValue) -> tuple[Tool, ...] | None:
    """The tools that a request body offers; None when it says nothing of tools."""
    offered = request_definitions(body)
    return tools_of(offered) if isinstance(offered, list) else None


def tool_choice_of(body: JsonValue) -> str | None:
    """ "auto", "none", "required" or the name of the forced tool; None when the body doesn't say."""
    decoded = parsed(body)
    if not isinstance(decoded, dict):
        return None
    config = _given(decoded, "tool_config", "toolConfig")
    places = (
        _given(decoded, "tool_choice", "toolChoice"),
        first_at(config, *_CHOICE_KEYS) if isinstance(config, dict) else None,
        _given(decoded, "function_call"),
    )
    return read_choice(next((choice for choice in places if choice is not None), None))


def text_of_parts(content: JsonValue) -> str | None:
    """The text of a content, whatever its shape; None when there is none."""
    decoded = parsed(content)
    if isinstance(decoded, dict) and "parts" in decoded:
        decoded = decoded["parts"]
    texts = [part.text for part in parts_of(decoded) if isinstance(part, Text)]
    return "\n".join(texts) if texts else None
