"""A schema written as short as it can be: what is equal stands once, what stands once stands in its place.

In: a schema and the definitions it refers to.  Out: one schema with its own definitions, under short names in the order
in which they are referred to.  It demands exactly the same; it is read with every request, so each character counts.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping

from evaluators.cases import JsonValue
from evaluators.judge.strict_schema import Schema, name_of, reference

_WHOLE = ""
_REFERENCE_CHARS = len('{"$ref":"#/$defs/d1"}')
_NAME_CHARS = len('"d1":,')


def written_once(whole: Schema, definitions: Mapping[str, Schema]) -> Schema:
    """The schema with `$defs` for what is worth it."""
    parts = _needed(whole, definitions)
    _put_in_place(parts)
    while (equal := _worth_sharing(parts)) is not None:
        _share(parts, equal)
    return _with_short_names(parts)


def _needed(whole: Schema, definitions: Mapping[str, Schema]) -> dict[str, Schema]:
    """The schema, under no name, and the definitions that it needs."""
    parts = {_WHOLE: whole}
    open_names = list(_references(whole))
    while open_names:
        name = open_names.pop()
        if name not in parts:
            parts[name] = definitions[name]
            open_names += _references(definitions[name])
    return parts


def _put_in_place(parts: dict[str, Schema]) -> None:
    """Definitions that are referred to once go where that is."""
    while True:
        often = Counter(name for part in parts.values() for name in _references(part))
        once = next((name for name, times in often.items() if times == 1), None)
        if once is None:
            return
        own, referred = parts.pop(once), reference(once)
        _put(parts, own, referred.__eq__)


def _worth_sharing(parts: Mapping[str, Schema]) -> str | None:
    """What stands several times and is shorter if it is referred to, the largest first."""
    often = Counter(_text(one) for part in parts.values() for one in _inner(part) if "$ref" not in one)
    worth = [
        text for text, times in often.items() if times * len(text) > times * _REFERENCE_CHARS + len(text) + _NAME_CHARS
    ]
    return max(worth, key=len, default=None)


def _share(parts: dict[str, Schema], equal: str) -> None:
    name = f"shared {len(parts)}"
    _put(parts, reference(name), lambda one: _text(one) == equal)
    parts[name] = json.loads(equal)


def _put(parts: dict[str, Schema], other: Schema, instead_of: Callable[[Schema], bool]) -> None:
    """Write another schema in the place of some, wherever they stand."""
    for name, part in parts.items():
        parts[name] = _mapped(part, lambda one: other if instead_of(one) else None)


def _with_short_names(parts: Mapping[str, Schema]) -> Schema:
    short: dict[str, str] = {}
    open_names = list(_references(parts[_WHOLE]))
    while open_names:
        name = open_names.pop(0)
        if name not in short:
            short[name] = f"d{len(short) + 1}"
            open_names += _references(parts[name])

    def renamed(part: Schema) -> Schema:
        return _mapped(part, lambda one: reference(short[name_of(one)]) if "$ref" in one else None)

    whole = renamed(parts[_WHOLE])
    return whole | {"$defs": {short[name]: renamed(parts[name]) for name in short}} if short else whole


# -- the schemas within a schema


def _inner(schema: Schema) -> Iterator[Schema]:
    """Every schema that stands within this one."""
    for one in _children(schema):
        yield one
        yield from _inner(one)


def _children(schema: Schema) -> Iterator[Schema]:
    properties, items, choices = schema.get("properties"), schema.get("items"), schema.get("anyOf")
    found = [*(properties.values() if isinstance(properties, dict) else ()), items]
    found += choices if isinstance(choices, list) else ()
    return (one for one in found if isinstance(one, dict))


def _references(schema: Schema) -> Iterator[str]:
    return (name_of(one) for one in _inner({"items": schema}) if "$ref" in one)


def _mapped(schema: Schema, replaced: Callable[[Schema], Schema | None]) -> Schema:
    """The schema with other schemas in the place of some of those within it."""

    def mapped(value: JsonValue) -> JsonValue:
        if not isinstance(value, dict):
            return value
        other = replaced(value)
        return other if other is not None else _mapped(value, replaced)

    changed = dict(schema)
    if isinstance(properties := schema.get("properties"), dict):
        changed["properties"] = {name: mapped(one) for name, one in properties.items()}
    if "items" in schema:
        changed["items"] = mapped(schema["items"])
    if isinstance(choices := schema.get("anyOf"), list):
        changed["anyOf"] = [mapped(one) for one in choices]
    return changed


def _text(schema: Schema) -> str:
    return json.dumps(schema, ensure_ascii=False, separators=(",", ":"))
