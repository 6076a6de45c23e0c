"""The structured value in a tool's text, if it is structured: JSON, a Python literal, or either wrapped in messages.

In goes the text as the model saw it, out comes a JSON value, or None for prose.  Bounded: text that is too long or
nested too deeply is prose.  Never raises.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

import orjson

from evaluators.cases import JsonValue

_MAX_JSON_CHARS = 4_000_000
_MAX_LITERAL_CHARS = 100_000
_MAX_UNWRAPPING = 4
_MAX_LEAVES = 50_000
_MAX_DEPTH = 60


def structured(text: str | None) -> dict[str, JsonValue] | list[JsonValue] | None:
    """The object or array that `text` is, unwrapped from encodings in encodings and from single text blocks."""
    value: JsonValue = text
    for _ in range(_MAX_UNWRAPPING):
        if isinstance(value, str):
            value = _parsed(value)
        inner = _only_text_block(value)
        if inner is None:
            break
        if _parsed(inner) is None:
            break
        value = inner
    return value if isinstance(value, dict | list) else None


def _parsed(text: str) -> JsonValue:
    stripped = text.strip()
    if stripped[:1] not in ("{", "[", '"') or len(stripped) > _MAX_JSON_CHARS:
        return None
    try:
        parsed: JsonValue = orjson.loads(stripped)
        return parsed
    except ValueError:
        pass
    if stripped[:1] == '"' or len(stripped) > _MAX_LITERAL_CHARS:
        return None
    try:
        literal = ast.literal_eval(stripped)
        # through JSON, so that sets, bytes and other things that a result can't be are refused
        again: JsonValue = orjson.loads(orjson.dumps(literal))
        return again
    except (ValueError, SyntaxError, RecursionError, MemoryError, TypeError):
        return None


def _only_text_block(value: JsonValue) -> str | None:
    """The text of a value that is nothing but one text: a JSON string, or a list of one `{"type": "text"}` block."""
    if isinstance(value, str):
        return value
    if isinstance(value, dict) and isinstance(value.get("content"), list) and value.keys() <= {"content", "isError"}:
        return None if value.get("isError") else _only_text_block(value["content"])
    if isinstance(value, list) and len(value) == 1:
        block = value[0]
        if isinstance(block, dict) and block.get("type") == "text" and isinstance(block.get("text"), str):
            text = block["text"]
            return text if isinstance(text, str) else None
    return None


@dataclass(frozen=True, slots=True)
class Leaf:
    """A scalar of a structured value.

    `key` is the name of the field it stands in (for items of a list, of the list's field; "" at the top), `column` the
    path without positions, so that the same field of all items of a list has one column, `place` the path with every
    position but the innermost, and `siblings` the object that holds it.
    """

    key: str
    column: str
    place: str
    value: str | int | float | bool
    siblings: dict[str, JsonValue] | None


def leaves(value: JsonValue) -> Iterator[Leaf]:
    """Every scalar of `value` that isn't null, in order; at most the first 50,000 and 60 levels deep."""
    stack: list[tuple[str, str, str, str, JsonValue, dict[str, JsonValue] | None, int]]
    stack = [("", "", "", "", value, None, 0)]
    given = 0
    while stack and given < _MAX_LEAVES:
        # `path` has every position, `place` all but the innermost list's
        key, column, path, place, item, holder, depth = stack.pop()
        if isinstance(item, dict):
            if depth < _MAX_DEPTH:
                for k, v in reversed(item.items()):
                    # objects that map ids to records are lists with names for positions
                    name = "*" if any(c.isdigit() for c in k) else k
                    stack.append((k, f"{column}.{name}", f"{path}.{k}", f"{place}.{name}", v, item, depth + 1))
        elif isinstance(item, list):
            if depth < _MAX_DEPTH:
                last = len(item) - 1
                stack.extend(
                    (key, f"{column}[]", f"{path}[{last - i}]", f"{path}[]", v, holder, depth + 1)
                    for i, v in enumerate(reversed(item))
                )
        elif item is not None:
            given += 1
            yield Leaf(key, column, place, item, holder)


def scalars(value: JsonValue) -> list[str | int | float | bool]:
    """Every scalar of `value` that isn't null, in no order; at most about the first 50,000."""
    stack: list[JsonValue] = [value]
    found: list[str | int | float | bool] = []
    while stack and len(found) < _MAX_LEAVES:
        item = stack.pop()
        if isinstance(item, dict):
            stack.extend(item.values())
        elif isinstance(item, list):
            stack.extend(item)
        elif item is not None:
            found.append(item)
    return found


def list_lengths(value: JsonValue) -> set[int]:
    """How many items the lists and objects of `value` hold: what an answer may count."""
    lengths: set[int] = set()
    stack: list[tuple[dict[str, JsonValue] | list[JsonValue], int]] = []
    if isinstance(value, dict | list):
        stack.append((value, 0))
    seen = 0
    while stack and seen < _MAX_LEAVES:
        item, depth = stack.pop()
        seen += len(item)
        lengths.add(len(item))
        if depth < _MAX_DEPTH:
            inner = item.values() if isinstance(item, dict) else item
            stack += [(one, depth + 1) for one in inner if isinstance(one, dict | list)]
    return lengths
