"""Checks the arguments of a call against the schema of its tool, strictly and without false alarms.

In: a tool's parameters as they were captured, and the arguments as an object.  Out: what breaks the schema.  Arguments
that the schema doesn't name are faults unless it is open; null for an optional argument, and a value equal to the
default, are as good as absent.  `format` is not checked here (see `stated_formats`), `$ref`s are never fetched, and a
schema that can't be read yields no faults instead of an error.
"""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

import regex
from jsonschema import Draft202012Validator, validators
from jsonschema.exceptions import ValidationError
from referencing import Registry

from evaluators.cases import JsonValue
from evaluators.issues import IssueCode
from evaluators.rules.schema_forms import Schema, Shape, shape_of
from evaluators.rules.secrets import shown

_MOST_FAULTS = 20
_MOST_ITEMS = 1_000
_QUOTE_LENGTH = 60
_PATTERN_TIME_S = 0.02
_LONGEST_PATTERN = 500
_LONGEST_MATCHED_TEXT = 10_000


@dataclass(frozen=True, slots=True)
class Fault:
    """A breach of the schema. `argument` is the name at the top level, `path` where exactly (`filters.dates[0]`).

    `excusable`: a tool may well take it: a choice that is one of the schema's but for capitals, or any value where the
    schema says no more than that it is an object, which is what frameworks write for types that they can't describe.
    """

    code: IssueCode
    argument: str
    path: str
    detail: str
    excusable: bool = False


@dataclass(frozen=True, slots=True)
class CompiledSchema:
    """A tool's parameters, ready to check arguments against."""

    shape: Shape
    validator: Any

    def faults(self, arguments: Mapping[str, JsonValue]) -> list[Fault]:
        """What breaks the schema, in the order of the schema, at most twenty."""
        present = _without_absent(dict(arguments), self.shape.schema)
        errors: Iterator[ValidationError] = self.validator.iter_errors(present)
        try:
            found = list(islice((fault for error in errors for fault in _faults_of(error)), _MOST_FAULTS))
        except (RecursionError, OverflowError):
            return []
        return list({(fault.code, fault.path): fault for fault in found}.values())


class SchemaCache:
    """Compiled schemas by their text; the least recently used leave first."""

    def __init__(self, most_schemas: int = 512, longest_text: int = 100_000) -> None:
        self._most = most_schemas
        self._longest = longest_text
        self._compiled: OrderedDict[str, CompiledSchema | None] = OrderedDict()

    def get(self, parameters: Mapping[str, JsonValue] | None) -> CompiledSchema | None:
        """The compiled form of `parameters`; None when nothing can be checked against them."""
        if parameters is None:
            return None
        try:
            text = json.dumps(parameters, ensure_ascii=False, separators=(",", ":"))
        except (TypeError, ValueError, RecursionError):
            return None
        if text in self._compiled:
            self._compiled.move_to_end(text)
            return self._compiled[text]
        compiled = compile_schema(parameters)
        if len(text) <= self._longest:
            self._compiled[text] = compiled
            if len(self._compiled) > self._most:
                self._compiled.popitem(last=False)
        return compiled


def compile_schema(parameters: Mapping[str, JsonValue]) -> CompiledSchema | None:
    """Parameters made ready; None when they are no schema of arguments."""
    shape = shape_of(parameters)
    return None if shape is None else CompiledSchema(shape, _Validator(shape.schema, registry=Registry()))


def _pattern(_validator: object, pattern: str, instance: object, _schema: object) -> Iterator[ValidationError]:
    """Like the library's own, but in bounded time; a pattern that can't be tried in it decides nothing."""
    if not isinstance(instance, str) or len(pattern) > _LONGEST_PATTERN or len(instance) > _LONGEST_MATCHED_TEXT:
        return
    try:
        found = regex.search(pattern, instance, timeout=_PATTERN_TIME_S)
    except (regex.error, TimeoutError, MemoryError, RecursionError, OverflowError):
        return
    if found is None:
        yield ValidationError("does not match the pattern")


_extend: Any = validators.extend  # untyped in the library
_Validator: Any = _extend(Draft202012Validator, {"pattern": _pattern})

_SAYS_NOTHING = frozenset({"type", "title", "description", "properties", "required", "additionalProperties"})
_LIMITS = {
    "minimum": "at least",
    "maximum": "at most",
    "exclusiveMinimum": "more than",
    "exclusiveMaximum": "less than",
    "minLength": "at least this many characters:",
    "maxLength": "at most this many characters:",
    "minItems": "at least this many items:",
    "maxItems": "at most this many items:",
    "minProperties": "at least this many fields:",
    "maxProperties": "at most this many fields:",
}


