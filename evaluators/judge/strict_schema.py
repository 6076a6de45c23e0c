"""A pydantic model's JSON Schema in the form that strict endpoints accept.

In: answer types.  Out: definitions that use only what OpenAI's strict mode knows: every property required, no further
ones, no lengths, ranges or patterns.  Limits that strict mode can't say are checked when the answer is read
(`evaluators.judge.answering.answer`).  Never changes what a type means, only how it is written.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import TypeAlias

from pydantic import BaseModel
from pydantic.json_schema import JsonSchemaMode, models_json_schema

from evaluators.cases import JsonValue

Schema: TypeAlias = dict[str, JsonValue]

EVIDENCE = "evidence"
CALL_ID = "call_id"
_WRITTEN = frozenset(("type", "enum", "const", "anyOf", "oneOf", "allOf", "$ref", "properties", "items", "description"))
# What strict mode can't say or need not be told: names, defaults, and limits that are checked afterwards.
_NOT_NEEDED = {"title", "default", "examples", "discriminator", "required", "additionalProperties"}
_LIMITS_OF_TEXTS = {"format", "pattern", "minLength", "maxLength"}
_LIMITS_OF_LISTS = {"minItems", "maxItems", "uniqueItems"}
_LIMITS_OF_NUMBERS = {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"}
_LEFT_OUT = frozenset(_NOT_NEEDED | _LIMITS_OF_TEXTS | _LIMITS_OF_LISTS | _LIMITS_OF_NUMBERS)


@cache
def definitions_of(types: tuple[type[BaseModel], ...]) -> tuple[Mapping[type[BaseModel], str], Mapping[str, Schema]]:
    """The name of each type's definition, and all definitions that they need.

    Fields named `evidence` and `call_id` refer to definitions `Evidence` and `CallId`, which are not among these.

    Raises:
        TypeError: a type uses what no strict schema can say (a free-form mapping, a tuple of mixed types).
    """
    mode: JsonSchemaMode = "validation"
    refs, generated = models_json_schema([(answer_type, mode) for answer_type in types])
    names = {answer_type: name_of(refs[answer_type, mode]) for answer_type in types}
    return names, {name: _strict(schema, name) for name, schema in generated["$defs"].items()}


def reference(name: str) -> Schema:
    """A reference to the definition of this name."""
    return {"$ref": f"#/$defs/{name}"}


def name_of(ref: Mapping[str, JsonValue]) -> str:
    """The name of the definition that a reference refers to."""
    return str(ref["$ref"]).rpartition("/")[2]


def strict_object(properties: Mapping[str, JsonValue]) -> Schema:
    """An object that has exactly these properties."""
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }


def _strict(schema: Schema, where: str, *, inner: bool = False) -> Schema:
    unknown = set(schema) - _WRITTEN - _LEFT_OUT
    if unknown:
        raise TypeError(f"{where}: a judge's answer can't use {', '.join(sorted(unknown))}")
    if "$ref" in schema:
        # Strict mode knows no siblings of a reference; what is said of a type belongs to its definition.
        return {"$ref": schema["$ref"]}
    if isinstance(parts := schema.get("allOf"), list) and len(parts) == 1:
        return _strict(_schema(parts[0], where), where, inner=inner)
    strict: Schema = {}
    if "const" in schema:
        strict["enum"] = [schema["const"]]
    for keyword in ("type", "enum"):
        if keyword in schema:
            strict[keyword] = schema[keyword]
    if "const" in schema and "type" not in schema:
        strict["type"] = "string"
    if inner and "description" in schema:
        strict["description"] = schema["description"]
    for keyword in ("anyOf", "oneOf"):
        if isinstance(choices := schema.get(keyword), list):
            strict["anyOf"] = [_strict(_schema(choice, where), where) for choice in choices]
    if isinstance(items := schema.get("items"), dict):
        strict["items"] = _strict(items, f"{where}[]")
    if schema.get("type") == "object":
        if not isinstance(properties := schema.get("properties"), dict):
            raise TypeError(f"{where}: a judge's answer can't have a free-form object")
        return strict | strict_object({name: _property(name, inner, where) for name, inner in properties.items()})
    if not strict.keys() & {"type", "enum", "anyOf"}:
        raise TypeError(f"{where}: a judge's answer can't have a field of any type")
    return strict


def _property(name: str, schema: JsonValue, where: str) -> Schema:
    strict = _strict(_schema(schema, where), f"{where}.{name}", inner=True)
    if name == EVIDENCE:
        return reference("Evidence")
    if name != CALL_ID:
        return strict
    nullable = isinstance(choices := strict.get("anyOf"), list) and {"type": "null"} in choices
    return {"anyOf": [reference("CallId"), {"type": "null"}]} if nullable else reference("CallId")


def _schema(value: JsonValue, where: str) -> Schema:
    if not isinstance(value, dict):
        raise TypeError(f"{where}: a judge's answer can't have a field of any type or none")
    return value
