"""Calls that an instrumentation ran into one while it put a stream together.

Ids, names and arguments of all calls of an answer then stand one behind the other in one call.  They are told apart
where it is certain: by arguments that are several JSON objects, and a name that is so many names of offered tools.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace

from processors.conventions.decoding.values import json_in_a_row
from processors.conventions.facts import CallFacts, MessageFacts

_MOST_CALLS = 32


def unglued(messages: Iterable[MessageFacts], offered: Collection[str]) -> tuple[MessageFacts, ...]:
    """The messages with calls told apart; `offered` are names of tools."""
    return tuple(
        replace(message, calls=tuple(call for glued in message.calls for call in _told_apart(glued, offered)))
        if message.calls
        else message
        for message in messages
    )


def _told_apart(call: CallFacts, offered: Collection[str]) -> tuple[CallFacts, ...]:
    if call.name in offered or not isinstance(call.arguments, str) or not offered:
        return (call,)
    arguments = json_in_a_row(call.arguments)
    are_calls = 1 < len(arguments) <= _MOST_CALLS and all(isinstance(given, dict) for given in arguments)
    names = _names(call.name, offered, len(arguments)) if are_calls else ()
    if not names:
        return (call,)
    ids = _ids(call.id, len(names))
    return tuple(
        CallFacts(name=name, id=call_id, arguments=given)
        for name, call_id, given in zip(names, ids, arguments, strict=True)
    )


def _names(text: str, offered: Collection[str], count: int) -> tuple[str, ...]:
    """The one way in which a text is so many of the offered names; an empty tuple when there is none, or several."""
    ways: dict[int, list[tuple[str, ...]]] = {0: [()]}
    for at in range(len(text)):
        for way in ways.get(at, ())[:2]:
            if len(way) < count:
                for name in offered:
                    if name and text.startswith(name, at):
                        ways.setdefault(at + len(name), []).append((*way, name))
    whole = [way for way in ways.get(len(text), ()) if len(way) == count]
    return whole[0] if len(whole) == 1 else ()


def _ids(text: str | None, count: int) -> list[str | None]:
    prefix = text[: text.find("_") + 1] if text else ""
    parts = [f"{prefix}{part}" for part in (text or "").split(prefix) if part] if prefix else []
    return [*parts] if len(parts) == count else [None] * count
