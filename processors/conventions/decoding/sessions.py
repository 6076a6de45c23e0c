"""The session or conversation that a span belongs to.

A session id may stand on spans of any dialect, and on spans that no reader knows (an HTTP server's, a database's):
under an instrumentation's key, or among an application's own metadata under whatever name it gave it.  Nothing is taken
for one that doesn't say by its name that it is a session, conversation, thread or chat.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from evaluators.cases import JsonValue
from processors.conventions.decoding.values import as_object, text_at

_OWN = ("session.id", "langfuse.session.id", "mlflow.trace.session", "langwatch.thread.id", "langwatch.thread_id")
_CUSTOM = (
    "traceloop.association.properties.",
    "lmnr.association.properties.",
    "langsmith.metadata.",
    "ai.telemetry.metadata.",
    "ai.settings.context.",
    "mastra.metadata.",
)
"""Where applications put properties of their own, under names of their own."""
_METADATA = "metadata"
"""A JSON object of such properties, as written for runs of LangChain."""
_NOT_A_LETTER = re.compile(r"[^a-z]+")
_NAMES = ("session", "conversation", "thread", "chat")
"""In order of trust, where an application names several."""


def session_of(attributes: Mapping[str, JsonValue]) -> str | None:
    """The session or conversation id among attributes; None when there is none."""
    found = text_at(attributes, *_OWN) or session_in(attributes, *_CUSTOM)
    return found or session_in(as_object(attributes.get(_METADATA)), "")


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
