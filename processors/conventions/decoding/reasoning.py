"""What a model thought beside its answer, where an instrumentation recorded it.

In: a message as it stands on a span.  Out: the text of its reasoning, or None.  Encrypted and summarised away reasoning
is none.  It is no part of what was said, and nobody but those who ask for it reads it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from evaluators.cases import JsonValue
from processors.conventions.decoding.values import first_at

REASONING_TYPES = frozenset({"reasoning", "thinking", "redacted_thinking", "reasoning_content", "thought"})
_OWN_KEYS = ("reasoning_content", "reasoning", "thinking")
_TEXT_KEYS = ("thinking", "reasoning", "text", "content", "summary", "reasoningText", "reasoning_text")


def is_reasoning(part: Mapping[str, JsonValue], kind: str) -> bool:
    """Whether a part of a message's content, of this type, is reasoning."""
    return kind in REASONING_TYPES or part.get("thought") is True


def reasoning_in(message: Mapping[str, JsonValue], content: JsonValue) -> str | None:
    """The reasoning in a message, whose content is given as it was found."""
    told = [text for key in _OWN_KEYS if isinstance(text := message.get(key), str)]
    for part in content if isinstance(content, list) else [message]:
        if isinstance(part, dict):
            kind = first_at(part, "type", "block_type")
            if is_reasoning(part, kind.lower() if isinstance(kind, str) else ""):
                told += _texts(part)
    return "\n".join(text for text in told if text.strip()) or None


def _texts(part: Mapping[str, JsonValue]) -> Iterable[str]:
    value = first_at(part, *_TEXT_KEYS)
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from _texts(value)
    elif isinstance(value, list):
        for item in value:
            if isinstance(item, dict):
                yield from _texts(item)
