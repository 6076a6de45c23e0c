"""The JSON object in what a model wrote around it: reasoning, code fences, a friendly sentence.

In: a text and the names that the object must have some of.  Out: the object as it stands, or None.  Nothing is
repaired: an object that isn't valid JSON isn't one, and of two that differ neither is taken.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

import orjson

from evaluators.cases import JsonValue

_MARK = re.compile(r"</?(?:think|thinking|reasoning|thought)>", re.IGNORECASE)
_MOST_CHARS = 200_000
_MOST_OBJECTS = 50
_MOST_UNBALANCED = 5


def without_reasoning(text: str) -> str:
    """The text without the blocks in which models write down their reasoning; nothing of one that never ends."""
    kept: list[str] = []
    position, inside = 0, False
    for mark in _MARK.finditer(text):
        if mark[0].startswith("</"):
            if not inside:
                # Templates put the opening mark into the prompt, so that only the closing one is in the answer.
                kept.clear()
            inside = False
        else:
            if not inside:
                kept.append(text[position : mark.start()])
            inside = True
        position = mark.end()
    if not inside:
        kept.append(text[position:])
    return "".join(kept)


def is_object(text: str) -> bool:
    """Whether the text is one JSON object and nothing else."""
    return _parsed(text) is not None


def object_in(text: str, names: Collection[str]) -> dict[str, JsonValue] | None:
    """The one JSON object of the text that has at least one of these names."""
    whole = _parsed(text)
    if whole is not None:
        return whole
    if len(text) > _MOST_CHARS:
        return None
    found: dict[str, JsonValue] | None = None
    for candidate in _balanced(without_reasoning(text)):
        parsed = _parsed(candidate)
        if parsed is None or not any(name in parsed for name in names):
            continue
        if found is not None and parsed != found:
            return None
        found = parsed
    return found


def _parsed(text: str) -> dict[str, JsonValue] | None:
    try:
        value: JsonValue = orjson.loads(text)
    except (orjson.JSONDecodeError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _balanced(text: str) -> Iterator[str]:
    """The outermost parts of the text between braces that belong together; braces in strings don't count."""
    start, unbalanced = text.find("{"), 0
    for _ in range(_MOST_OBJECTS):
        if start < 0 or unbalanced == _MOST_UNBALANCED:
            return
        end = _end(text, start)
        if end is None:
            unbalanced += 1
            start = text.find("{", start + 1)
        else:
            yield text[start:end]
            start = text.find("{", end)


def _end(text: str, start: int) -> int | None:
    depth, quoted, position = 0, False, start
    while position < len(text):
        character = text[position]
        if quoted:
            if character == "\\":
                position += 1
            elif character == '"':
                quoted = False
        elif character == '"':
            quoted = True
        elif character == "{":
            depth += 1
        elif character == "}":
            depth -= 1
            if depth == 0:
                return position + 1
        position += 1
    return None
