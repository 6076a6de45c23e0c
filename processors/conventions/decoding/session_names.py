"""Session ids that stand among an application's own metadata, under whatever name it gave them.

In go a span's attributes and the prefixes under which a library puts such metadata key by key; out comes the value of
the key that says by its name that it is a session, conversation, thread or chat.  Nothing else is taken for one.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from evaluators.cases import JsonValue

_NOT_A_LETTER = re.compile(r"[^a-z]+")
_NAMES = ("session", "conversation", "thread", "chat")
"""In order of trust, where an application names several."""


def session_in(attributes: Mapping[str, JsonValue], *prefixes: str) -> str | None:
    """The session id among the attributes that start with one of `prefixes`; None when none of them says it is one.

    `sessionId`, `session_id`, `SESSION-ID`, `langfuseSessionId` and plain `session` are all session ids.
    """
    found: dict[str, str] = {}
    for key, value in attributes.items():
        if key.startswith(prefixes) and isinstance(value, str) and value:
            name = _name(key.rpartition(".")[2])
            if name is not None:
                found.setdefault(name, value)
    return next((found[name] for name in _NAMES if name in found), None)


def _name(key: str) -> str | None:
    plain = _NOT_A_LETTER.sub("", key.lower())
    return next((name for name in _NAMES if plain == name or plain.endswith(name + "id")), None)