def _faults_of(error: ValidationError) -> Iterator[Fault]:
    path = _path(error.absolute_path)
    argument = _top(error.absolute_path)
    keyword, value = error.validator, error.instance
    expected: Any = error.validator_value
    schema: Any = error.schema
    if _is_default(schema, value):
        return
    if keyword == "required" and isinstance(value, Mapping):
        for name in expected:
            if name not in value:
                inner = _join(path, _short(name))
                yield Fault(IssueCode.MISSING_ARGUMENT, argument or name, inner, f"Required `{inner}` is missing.")
    elif keyword == "additionalProperties" and isinstance(value, Mapping):
        known = schema.get("properties", {})
        for name in value:
            if name not in known:
                inner = _join(path, _short(name))
                detail = f"`{inner}` is not an argument that the schema knows."
                yield Fault(IssueCode.UNEXPECTED_ARGUMENT, argument or name, inner, detail)
    elif keyword == "type":
        detail = f"`{path}` must be {_names(expected)}, not {_kind(value)}."
        yield Fault(IssueCode.WRONG_TYPE, argument, path, detail, excusable=_says_only_object(schema))
    elif keyword == "enum":
        shown = ", ".join(_quoted(one) for one in islice(expected, 8)) + (", …" if len(expected) > 8 else "")
        detail = f"`{path}` is {_quoted(value)}, which is not one of {shown}."
        folded = {one.casefold() for one in expected if isinstance(one, str)}
        other_case = isinstance(value, str) and value.casefold() in folded
        yield Fault(IssueCode.NOT_IN_ENUM, argument, path, detail, excusable=other_case)
    elif keyword == "pattern":
        detail = f"`{path}` is {_quoted(value)}, which does not match {_short(str(expected))}."
        yield Fault(IssueCode.PATTERN, argument, path, detail)
    elif keyword in _LIMITS:
        detail = f"`{path}` is {_quoted(value)}; it must be {_LIMITS[keyword]} {expected}."
        yield Fault(IssueCode.WRONG_VALUE, argument, path, detail)
    elif keyword == "anyOf" and error.context:
        yield from _faults_of_alternatives(error, path, argument)


def _faults_of_alternatives(error: ValidationError, path: str, argument: str) -> Iterator[Fault]:
    """The faults in the alternative that was meant: the one whose type fits, else the type itself."""
    branches: dict[int, list[ValidationError]] = {}
    for inner in error.context or ():
        branches.setdefault(int(inner.relative_schema_path[0]), []).append(inner)
    fitting = [
        errors
        for errors in branches.values()
        if not any(inner.validator == "type" and not inner.relative_path for inner in errors)
    ]
    if fitting:
        for inner in min(fitting, key=len):
            yield from _faults_of(inner)
        return
    wanted = [name for errors in branches.values() for inner in errors for name in _list(inner.validator_value)]
    detail = f"`{path}` must be {_names(list(dict.fromkeys(wanted)))}, not {_kind(error.instance)}."
    yield Fault(IssueCode.WRONG_TYPE, argument, path, detail)


def _without_absent(value: JsonValue, schema: Schema | JsonValue, depth: int = 0) -> JsonValue:
    """`value` without the nulls that stand for optional arguments left out, and with no more items than are checked."""
    if not isinstance(schema, Mapping) or depth > 20:
        return value
    if isinstance(value, dict):
        properties = schema.get("properties")
        required = _list(schema.get("required"))
        inner = properties if isinstance(properties, Mapping) else {}
        names = [*islice(value, _MOST_ITEMS), *(name for name in inner if name in value)]
        return {
            name: _without_absent(value[name], inner.get(name), depth + 1)
            for name in names
            if not (value[name] is None and name not in required)
        }
    if isinstance(value, list):
        least = schema.get("minItems")
        kept = max(_MOST_ITEMS, least if isinstance(least, int) else 0)
        return [_without_absent(one, schema.get("items"), depth + 1) for one in value[:kept]]
    return value


def _is_default(schema: object, value: object) -> bool:
    return isinstance(schema, Mapping) and "default" in schema and schema["default"] == value


def _says_only_object(schema: object) -> bool:
    if not isinstance(schema, Mapping) or schema.get("type") != "object" or not schema.keys() <= _SAYS_NOTHING:
        return False
    return not schema.get("properties") and not schema.get("required")


def _path(parts: Iterable[str | int]) -> str:
    path = ""
    for part in parts:
        path = f"{path}[{part}]" if isinstance(part, int) else _join(path, _short(part))
    return path or "arguments"


def _join(path: str, name: str) -> str:
    return name if path in ("", "arguments") else f"{path}.{name}"


def _top(parts: Iterable[str | int]) -> str:
    first = next(iter(parts), "")
    return str(first)


def _short(text: str) -> str:
    return shown(text, _QUOTE_LENGTH)


def _quoted(value: object) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return f"'{shown(text, _QUOTE_LENGTH)}'"


def _names(types: object) -> str:
    return " or ".join(str(one) for one in _list(types)) or "of another type"


def _list(value: object) -> list[object]:
    if value is None:
        return []
    return list(value) if isinstance(value, list | tuple) else [value]


def _kind(value: object) -> str:
    if isinstance(value, bool):
        return f"the boolean {str(value).lower()}"
    if value is None:
        return "null"
    if isinstance(value, int | float):
        return f"the number {value}"
    if isinstance(value, str):
        return f"the text {_quoted(value)}"
    return "a list" if isinstance(value, list) else "an object"
