"""The keys under which instrumentations name the conversation that a span belongs to.

A session key may stand on spans of any dialect, and on spans that no reader knows (an HTTP server's, a database's).
"""

from __future__ import annotations

from collections.abc import Mapping

from evaluators.cases import JsonValue
from processors.conventions.decoding.session_names import session_in
from processors.conventions.decoding.values import as_object, text_at

_OWN = ("session.id", "langfuse.session.id", "mlflow.trace.session", "langwatch.thread.id", "langwatch.thread_id")
_CUSTOM = (
    "traceloop.association.properties.",
    "lmnr.association.properties.",
    "langsmith.metadata.",
    "ai.telemetry.metadata.",
)
"""Where applications put properties of their own, under names of their own."""
_METADATA = "metadata"
"""A JSON object of such properties, as written for runs of LangChain."""


def session_of(attributes: Mapping[str, JsonValue]) -> str | None:
    """The session or conversation id among attributes; None when there is none."""
    found = text_at(attributes, *_OWN) or session_in(attributes, *_CUSTOM)
    return found or session_in(as_object(attributes.get(_METADATA)), "")
