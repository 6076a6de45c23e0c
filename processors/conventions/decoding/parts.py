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
from processors.conventions.decoding.calls import ARGUMENT_KEYS, CALL_TYPES, ID_KEYS, call_of, is_told
from processors.conventions.decoding.reasoning import is_reasoning
from processors.conventions.decoding.reprs import from_repr
from processors.conventions.decoding.results import RESULT_TYPES, TEXT_TYPES, Result, result_of
from processors.conventions.decoding.values import PLACEHOLDERS, first_at, from_python, text_at
from processors.conventions.facts import CallFacts

_PROVIDER_CALLS = frozenset(
    {"web_search_call", "file_search_call", "code_interpreter_call", "computer_call", "image_generation_call"}
    | {"local_shell_call", "mcp_list_tools"}
)
_CALL_REPR = re.compile(r"\w{0,60}?(FunctionToolCall|FunctionCall)\w{0,60}\(")
_MEDIA_KEYS = (
    *("image", "image_url", "base64_image", "inlineData", "inline_data", "document", "video", "audio"),
    *("file", "blob", "uri"),
)


@dataclass(frozen=True, slots=True)
class Text:
    """Words."""

    text: str


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
    """Whether a part says nothing: a placeholder, or a call that nothing tells of."""
    if isinstance(part, CallFacts):
        return not is_told(part)
    return isinstance(part, Text) and part.text in PLACEHOLDERS


def is_hidden(content: JsonValue) -> bool:
    """Whether an instrumentation put a placeholder where a message's content was, or left only the part's type."""
    return any(_is_placeholder(item) for item in (content if isinstance(content, list) else [content]))


def _is_placeholder(item: JsonValue) -> bool:
    if isinstance(item, dict):
        text = first_at(item, "text", "content", "value", "refusal")
        if text is None:
            return text_at(item, "type") in TEXT_TYPES
        return isinstance(text, str) and text in PLACEHOLDERS
    return isinstance(item, str) and item in PLACEHOLDERS


def _part(value: JsonValue) -> list[Part]:
    if isinstance(value, str):
        return [Text(value)]
    if not isinstance(value, dict):
        return []
    kind = first_at(value, "type", "block_type")
    kind = kind.lower() if isinstance(kind, str) else ""
    if is_reasoning(value, kind):
        return []
    if kind in CALL_TYPES:
        return [call_of(value)]
    function = value.get("function")
    if kind == "function" and isinstance(function, dict) and "arguments" in function:
        return [call_of(value)]
    if kind in _PROVIDER_CALLS:
        return [_provider_call(kind, value)]
    if kind in RESULT_TYPES:
        return [result_of(value)]
    for keys, read in (
        (("toolUse", "functionCall", "toolRequest", "function_call", "tool_use", "tool_call"), call_of),
        (
            ("toolResult", "functionResponse", "toolResponse", "function_response", "tool_result", "tool_call_result"),
            result_of,
        ),
    ):
        for key in keys:
            inner = value.get(key)
            if isinstance(inner, dict):
                return [read(inner)]
    if not kind and isinstance(value.get("origin"), dict):
        return [result_of(value)]
    if not kind and "tool_name" in value and any(key in value for key in ARGUMENT_KEYS):
        return [call_of(value)]
    if kind in TEXT_TYPES or not kind:
        words = _words(value)
        if words is not None:
            return [_called_in_repr(words) or Text(_text_in_repr(words))]
    if kind in TEXT_TYPES:
        return []
    if kind and not isinstance(value.get("text"), str):
        return [Media(kind)]
    for key in _MEDIA_KEYS:
        if key in value:
            return [Media(key)]
    words = _words(value)
    return [Text(words)] if words is not None else []


def _provider_call(kind: str, value: Mapping[str, JsonValue]) -> CallFacts:
    asked = first_at(value, "action", "queries", "code", "arguments")
    return CallFacts(
        name=kind.removesuffix("_call"),
        id=text_at(value, *ID_KEYS),
        arguments=asked if isinstance(asked, dict) else None,
        provider_executed=True,
    )


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
