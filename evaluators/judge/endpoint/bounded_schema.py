"""A schema with bounds, for models that don't know when to stop.

In: a schema of `evaluators.judge.answering.schema`.  Out: the same with lengths that no sensible answer exceeds: a
list of given words holds each of them at most once, a text no more than is kept of it.  Several providers refuse such
keywords, so they are sent only where an answer ran into its limit.
"""

from __future__ import annotations

from evaluators.cases import JsonValue
from evaluators.judge.answering.answer import MAX_TEXT_CHARS
from evaluators.judge.strict_schema import Schema, name_of


def bounded_schema(schema: Schema) -> Schema:
    """The schema with `maxItems` and `maxLength`."""
    definitions = schema.get("$defs")
    bounded = _bounded(schema, definitions if isinstance(definitions, dict) else {})
    assert isinstance(bounded, dict)
    return bounded


def _bounded(value: JsonValue, definitions: Schema) -> JsonValue:
    if isinstance(value, list):
        return [_bounded(inner, definitions) for inner in value]
    if not isinstance(value, dict):
        return value
    bounded: Schema = {
        key: inner for key, inner in value.items() if key not in ("properties", "$defs", "items", "anyOf")
    }
    for key in ("properties", "$defs"):
        if isinstance(named := value.get(key), dict):
            bounded[key] = {name: _bounded(inner, definitions) for name, inner in named.items()}
    for key in ("items", "anyOf"):
        if key in value:
            bounded[key] = _bounded(value[key], definitions)
    words = _words(value.get("items"), definitions)
    if words:
        bounded["maxItems"] = words
    elif value.get("type") == "string" and "enum" not in value:
        bounded["maxLength"] = MAX_TEXT_CHARS
    return bounded


def _words(items: JsonValue, definitions: Schema) -> int:
    """How many words the items are chosen from; 0 if they may be anything."""
    if isinstance(items, dict) and "$ref" in items:
        items = definitions.get(name_of(items))
    values = items.get("enum") if isinstance(items, dict) else None
    return len(values) if isinstance(values, list) else 0
