"""Definitions of the tools that a model was offered, in any of the shapes that providers and frameworks give them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from evaluators.cases import JsonValue, Tool
from processors.conventions.decoding.cut import OpenObject
from processors.conventions.decoding.values import as_object, first_at, parsed, text_at

_SCHEMA_KEYS = ("parameters", "input_schema", "inputSchema", "parametersJsonSchema", "parameters_json_schema")
_WRAPPERS = ("function", "toolSpec", "tool", "data")
_SCHEMA_WRAPPERS = frozenset({"json", "jsonSchema"})
_VALIDATOR_KEYS = ("def", "_def")
"""Under these a validator of Zod's has its own description of itself, which is no JSON Schema."""

_FIELD_KEYS = frozenset({"type", "enum", "const", "$ref", "anyOf", "oneOf", "allOf"})


def tools_of(definitions: JsonValue) -> tuple[Tool, ...] | None:
    """The tools in a list of definitions, or in a JSON text of one; None when it is no such list."""
    decoded = parsed(definitions)
    if isinstance(decoded, dict):
        decoded = first_at(decoded, "tools", "function_declarations", "functionDeclarations") or [decoded]
    if not isinstance(decoded, list):
        return None
    return distinct(tool for item in decoded for tool in _tools(parsed(item)))


def distinct(tools: Iterable[Tool]) -> tuple[Tool, ...]:
    """Tools by name, in order of first appearance; of two of a name the one that says more."""
    found: dict[str, Tool] = {}
    for tool in tools:
        known = found.get(tool.name)
        if known is None or (known.parameters is None and tool.parameters is not None):
            found[tool.name] = tool
    return tuple(found.values())


def _tools(item: JsonValue) -> Iterable[Tool]:
    if isinstance(item, str):
        # What begins so is data that can't be read, or the repr of an object that doesn't say its name.
        return [Tool(name=item)] if item and item[0] not in "{[<" else []
    if not isinstance(item, dict):
        return []
    is_open = isinstance(item, OpenObject)
    declared = first_at(item, "function_declarations", "functionDeclarations")
    if isinstance(declared, list):
        return [tool for inner in declared for tool in _tools(inner)]
    for key in _WRAPPERS:
        wrapped = parsed(item.get(key))
        if isinstance(wrapped, dict) and text_at(wrapped, "name"):
            item = {**item, **wrapped}
            break
    name = text_at(item, "name", "tool_name") or (None if is_open else _kind_of(item))
    if name is None:
        return []
    return [
        Tool(
            name=name,
            description=text_at(item, "description"),
            parameters=schema_of(item),
            read_only=_is_read_only(item),
        )
    ]


def _is_read_only(item: Mapping[str, JsonValue]) -> bool | None:
    """What a server of the Model Context Protocol says of its tool, where a framework hands that on."""
    for holder in (item.get("annotations"), item.get("metadata"), item):
        hint = first_at(holder, "readOnlyHint", "read_only_hint") if isinstance(holder, dict) else None
        if isinstance(hint, bool):
            return hint
    return None


def _kind_of(item: Mapping[str, JsonValue]) -> str | None:
    """The kind of a tool that the provider runs and that has no other name; None for what is a schema alone."""
    return text_at(item, "type") if item.get("type") != "object" else None


def schema_of(definition: Mapping[str, JsonValue]) -> Mapping[str, JsonValue] | None:
    """The JSON Schema of a tool's arguments; None when the definition has none."""
    for key in _SCHEMA_KEYS:
        if definition.get(key) is not None:
            return as_schema(definition[key])
    return None


def defines_arguments(value: JsonValue) -> bool:
    """Whether a value is the schema of a tool's arguments rather than arguments, which may be called like its keys."""
    schema = as_object(value)
    fields = schema.get("properties")
    if schema.get("type") != "object" or not isinstance(fields, dict):
        return False
    return all(isinstance(field, dict) and not _FIELD_KEYS.isdisjoint(field) for field in fields.values())


def as_schema(value: JsonValue) -> Mapping[str, JsonValue] | None:
    """A value as a JSON Schema of an object; None when it is none, or when its end was cut off."""
    schema = as_object(value)
    if isinstance(schema, OpenObject):
        return None
    wrapped = next(iter(schema.values())) if len(schema) == 1 else None
    if isinstance(wrapped, dict) and schema.keys() <= _SCHEMA_WRAPPERS:
        schema = wrapped
    if not schema or any(isinstance(schema.get(key), dict) for key in _VALIDATOR_KEYS):
        return None
    fields = [field for field in schema.values() if isinstance(field, dict)]
    if "properties" not in schema and len(fields) == len(schema) and all("type" in field for field in fields):
        # Some frameworks list the fields alone, without the object round them.
        return {"type": "object", "properties": schema}
    return schema
