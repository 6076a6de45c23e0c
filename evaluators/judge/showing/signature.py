"""The JSON Schema of a tool's arguments as a signature: what a judge has to know of it, in about half the characters.

In: a schema.  Out: types in the style of TypeScript, each with its default and its description::

    {city: string "Where to look.", stars?: integer(minimum 1, maximum 5) = 3, unit?: "C"|"F", ...: any}

`?` marks what may be left out, `...` further properties, and `no others` that there may be none.  Nothing of a schema
is lost: a keyword without a sign of its own stands in parentheses after its type, under its own name and with its value
as JSON, and so does one that isn't written as JSON Schema demands.  What `$ref` refers to within the schema stands
once, after ``where``, so that what refers to itself ends.  Left out is what restricts nothing: `$schema`, titles that
only repeat a name, definitions that nothing refers to.
"""

from __future__ import annotations

import json
import re
from collections import deque
from collections.abc import Iterator, Mapping
from typing import TypeAlias, TypeGuard
from urllib.parse import unquote

from evaluators.cases import JsonValue
from evaluators.judge.showing.wording import compact_json

_PLAIN_NAME = re.compile(r"[^\W\d][\w-]*")
_WORDS = re.compile(r"[\W_]+")
_OF_OBJECTS = ("properties", "required", "additionalProperties")
_TYPES = {"string", "number", "integer", "boolean", "object", "array", "null"}
_ANY, _NEVER = "any", "never"
_ALL = "all of this"
_DYNAMIC = ("$dynamicRef", "$recursiveRef")

Schema: TypeAlias = dict[str, JsonValue]


def signature(schema: Mapping[str, JsonValue], name: str = "") -> str:
    """The schema as a signature; as plain JSON where a reference leads nowhere, or it is nested too deep.

    Args:
        schema: what the tool's arguments have to be.
        name: the tool's; a title that says the same is left out.
    """
    try:
        return _Signature(schema, name).text()
    except (LookupError, TypeError, ValueError, RecursionError):
        return compact_json(schema)


