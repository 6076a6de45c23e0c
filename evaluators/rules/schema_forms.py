"""Brings a tool's parameter schema, as found in the wild, into one clean JSON Schema.

In: whatever an instrumentation recorded as the parameters of a tool.  Out: a `Shape` whose `schema` uses a small set of
well-formed draft 2020-12 keywords, or None when nothing can be checked against it.

What it irons out: wrappers (`function.parameters`, `inputSchema`, `input_schema`, `json`), properties at the top level,
types in upper case or in Python's names (`STRING`, `float`, `dict`, `list(str)`, `any`), `nullable`, `required: true`
on a property, enums of texts under a numeric type, enums of the items written beside `type: array`.  Local `$ref`s are
written out; nothing is ever fetched.  A keyword that is malformed, or that it doesn't know, is left out: except for
unknown arguments, a schema only ever becomes more permissive here.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeGuard

from evaluators.cases import JsonValue
from evaluators.rules.type_names import as_list, is_of, json_types, other_spellings

Schema = dict[str, JsonValue]

_DEEPEST = 24
_MOST_NODES = 4_000
_MOST_REPEATS_OF_A_REF = 2


@dataclass(frozen=True, slots=True)
class Shape:
    """A parameter schema that can be checked against.

    `properties` are the cleaned schemas of the arguments at the top level.  `strict`: any other argument is a fault.
    """

    schema: Schema
    properties: Mapping[str, Schema]
    required: frozenset[str]
    strict: bool


def shape_of(parameters: Mapping[str, JsonValue]) -> Shape | None:
    """The clean form of `parameters`; None when it says nothing about arguments or is beyond measure."""
    raw = _unwrapped(parameters)
    if raw is None:
        return None
    try:
        schema = _Cleaner(raw).clean(raw, strict=True, depth=0)
    except _TooLargeError:
        return None
    if schema.get("type") not in (None, "object") and "object" not in as_list(schema.get("type")):
        return None
    properties = schema.get("properties")
    required = schema.get("required")
    return Shape(
        schema=schema,
        properties={name: one for name, one in properties.items() if isinstance(one, dict)}
        if isinstance(properties, dict)
        else {},
        required=frozenset(name for name in as_list(required) if isinstance(name, str)),
        strict=schema.get("additionalProperties") is False,
    )


class _TooLargeError(Exception):
    """The schema has more nodes than any honest one."""


_WRAPPERS = (
    "function",
    "toolSpec",
    "parameters",
    "inputSchema",
    "input_schema",
    "parametersJsonSchema",
    "parameters_json_schema",
    "args_schema",
    "json",
    "jsonSchema",
    "schema",
)


def _unwrapped(parameters: Mapping[str, JsonValue]) -> Schema | None:
    raw: Schema = dict(parameters)
    for _ in range(4):
        if isinstance(raw.get("properties"), Mapping):
            return raw
        inner = next((raw[key] for key in _WRAPPERS if _is_wrapped(raw.get(key))), None)
        if not isinstance(inner, Mapping):
            break
        raw = dict(inner)
    if isinstance(raw.get("type"), str | list) or any(key in raw for key in ("$ref", "anyOf", "oneOf", "allOf")):
        return raw
    if raw and all(_looks_like_property(value) for value in raw.values()):
        # A bare map from argument to its schema: nothing says which of them are required.
        return {"type": "object", "properties": raw}
    return None


def _is_wrapped(value: JsonValue) -> bool:
    """Whether a whole schema, and not the schema of one argument, stands here."""
    if not isinstance(value, Mapping):
        return False
    if isinstance(value.get("properties"), Mapping) or any(isinstance(value.get(key), Mapping) for key in _WRAPPERS):
        return True
    kind = value.get("type")
    return (isinstance(kind, str) and json_types(kind) == ["object"]) or "$ref" in value


def _looks_like_property(value: JsonValue) -> bool:
    if isinstance(value, Mapping):
        return isinstance(value.get("type"), str | list) or isinstance(value.get("description"), str)
    return isinstance(value, str) and json_types(value) is not None


_OPENING_KEYWORDS = (
    "anyOf",
    "oneOf",
    "allOf",
    "if",
    "then",
    "else",
    "not",
    "patternProperties",
    "dependentSchemas",
    "dependencies",
    "unevaluatedProperties",
    "extends",
    "$dynamicRef",
    "$recursiveRef",
)
_CATCH_ALL = frozenset({"args", "kwargs"})
_LITERAL_OF_JAVASCRIPT = re.compile(r"/.*/[dgimsuvy]*", re.DOTALL)
_BOUNDS = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")
_SIZES = ("minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties")


class _Cleaner:
    """Cleans one schema; counts the nodes it makes."""

    def __init__(self, root: Schema) -> None:
        self._root = root
        self._nodes = 0
        self._open_refs: list[str] = []

    def clean(self, raw: object, *, strict: bool, depth: int) -> Schema:
        """`strict`: arguments that the schema doesn't name are faults here, unless it is open."""
        self._nodes += 1
        if self._nodes > _MOST_NODES:
            raise _TooLargeError
        if isinstance(raw, str):
            types = json_types(raw)
            return {} if types is None else {"type": types[0] if len(types) == 1 else list(types)}
        if not isinstance(raw, Mapping) or depth > _DEEPEST:
            return {}
        if isinstance(raw.get("$ref"), str):
            return self._referred(raw, str(raw["$ref"]), strict=strict, depth=depth)
        schema: Schema = {}
        self._types(raw, schema)
        self._values(raw, schema)
        self._bounds(raw, schema)
        self._object(raw, schema, strict=strict, depth=depth)
        self._array(raw, schema, strict=strict, depth=depth)
        self._alternatives(raw, schema, depth=depth)
        return schema

    def _referred(self, raw: Mapping[str, JsonValue], ref: str, *, strict: bool, depth: int) -> Schema:
        target = self._resolve(ref)
        if target is None or self._open_refs.count(ref) >= _MOST_REPEATS_OF_A_REF:
            return {}
        self._open_refs.append(ref)
        try:
            schema = self.clean(target, strict=strict, depth=depth + 1)
        finally:
            self._open_refs.pop()
        for note in ("description", "default"):
            if note in raw:
                schema[note] = raw[note]
        return schema

    def _resolve(self, ref: str) -> Mapping[str, JsonValue] | None:
        if not ref.startswith("#/"):
            return self._root if ref == "#" else None
        at: JsonValue = self._root
        for part in ref[2:].split("/"):
            key = part.replace("~1", "/").replace("~0", "~").replace("%24", "$")
            if not isinstance(at, Mapping) or key not in at:
                return None
            at = at[key]
        return at if isinstance(at, Mapping) else None

    def _types(self, raw: Mapping[str, JsonValue], schema: Schema) -> None:
        names = raw.get("type")
        types: list[str] = []
        for name in as_list(names):
            known = json_types(name) if isinstance(name, str) else None
            if known is None:
                types = []
                break
            types += known
        if not types and names is None and isinstance(raw.get("properties"), Mapping):
            types = ["object"]
        if types and raw.get("nullable") is True:
            types.append("null")
        if types:
            schema["type"] = types[0] if len(types) == 1 else list(dict.fromkeys(types))
        for note in ("description", "default", "title", "format"):
            if note in raw:
                schema[note] = raw[note]

    def _values(self, raw: Mapping[str, JsonValue], schema: Schema) -> None:
        choices = raw.get("enum")
        if isinstance(choices, list) and choices:
            if schema.get("type") == "array" and not any(isinstance(one, list) for one in choices):
                schema["items"] = {"enum": choices}
            else:
                schema["enum"] = choices
                if not any(is_of(one, schema.get("type")) for one in choices):
                    # Texts under a numeric type, or the like: the author meant the values, whatever their type.
                    del schema["type"]
                    schema["enum"] = [*choices, *other_spellings(choices)]
        if "const" in raw:
            schema["enum"] = [raw["const"]]
        pattern = raw.get("pattern")
        if isinstance(pattern, str) and _LITERAL_OF_JAVASCRIPT.fullmatch(pattern) is None:
            schema["pattern"] = pattern

    def _bounds(self, raw: Mapping[str, JsonValue], schema: Schema) -> None:
        for keyword in _BOUNDS:
            value = raw.get(keyword)
            if _is_number(value):
                schema[keyword] = value
        for keyword in _SIZES:
            value = raw.get(keyword)
            if _is_number(value) and value >= 0 and value == int(value):
                schema[keyword] = int(value)

    def _object(self, raw: Mapping[str, JsonValue], schema: Schema, *, strict: bool, depth: int) -> None:
        extra = raw.get("additionalProperties", raw.get("additional_properties"))
        properties = raw.get("properties")
        named: dict[str, JsonValue] = {}
        required: list[str] = [name for name in as_list(raw.get("required")) if isinstance(name, str)]
        if isinstance(properties, Mapping):
            for name, one in properties.items():
                named[name] = self.clean(one, strict=strict, depth=depth + 1)
                if isinstance(one, Mapping) and one.get("required") is True:
                    required.append(name)
            schema["properties"] = named
            # A name that is required but described nowhere is a slip of the schema's author; what has a default, and
            # the catch-all parameters of a Python signature, are required by generators of schemas alone.
            required = [name for name in required if not named or name in named]
            required = [name for name in required if name not in _CATCH_ALL and not _has_default(named.get(name))]
        if required:
            schema["required"] = list(dict.fromkeys(required))
        is_open = any(keyword in raw for keyword in _OPENING_KEYWORDS) or not strict or bool(_CATCH_ALL & named.keys())
        if extra is False and not any(keyword in raw for keyword in _OPENING_KEYWORDS):
            schema["additionalProperties"] = False
        elif isinstance(extra, Mapping) and extra:
            schema["additionalProperties"] = self.clean(extra, strict=strict, depth=depth + 1)
        elif extra is None and named and not is_open:
            schema["additionalProperties"] = False

    def _array(self, raw: Mapping[str, JsonValue], schema: Schema, *, strict: bool, depth: int) -> None:
        items = raw.get("items")
        if isinstance(items, list):
            schema["prefixItems"] = [self.clean(one, strict=strict, depth=depth + 1) for one in items]
        elif isinstance(items, Mapping | str):
            cleaned = self.clean(items, strict=strict, depth=depth + 1)
            beside = schema.get("items")
            schema["items"] = {**cleaned, **beside} if isinstance(beside, dict) else cleaned
        first = raw.get("prefixItems")
        if isinstance(first, list) and first:
            schema["prefixItems"] = [self.clean(one, strict=strict, depth=depth + 1) for one in first]

    def _alternatives(self, raw: Mapping[str, JsonValue], schema: Schema, *, depth: int) -> None:
        """Exactly one of several is taken as at least one: a loosened alternative must not turn right into wrong."""
        branches = [raw[key] for key in ("anyOf", "oneOf") if isinstance(raw.get(key), list) and raw[key]]
        every: list[JsonValue] = [
            {"anyOf": [self.clean(one, strict=False, depth=depth + 1) for one in as_list(branch)]}
            for branch in branches
        ]
        every += [self.clean(one, strict=False, depth=depth + 1) for one in as_list(raw.get("allOf"))]
        if len(every) == 1 and isinstance(every[0], dict) and "anyOf" in every[0]:
            schema["anyOf"] = every[0]["anyOf"]
        elif every:
            schema["allOf"] = every


def _has_default(value: JsonValue) -> bool:
    return isinstance(value, dict) and "default" in value


def _is_number(value: object) -> TypeGuard[int | float]:
    return isinstance(value, int | float) and not isinstance(value, bool) and value == value and abs(value) < 1e300
