"""Message events: `gen_ai.user.message`, `gen_ai.choice` and so on, one event a message.

They come as span events with attributes (one of which may hold the whole message as JSON), as log records with a body,
or as a list in one attribute.  In go the events, out come the messages that a model was given and those that it gave,
in order.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from evaluators.cases import JsonValue, Role
from processors.conventions.decoding.cut import whole_json
from processors.conventions.decoding.messages import ROLES, Messages
from processors.conventions.decoding.values import as_list, parsed
from processors.conventions.facts import MessageFacts
from processors.otlp import Event

CHOICE_EVENT = "gen_ai.choice"
TOOL_EVENT = "gen_ai.tool.message"
MESSAGE_EVENTS: Mapping[str, Role] = {
    "gen_ai.system.message": Role.SYSTEM,
    "gen_ai.user.message": Role.USER,
    "gen_ai.assistant.message": Role.ASSISTANT,
    TOOL_EVENT: Role.TOOL,
    CHOICE_EVENT: Role.ASSISTANT,
}
EVENT_CONTENT = "gen_ai.event.content"
EVENT_NAME = "event.name"
"""The event's name among the keys of an event that stands in a list."""

_MESSAGE_KEYS = frozenset({"role", "content", "message", "tool_calls", "tool_call_id"})
_PART_KEYS = frozenset({"type", "text", "toolUse", "toolResult", "image", "document"})


def told_in(
    events: Iterable[Event], messages: Messages
) -> tuple[tuple[MessageFacts, ...] | None, tuple[MessageFacts, ...] | None]:
    """What a model was given and what it gave; None where no event says."""
    given: list[MessageFacts] = []
    answered: list[MessageFacts] = []
    seen = False
    for event in events:
        role = MESSAGE_EVENTS.get(event.name)
        if role is None:
            continue
        seen = True
        found = messages.read(_message(event, role), role) or ()
        (answered if event.name == CHOICE_EVENT else given).extend(found)
    return (tuple(given), tuple(answered) or None) if seen else (None, None)


def listed(value: JsonValue) -> list[Event]:
    """The events in a JSON list of objects with the event's name among their keys; of a cut list the whole ones."""
    if not isinstance(value, str) or EVENT_NAME not in value:
        return []
    return [
        Event(name=str(item[EVENT_NAME]), body={name: item[name] for name in item if name != EVENT_NAME})
        for item in as_list(whole_json(value))
        if isinstance(item, dict) and EVENT_NAME in item
    ]


def _message(event: Event, role: Role) -> JsonValue:
    """A message event's body and attributes as one message."""
    content = event.attributes.get(EVENT_CONTENT)
    message: dict[str, JsonValue] = {**event.attributes, **_body(content if event.body is None else event.body)}
    inner = parsed(message.get("message"))
    if event.name == CHOICE_EVENT and inner is not None:
        calls = message.get("tool_calls")
        message = inner if isinstance(inner, dict) else {"content": inner}
        if calls is not None and "tool_calls" not in message:
            message = {**message, "tool_calls": calls}
    content = message.get("content")
    own_role = message.get("role")
    wanted = own_role if isinstance(own_role, str) and own_role.lower() in ROLES else role.value
    kept = {key: value for key, value in message.items() if not key.startswith("gen_ai.") and key != "role"}
    return {**kept, "role": wanted, **({"content": content_of(content)} if content is not None else {})}


def _body(body: JsonValue) -> dict[str, JsonValue]:
    """A record's body as a message; a text may be the message as JSON, where it was logged as one, or its content."""
    decoded = parsed(body)
    if isinstance(decoded, dict) and (isinstance(body, dict) or _MESSAGE_KEYS & decoded.keys()):
        return decoded
    return {"content": body} if body is not None else {}


def content_of(value: JsonValue) -> JsonValue:
    """A content as its parts where it is a JSON text of parts; any other text, JSON or not, is the text itself."""
    decoded = parsed(value) if isinstance(value, str) and value.startswith("[{") else None
    if isinstance(decoded, list) and all(isinstance(item, dict) and _PART_KEYS & item.keys() for item in decoded):
        return decoded
    return value
