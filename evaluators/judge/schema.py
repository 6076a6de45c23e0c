"""The JSON Schema of an answer: one object with a property per question, in the form that strict endpoints accept.

In: named questions.  Out: a schema that uses only what OpenAI's strict mode knows (every property required, no further
ones, no lengths, ranges or patterns).  Limits that the schema can't say are checked when the answer is read
(`evaluators.judge.answer`).  Never changes what a type means, only how it is written.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaMode, models_json_schema

from evaluators.cases import JsonValue
from evaluators.judge.aliases import Aliases
from evaluators.judge.question import NamedQuestion

EVIDENCE = "evidence"
CALL_ID = "call_id"
_MOST_ENUM_VALUES = 200
_WRITTEN = frozenset(("type", "enum", "const", "anyOf", "oneOf", "allOf", "$ref", "properties", "items", "description"))
# What strict mode can't say or need not be told: names, defaults, and limits that are checked afterwards.
_NOT_NEEDED = {"title", "default", "examples", "discriminator", "required", "additionalProperties"}
_LIMITS_OF_TEXTS = {"format", "pattern", "minLength", "maxLength"}
_LIMITS_OF_LISTS = {"minItems", "maxItems", "uniqueItems"}
_LIMITS_OF_NUMBERS = {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"}
_LEFT_OUT = frozenset(_NOT_NEEDED | _LIMITS_OF_TEXTS | _LIMITS_OF_LISTS | _LIMITS_OF_NUMBERS)

Schema = dict[str, JsonValue]


def answer_schema(asked: Sequence[NamedQuestion], aliases: Aliases) -> Schema:
    """The schema of the whole answer.

    Raises:
        TypeError: an answer type uses what no strict schema can say (a free-form mapping, a tuple of mixed types).
    """
    types = tuple(dict.fromkeys(question.answer_type for _, question in asked))
    names, definitions = _definitions(types)
    properties: Schema = {name: {"$ref": f"#/$defs/{names[question.answer_type]}"} for name, question in asked}
    shared: Schema = {"Evidence": {"type": "array", "items": {"type": "string"}}, "CallId": _call_id(aliases)}
    used = {name: shared[name] for name in shared if _mentions(definitions, name)}
    return _object(properties) | {"$defs": {**definitions, **used}}


def has_own_evidence(answer_type: type[BaseModel]) -> bool:
    """Whether the answer type itself has a field for evidence at its top."""
    return EVIDENCE in answer_type.model_fields


@cache
def _definitions(types: tuple[type[BaseModel], ...]) -> tuple[dict[type[BaseModel], str], Schema]:
    mode: JsonSchemaMode = "validation"
    refs, generated = models_json_schema(
        [(answer_type, mode) for answer_type in types], schema_generator=GenerateJsonSchema
    )
    names = {answer_type: str(refs[answer_type, mode]["$ref"]).rpartition("/")[2] for answer_type in types}
    raw: dict[str, Schema] = generated["$defs"]
    definitions: Schema = {name: _strict(raw[name], name) for name in raw}
    for answer_type, name in names.items():
        if not has_own_evidence(answer_type):
            # First, so that the model looks for its grounds before it reasons.
            definition = definitions[name]
            assert isinstance(definition, dict)
            own = definition["properties"]
            assert isinstance(own, dict)
            definitions[name] = _object({EVIDENCE: {"$ref": "#/$defs/Evidence"}, **own})
    return names, definitions


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
        return strict | _object({name: _property(name, inner, where) for name, inner in properties.items()})
    if not strict.keys() & {"type", "enum", "anyOf"}:
        raise TypeError(f"{where}: a judge's answer can't have a field of any type")
    return strict


def _property(name: str, schema: JsonValue, where: str) -> Schema:
    strict = _strict(_schema(schema, where), f"{where}.{name}", inner=True)
    if name == EVIDENCE:
        return {"$ref": "#/$defs/Evidence"}
    if name != CALL_ID:
        return strict
    nullable = isinstance(choices := strict.get("anyOf"), list) and {"type": "null"} in choices
    reference: Schema = {"$ref": "#/$defs/CallId"}
    return {"anyOf": [reference, {"type": "null"}]} if nullable else reference


def _call_id(aliases: Aliases) -> Schema:
    # Endpoints bound how many values a schema may list.
    if 0 < len(aliases.calls) <= _MOST_ENUM_VALUES:
        return {"type": "string", "enum": list(aliases.calls)}
    return {"type": "string"}


def _object(properties: Schema) -> Schema:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _schema(value: JsonValue, where: str) -> Schema:
    if not isinstance(value, dict):
        raise TypeError(f"{where}: a judge's answer can't have a field of any type or none")
    return value


def _mentions(value: JsonValue, name: str) -> bool:
    if isinstance(value, dict):
        return value.get("$ref") == f"#/$defs/{name}" or any(_mentions(inner, name) for inner in value.values())
    return isinstance(value, list) and any(_mentions(inner, name) for inner in value)
