"""Values that a length limit cut: how they are known, and what is whole in them.

Lengths are counted in characters, UTF-16 units or bytes, as SDKs of different languages do.  What the cut goes through
is left out: half a string may be a wrong string.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from evaluators.cases import JsonValue
from processors.conventions.decoding.values import MAX_DEPTH, from_json, parsed

_BODIES = ("[{", '{"')
_LONGEST_CHARACTER_BYTES = 4
# A string, or what stands between strings; a quotation mark alone begins a string that doesn't end.
_JSON_TOKEN = re.compile(r'"(?:[^"\\]++|\\.)*+"|["{}\[\],]', re.DOTALL)


def _utf16(text: str) -> int:
    return len(text) + sum(character > "\uffff" for character in text)


def _utf8(text: str) -> int:
    return len(text.encode(errors="replace"))


MEASURES: tuple[tuple[Callable[[str], int], int], ...] = ((len, 1), (_utf16, 2), (_utf8, _LONGEST_CHARACTER_BYTES))
"""How lengths are counted, characters first, each with by how much less a cut value may be shorter than the limit: a
character of several bytes isn't cut in two."""


def has_length(text: str, limit: int | None) -> bool:
    """Whether a text is as long as a limit allows, counted in any of the units."""
    if limit is None or not len(text) <= limit <= len(text) * _LONGEST_CHARACTER_BYTES:
        return False
    if len(text) == limit:
        return True
    if text.isascii():
        return False
    return any(limit - slack < measure(text) <= limit for measure, slack in MEASURES[1:])


def is_cut(value: JsonValue, limit: int | None) -> bool:
    """Whether a value is a text that was cut: it is as long as the limit, or ends inside its JSON."""
    if not isinstance(value, str):
        return False
    if has_length(value, limit):
        return True
    looks_cut = value[:2] in _BODIES and value[-1] not in "]}"
    return looks_cut and from_json(value) is None and cut_json(value) is not None


def whole_of(value: JsonValue, limit: int | None) -> JsonValue:
    """What a JSON text holds, or what is whole in it if it was cut (None: nothing is); any other value as it is."""
    decoded = parsed(value)
    if not isinstance(decoded, str):
        return decoded
    if decoded[:2] in _BODIES and (left := cut_json(decoded)) is not None:
        return left
    if not has_length(decoded, limit):
        return decoded
    if decoded[:1] in ("{", "["):
        return cut_json(decoded)
    return parsed(f'{decoded}"') if decoded.startswith('"') else decoded


def whole_json(value: JsonValue) -> JsonValue:
    """What is whole in a text that is JSON or the beginning of it (None: nothing is); any other value as it is."""
    decoded = parsed(value)
    return cut_json(decoded) if isinstance(decoded, str) else decoded


class OpenObject(dict[str, JsonValue]):
    """An object of a cut JSON text whose end is missing: fields of it, or of what it holds, may be lost."""


def has_open_end(mapping: Mapping[str, JsonValue], value: JsonValue) -> bool:
    """Whether a cut goes through a list or an object that an object holds: the last thing in an open one."""
    if not isinstance(mapping, OpenObject) or not isinstance(value, dict | list):
        return False
    return value is mapping[next(reversed(mapping))]


def cut_json(text: str) -> JsonValue:
    """What is whole in a JSON text that was cut off somewhere; None when nothing is.

    Objects that the cut goes through are `OpenObject`s.
    """
    text = text.strip()
    if not text or text[0] not in "{[":
        return None
    closers: list[str] = []
    safe = 0
    for token in _JSON_TOKEN.finditer(text):
        mark = token.group()
        if mark == '"':
            break
        if mark in ("{", "["):
            closers.append("}" if mark == "{" else "]")
            safe = token.end()
        elif mark in ("}", "]"):
            if not closers or closers.pop() != mark:
                return None
            safe = token.end()
        elif mark == ",":
            safe = token.start()
        if len(closers) > MAX_DEPTH:
            return None
    if not closers:
        return None
    return _left_open(from_json(text[:safe] + "".join(reversed(closers))), len(closers))


def _left_open(value: JsonValue, depth: int) -> JsonValue:
    """A value whose end is missing; the cut goes through its last `depth` levels, each the last in the one before."""
    if isinstance(value, dict):
        marked = OpenObject(value)
        if depth > 1 and marked:
            last = next(reversed(marked))
            marked[last] = _left_open(marked[last], depth - 1)
        return marked
    if isinstance(value, list) and value and depth > 1:
        return [*value[:-1], _left_open(value[-1], depth - 1)]
    return value
