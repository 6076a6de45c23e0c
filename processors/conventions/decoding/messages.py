"""Messages in any of the shapes that providers and frameworks give them, as `MessageFacts`.

History is repeated on every model call of a run, so a `Messages` object remembers what it has read: the same message
is decoded once per trace and comes back as the same object, which makes comparing histories cheap.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import orjson

from evaluators.cases import JsonValue, Role
from processors.conventions.decoding.calls import CALL_TYPES, call_of, is_told
from processors.conventions.decoding.cut import OpenObject, has_length, has_open_end
from processors.conventions.decoding.parts import Media, Text, is_hidden, parts_of
from processors.conventions.decoding.reasoning import reasoning_in
from processors.conventions.decoding.reprs import from_repr
from processors.conventions.decoding.results import RESULT_TYPES, Result, result_text
from processors.conventions.decoding.values import clean, first_at, text_at
from processors.conventions.facts import CallFacts, MessageFacts

ROLES: Mapping[str, Role] = {
    "system": Role.SYSTEM,
    "developer": Role.SYSTEM,
    "systemmessage": Role.SYSTEM,
    "user": Role.USER,
    "human": Role.USER,
    "humanmessage": Role.USER,
    "assistant": Role.ASSISTANT,
    "ai": Role.ASSISTANT,
    "model": Role.ASSISTANT,
    "aimessage": Role.ASSISTANT,
    "aimessagechunk": Role.ASSISTANT,
    "tool-call": Role.ASSISTANT,
    "tool": Role.TOOL,
    "function": Role.TOOL,
    "toolmessage": Role.TOOL,
    "tool-response": Role.TOOL,
}

_ITEM_TYPES = CALL_TYPES | RESULT_TYPES
"""Calls and results that stand in a list by themselves, in place of messages."""


class Messages:
    """Reads messages, remembering them for one trace.

    `limit` is the length at which attribute values are cut in this trace: texts of just this length are marked.
    """

    def __init__(self, limit: int | None = None) -> None:
        self._limit = limit
        self._known: dict[bytes, tuple[MessageFacts, ...]] = {}
        self._reprs: dict[str, dict[str, JsonValue] | None] = {}

    def read(self, value: JsonValue, default: Role) -> tuple[MessageFacts, ...] | None:
        """The messages that a decoded value holds; None when it holds none that can be recognised.

        A list of messages (also as pairs of role and content), a list of such lists (batches: the first one counts),
        one message, or plain text, which is one message of role `default`.
        """
        if isinstance(value, str):
            return (MessageFacts(role=default, text=value),)
        if isinstance(value, dict):
            return self._message(value, default)
        if isinstance(value, list):
            if value and isinstance(value[0], list) and _as_pair(value[0]) is None:
                return self.read(value[0], default)
            found: list[MessageFacts] = []
            for item in value:
                pair = _as_pair(item)
                if pair is not None:
                    found += self._message(pair, default)
                elif isinstance(item, dict):
                    found += self._message(item, default)
                elif isinstance(item, str):
                    message = self._from_repr(item)
                    if message is not None and "role" in message:
                        found += self._message(message, default)
                    else:
                        found.append(MessageFacts(role=default, text=item))
            return tuple(found)
        return None

    def _from_repr(self, text: str) -> dict[str, JsonValue] | None:
        if text not in self._reprs:
            self._reprs[text] = from_repr(text)
        return self._reprs[text]

    def _message(self, message: dict[str, JsonValue], default: Role) -> tuple[MessageFacts, ...]:
        try:
            end = b"..." if isinstance(message, OpenObject) else b""
            key = orjson.dumps(message, option=orjson.OPT_NON_STR_KEYS) + end + default.encode()
        except (orjson.JSONEncodeError, UnicodeError):
            return self._marked(_read_message(_cleaned(message), default))
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = self._marked(_read_message(message, default))
        return known

    def _marked(self, messages: tuple[MessageFacts, ...]) -> tuple[MessageFacts, ...]:
        if self._limit is None:
            return messages
        return tuple(
            replace(
                message,
                truncated=message.truncated or (message.text is not None and has_length(message.text, self._limit)),
                calls=tuple(
                    replace(call, truncated=call.truncated or self._is_cut(call.arguments)) for call in message.calls
                ),
            )
            for message in messages
        )

    def _is_cut(self, arguments: JsonValue) -> bool:
        return isinstance(arguments, str) and has_length(arguments, self._limit)


def _as_pair(item: JsonValue) -> dict[str, JsonValue] | None:
    """A message written as a pair of role and content."""
    if not isinstance(item, list) or len(item) != 2:
        return None
    role, content = item
    return {"role": role, "content": content} if isinstance(role, str) and role.lower() in ROLES else None


def _cleaned(message: dict[str, JsonValue]) -> dict[str, JsonValue]:
    cleaned = clean(message)
    return cleaned if isinstance(cleaned, dict) else {}


def _read_message(message: dict[str, JsonValue], default: Role) -> tuple[MessageFacts, ...]:
    named = message.get("type")
    kind = named if isinstance(named, str) else None
    inner, role = _unwrapped(message, default)
    is_item = role is None and (kind in _ITEM_TYPES or not _has_content(inner))
    parts = parts_of([message] if is_item else _content(inner))
    calls = [part for part in parts if isinstance(part, CallFacts)]
    listed = _listed_calls(inner) or (_listed_calls(message) if inner is not message else [])
    texts = [part.text for part in parts if isinstance(part, Text)]
    results = [part for part in parts if isinstance(part, Result)]
    media = tuple(part.type for part in parts if isinstance(part, Media))
    is_open = isinstance(message, OpenObject)
    if is_open and role is None and not (calls or listed or results):
        # Whose words these are stood behind the cut.
        return ()
    if role is None:
        role = Role.ASSISTANT if calls or listed else Role.TOOL if results and not texts else default
    if role is Role.TOOL and not results and not calls and not listed:
        return (_tool_message(inner, texts),)
    found = [
        MessageFacts(role=Role.TOOL, text=part.text, call_id=part.call_id, tool_name=part.tool_name, failed=part.failed)
        for part in results
    ]
    if texts or calls or listed or media or not results:
        captured = (_has_content(inner) and not is_open and not is_hidden(_content(inner))) or bool(calls or listed)
        own = MessageFacts(
            role=Role.USER if role is Role.TOOL else role,
            text="\n".join(texts) if texts or captured else None,
            calls=_distinct(calls, listed),
            media=media,
            truncated=is_open,
            reasoning=reasoning_in(inner, _content(inner)),
        )
        # Results are answers to earlier calls, so they come before what the same message says besides.
        if role is Role.ASSISTANT:
            found.insert(0, own)
        else:
            found.append(own)
    return tuple(found)


def _unwrapped(message: dict[str, JsonValue], default: Role) -> tuple[dict[str, JsonValue], Role | None]:
    """The message without a framework's serialisation round it, and its role if it says so."""
    named = text_at(message, "role", "author")
    for key in ("kwargs", "data", "message"):
        inner = message.get(key)
        if isinstance(inner, dict) and named is None:
            names = message.get("id")
            last = names[-1] if isinstance(names, list) and names else message.get("type")
            role = ROLES.get(last.lower()) if isinstance(last, str) else None
            found, inner_role = _unwrapped(inner, default)
            return found, inner_role or role or default
    kind = message.get("type")
    for name in (named, kind if isinstance(kind, str) else None):
        plain = name.lower().rpartition(".")[2] if name is not None else ""
        if plain in ROLES:
            return message, ROLES[plain]
    if kind == "message" or named is not None:
        return message, default
    return message, None


