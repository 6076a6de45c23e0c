"""What flattened messages lost, taken from the same messages in the body beside them.

Instrumentations flatten what they know: contents of other shapes, ids of calls and instructions that stand beside the
messages get lost on the way, and the raw request or response still has them.  Go by place: a message is only completed
by the one at the same place in a list of the same length, and a longer list is taken whole.
"""

from __future__ import annotations

from evaluators.cases import JsonValue, Role
from processors.conventions.decoding.bodies import request_system
from processors.conventions.facts import MessageFacts


def lacks_something(messages: tuple[MessageFacts, ...]) -> bool:
    """Whether messages were flattened without their text, or calls without their ids or without what came of them."""
    mute = any(message.role in (Role.USER, Role.SYSTEM) and not message.text for message in messages)
    return mute or lacks_ids(messages) or _lacks_results(messages)


def lacks_ids(messages: tuple[MessageFacts, ...]) -> bool:
    """Whether calls were flattened without their ids."""
    return any(call.id is None for message in messages for call in message.calls)


def _lacks_results(messages: tuple[MessageFacts, ...]) -> bool:
    """Whether only some of the calls have results: of several in one message, the last one may have replaced others."""
    asked = {call.id for message in messages for call in message.calls}
    told = {message.call_id for message in messages if message.call_id is not None}
    return bool(told) and not asked <= told


def restored(flat: tuple[MessageFacts, ...], raw: tuple[MessageFacts, ...]) -> tuple[MessageFacts, ...]:
    """The flattened messages with what the raw ones say besides."""
    if len(raw) == len(flat):
        return tuple(theirs if _says_less(ours, theirs) else ours for ours, theirs in zip(flat, raw, strict=True))
    return raw if len(raw) > len(flat) else flat


def instructed(messages: tuple[MessageFacts, ...], *bodies: JsonValue) -> tuple[MessageFacts, ...]:
    """The messages with the instructions that were given beside them, where those weren't flattened along."""
    if any(message.role is Role.SYSTEM for message in messages):
        return messages
    system = next((text for body in bodies if (text := request_system(body))), None)
    return (MessageFacts(role=Role.SYSTEM, text=system), *messages) if system else messages


def _says_less(ours: MessageFacts, theirs: MessageFacts) -> bool:
    if not ours.text and not ours.calls:
        return True
    return len(ours.calls) == len(theirs.calls) and lacks_ids((ours,)) and not lacks_ids((theirs,))
