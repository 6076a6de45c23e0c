"""Whole histories that an instrumentation wrote as the text of one message.

Seen of requests to OpenAI's responses API: what the application gave as a list of items stands as JSON in the text of
one message of the user.
"""

from __future__ import annotations

from evaluators.cases import JsonValue, Role
from processors.conventions.decoding.messages import ROLES, Messages
from processors.conventions.decoding.values import from_json
from processors.conventions.facts import MessageFacts

_BEGINNING = '[{"'
_ITEMS = frozenset(
    {"message", "reasoning", "function_call", "function_call_output", "custom_tool_call", "custom_tool_call_output"}
)


def unfolded(found: tuple[MessageFacts, ...] | None, messages: Messages) -> tuple[MessageFacts, ...] | None:
    """The messages, with those in place of the one in whose text they stand, if it is the last and the user's."""
    last = found[-1] if found else None
    if found is None or last is None or last.role is not Role.USER or last.text is None:
        return found
    if not last.text.startswith(_BEGINNING):
        return found
    items = from_json(last.text)
    if not isinstance(items, list) or not all(_is_item(item) for item in items):
        return found
    return (*found[:-1], *(messages.read(items, Role.USER) or ()))


def _is_item(item: JsonValue) -> bool:
    if not isinstance(item, dict):
        return False
    role, kind = item.get("role"), item.get("type")
    if isinstance(role, str):
        return role.lower() in ROLES and "content" in item
    return isinstance(kind, str) and kind in _ITEMS