def _content(message: Mapping[str, JsonValue]) -> JsonValue:
    return first_at(message, "parts", "content", "contents", "blocks", "text")


def _has_content(message: Mapping[str, JsonValue]) -> bool:
    return any(key in message for key in ("parts", "content", "contents", "blocks", "text"))


def _tool_message(message: Mapping[str, JsonValue], texts: list[str]) -> MessageFacts:
    content = _content(message)
    is_lost = is_hidden(content) or has_open_end(message, content)
    text, failed = result_text(None if is_lost else content)
    if texts:
        text = "\n".join(texts)
    flag = first_at(message, "is_error", "isError")
    if isinstance(flag, bool):
        failed = flag
    if message.get("status") == "error":
        failed = True
    extra = message.get("additional_kwargs")
    return MessageFacts(
        role=Role.TOOL,
        text=text,
        call_id=text_at(message, "tool_call_id", "toolCallId", "call_id", "tool_use_id", "id")
        or (text_at(extra, "tool_call_id") if isinstance(extra, dict) else None),
        tool_name=text_at(message, "name", "tool_name"),
        failed=failed,
        truncated=isinstance(message, OpenObject),
    )


def _listed_calls(message: Mapping[str, JsonValue]) -> list[CallFacts]:
    calls: list[CallFacts] = []
    for key in ("tool_calls", "toolCalls", "invalid_tool_calls"):
        listed = message.get(key)
        if isinstance(listed, list):
            calls += filter(is_told, (call_of(item) for item in listed if isinstance(item, dict)))
    single = message.get("function_call")
    if isinstance(single, dict) and not calls:
        calls += filter(is_told, [call_of(single)])
    extra = message.get("additional_kwargs")
    return _listed_calls(extra) if isinstance(extra, dict) and not calls else calls


def _distinct(in_parts: list[CallFacts], listed: list[CallFacts]) -> tuple[CallFacts, ...]:
    """The calls of a message that may give each of them twice, once as a part and once in a list."""
    found: list[CallFacts] = []
    ids: set[str] = set()
    for call in in_parts + listed:
        if call.id is not None and call.id in ids:
            continue
        if call.id is None and in_parts and listed and len(found) >= len(in_parts):
            continue
        if call.id is not None:
            ids.add(call.id)
        found.append(call)
    return tuple(found)
