"""Settings models → the rows of a reference: every key with its type, default and meaning.

Works on the models alone, so that what is documented is what is read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import orjson
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from collector.config.problems import Path, format_path
from collector.config.validation import models_in


@dataclass(frozen=True, slots=True)
class Row:
    """One key. `default` is empty where there is none, and for keys that hold other keys."""

    path: Path
    type: str
    default: str
    required: bool
    description: str

    @property
    def key(self) -> str:
        """The path in one word."""
        return format_path(self.path)


def rows(model: type[BaseModel], path: Path = ()) -> Iterator[Row]:
    """All keys of a model, those of nested models right below their own; of items of lists only at the first list."""
    return _rows(model, path, set())


def _rows(model: type[BaseModel], path: Path, listed: set[type[BaseModel]]) -> Iterator[Row]:
    whole = model.model_json_schema()
    properties, definitions = whole.get("properties", {}), whole.get("$defs", {})
    for name, field in model.model_fields.items():
        key = field.alias or name
        inner = list(models_in(field.annotation))
        schema = _resolve(properties[key], definitions)
        is_list = _is_list(schema)
        type_name = ("list of maps" if is_list else "map") if inner else _type(schema, definitions)
        default = "" if inner and not is_list and field.default is not None else _default(model, name, field)
        yield Row((*path, key), type_name, default, field.is_required(), field.description or "")
        for nested in inner:
            if not is_list:
                yield from _rows(nested, (*path, key), listed)
            elif nested not in listed:
                listed.add(nested)
                yield from _rows(nested, (*path, f"{key}[]"), listed)


def refused_rows(model: type[BaseModel], path: Path = ()) -> Iterator[tuple[str, str]]:
    """The Collector's keys that can't hold here, with the reason."""
    refused: Mapping[str, str] = getattr(model, "refused_keys", {})
    for key, reason in refused.items():
        yield format_path((*path, key)), reason
    for name, field in model.model_fields.items():
        for nested in models_in(field.annotation):
            yield from refused_rows(nested, (*path, field.alias or name))


def first_paragraph(model: type[BaseModel]) -> str:
    """What a model's docstring begins with, on one line."""
    return " ".join((model.__doc__ or "").strip().split("\n\n")[0].split())


def _default(model: type[BaseModel], name: str, field: FieldInfo) -> str:
    if field.is_required():
        return ""
    value = field.get_default(call_default_factory=True)
    if value is None:
        return ""
    shown = model.model_construct(**{name: value}).model_dump(mode="json", include={name})[name]
    return shown if isinstance(shown, str) else orjson.dumps(shown).decode()


def _resolve(schema: Mapping[str, object], definitions: Mapping[str, object]) -> Mapping[str, object]:
    name = str(schema.get("$ref", "")).rpartition("/")[2]
    target = definitions.get(name)
    return target if isinstance(target, dict) else schema


def _branches(schema: Mapping[str, object]) -> Sequence[Mapping[str, object]]:
    options = schema.get("anyOf")
    if not isinstance(options, list):
        return [schema]
    return [option for option in options if option.get("type") != "null"]


def _is_list(schema: Mapping[str, object]) -> bool:
    return any(branch.get("type") == "array" for branch in _branches(schema))


def _type(schema: Mapping[str, object], definitions: Mapping[str, object]) -> str:
    branches = [_resolve(branch, definitions) for branch in _branches(schema)]
    return " or ".join(dict.fromkeys(map(_type_of, branches)))


def _type_of(schema: Mapping[str, object]) -> str:
    if "enum" in schema and isinstance(schema["enum"], list):
        return ", ".join(f"`{value}`" for value in schema["enum"])
    if "const" in schema:
        return f"`{orjson.dumps(schema['const']).decode()}`"
    kind, form = schema.get("type"), schema.get("format")
    if kind == "string":
        return {"duration": "duration", "password": "secret", "path": "path"}.get(str(form), "text")
    if kind == "array":
        items = schema.get("items")
        return f"list of {_type(items, {})}" if isinstance(items, dict) else "list"
    if kind == "object":
        values = schema.get("additionalProperties")
        return f"map to {_type(values, {})}" if isinstance(values, dict) else "map"
    plain = {"integer": "whole number", "number": "number", "boolean": "true or false", "null": "null"}
    return plain.get(str(kind), "any")
