"""A strict schema in fewer words, for endpoints that know no references.

In: a schema of `evaluators.judge.answering.schema`.  Out: one with the same properties, without `$ref`, `$defs` and
`additionalProperties`, which Google's and several local servers refuse, and without long lists of values, which make
grammars too large.  It promises less than the strict one; what it leaves open is checked when the answer is read.
"""

from __future__ import annotations

from collections.abc import Mapping

from evaluators.cases import JsonValue
from evaluators.judge.strict_schema import Schema, name_of

_MOST_VALUES = 20
_MAX_DEPTH = 12


def plain_schema(schema: Schema) -> Schema:
    """The schema with every definition in its place.

    Raises:
        TypeError: definitions refer to themselves, or are nested more than 12 deep.
    """
    definitions = schema.get("$defs")
    plain = _plain(schema, definitions if isinstance(definitions, dict) else {}, 0)
    assert isinstance(plain, dict)
    return plain


def _plain(value: JsonValue, definitions: Mapping[str, JsonValue], depth: int) -> JsonValue:
    if isinstance(value, list):
        return [_plain(inner, definitions, depth) for inner in value]
    if not isinstance(value, dict):
        return value
    if depth > _MAX_DEPTH:
        raise TypeError("a judge's answer can't refer to itself")
    if "$ref" in value:
        return _plain(definitions[name_of(value)], definitions, depth + 1)
    plain: Schema = {}
    for key, inner in value.items():
        if key in ("$defs", "additionalProperties"):
            continue
        if key == "properties" and isinstance(inner, dict):
            plain[key] = {name: _plain(schema, definitions, depth + 1) for name, schema in inner.items()}
        elif key == "enum" and isinstance(inner, list) and len(inner) > _MOST_VALUES:
            plain.setdefault("type", "string")
        elif key in ("items", "anyOf"):
            plain[key] = _plain(inner, definitions, depth + 1)
        else:
            plain[key] = inner
    return plain