class _Signature:
    """Writes one schema, and after it what it refers to."""

    def __init__(self, schema: Mapping[str, JsonValue], name: str) -> None:
        self._root: Schema = dict(schema)
        self._name = name
        self._names: dict[str, str] = {}
        self._taken = _TYPES | {_ANY, _NEVER}
        self._untold: deque[tuple[str, str]] = deque()

    def text(self) -> str:
        whole = self._type(self._root, self._name)
        told: list[str] = []
        # Definitions refer to further ones.
        while self._untold:
            pointer, name = self._untold.popleft()
            told.append(f"{name} = {_ALL if pointer == '#' else self._type(self._at(pointer), name)}")
        return f"{whole} where {', '.join(told)}" if told else whole

    # -- types

    def _type(self, schema: JsonValue, name: str = "") -> str:
        """The type with everything that is said of it; `name` is what a title would only repeat."""
        if schema is True:
            return _ANY
        if schema is False:
            return _NEVER
        if not isinstance(schema, dict):
            return f"({_json(schema)})"
        parts = dict(schema)
        parts.pop("$schema", None)
        parts.pop("$defs", None)
        parts.pop("definitions", None)
        if _plain(parts.get("title")) == _plain(name):
            parts.pop("title", None)
        description = parts.pop("description", None)
        has_default, default = "default" in parts, parts.pop("default", None)
        text = self._core(parts) + self._rest(parts)
        if has_default:
            text += f" = {_json(default)}"
        if description not in (None, ""):
            text += f" {_json(description)}"
        return text

    def _core(self, parts: Schema) -> str:
        """What has a sign of its own.  Whatever says a part takes it out of the parts."""
        said = [text for text in (self._reference(parts), self._alternatives(parts), self._values(parts)) if text]
        if isinstance(of_all := parts.get("allOf"), list) and of_all:
            del parts["allOf"]
            said += [self._type(one) for one in of_all]
        if kind := self._kind(parts, implied=bool(said)):
            said = [kind, *said]
        return " & ".join(map(_within, said) if len(said) > 1 else said) or _ANY

    def _reference(self, parts: Schema) -> str:
        pointer = parts.get("$ref")
        if not isinstance(pointer, str):
            return ""
        del parts["$ref"]
        return self._name_of(pointer)

    def _alternatives(self, parts: Schema) -> str:
        said = []
        for keyword in ("anyOf", "oneOf"):
            choices = parts.get(keyword)
            if isinstance(choices, list) and choices:
                del parts[keyword]
                types = "|".join(_within(self._type(choice)) for choice in choices)
                said.append(types if keyword == "anyOf" else f"one of ({types})")
        return " & ".join(map(_within, said) if len(said) > 1 else said)

    def _values(self, parts: Schema) -> str:
        values = parts.get("enum")
        text = ""
        if isinstance(values, list) and values:
            del parts["enum"]
            text = "|".join(map(_json, values))
            if all(_is_of(value, parts.get("type")) for value in values):
                parts.pop("type", None)
        if "const" in parts:
            constant = parts.pop("const")
            if _is_of(constant, parts.get("type")):
                parts.pop("type", None)
            text = f"{_within(text)} & {_json(constant)}" if text else _json(constant)
        return text

    def _kind(self, parts: Schema, *, implied: bool) -> str:
        """The types by name, objects and lists with what is in them."""
        kinds = parts.get("type")
        listed = kinds if isinstance(kinds, list) else [kinds]
        known = [kind for kind in listed if isinstance(kind, str) and kind in _TYPES]
        if "type" in parts and len(known) == len(listed) and known:
            del parts["type"]
        else:
            known = []
        if not known and isinstance(parts.get("properties"), dict):
            known = ["object"]
        said = [self._named_kind(kind, parts) for kind in known]
        return "|".join(said) if said or implied else _ANY

    def _named_kind(self, kind: str, parts: Schema) -> str:
        if kind == "object" and any(keyword in parts for keyword in _OF_OBJECTS):
            return self._object(parts)
        if kind == "array" and isinstance(items := parts.get("items"), dict | bool):
            del parts["items"]
            return f"{_within(self._type(items))}[]"
        return kind

    def _object(self, parts: Schema) -> str:
        properties = parts.get("properties", {})
        required = parts.get("required", [])
        if not isinstance(properties, dict) or not _are_names(required):
            return "object"
        parts.pop("properties", None)
        parts.pop("required", None)
        needed = set(required)
        told = [
            f"{_name(name)}{'' if name in needed else '?'}: {self._type(schema, name)}"
            for name, schema in properties.items()
        ]
        told += [f"{_name(name)}: {_ANY}" for name in dict.fromkeys(required) if name not in properties]
        if "additionalProperties" in parts:
            others = parts.pop("additionalProperties")
            told.append("no others" if others is False else f"...: {self._type(others)}")
        return "{" + ", ".join(told) + "}"

    def _rest(self, parts: Schema) -> str:
        """The keywords that have no sign of their own."""
        if not parts.keys().isdisjoint(_DYNAMIC):
            raise LookupError("what this refers to depends on where it is used")
        for pointer in _references(list(parts.values())):
            self._name_of(pointer)
        return f"({', '.join(f'{keyword} {_json(value)}' for keyword, value in parts.items())})" if parts else ""

    # -- references

    def _name_of(self, pointer: str) -> str:
        """The name of what a reference refers to.

        Raises:
            LookupError: it refers to nothing within the schema.
        """
        if pointer not in self._names:
            self._at(pointer)
            last = pointer.rpartition("/")[2]
            name = last if _PLAIN_NAME.fullmatch(last) and last not in self._taken else f"<{pointer}>"
            self._names[pointer] = name
            self._taken.add(name)
            self._untold.append((pointer, name))
        return self._names[pointer]

    def _at(self, pointer: str) -> JsonValue:
        """What a reference within the schema refers to."""
        start, *steps = unquote(pointer).split("/")
        if start != "#":
            raise LookupError("it refers to another document, or to an anchor")
        found: JsonValue = self._root
        for step in steps:
            key = step.replace("~1", "/").replace("~0", "~")
            match found:
                case dict():
                    found = found[key]
                case list():
                    found = found[int(key)]
                case _:
                    raise LookupError("it refers to nothing")
        return found


def _references(value: JsonValue) -> Iterator[str]:
    if isinstance(value, dict):
        if isinstance(pointer := value.get("$ref"), str):
            yield pointer
        for inner in value.values():
            yield from _references(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _references(inner)


def _within(text: str) -> str:
    """The text of a type so that it can stand beside a sign or another type."""
    return text if re.fullmatch(r"[\w-]+|\"[^\"\\]*\"", text) else f"({text})"


def _is_of(value: JsonValue, kinds: JsonValue) -> bool:
    """Whether a value shows its type by itself, so that the type need not be told."""
    match value:
        case None:
            own = {"null"}
        case bool():
            own = {"boolean"}
        case str():
            own = {"string"}
        case int():
            own = {"integer", "number"}
        case float():
            own = {"number"}
        case _:
            return False
    return any(kind in own for kind in (kinds if isinstance(kinds, list) else [kinds]) if isinstance(kind, str))


def _are_names(value: JsonValue) -> TypeGuard[list[str]]:
    return isinstance(value, list) and all(isinstance(one, str) for one in value)


def _name(name: str) -> str:
    return name if _PLAIN_NAME.fullmatch(name) else _json(name)


def _plain(text: JsonValue) -> str | None:
    return _WORDS.sub("", text).casefold() if isinstance(text, str) else None


def _json(value: JsonValue) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
