"""Names of types as schemas and signatures write them, and the JSON types they stand for.

In: `STRING`, `float`, `list(str)`, `Optional[int]`, `str | None`.  Out: JSON Schema's own names.  A name that isn't
known stands for anything.
"""

from __future__ import annotations

import re

from evaluators.cases import JsonValue

_TYPES: dict[str, str] = {
    "string": "string", "str": "string", "text": "string", "char": "string", "date": "string", "datetime": "string",
    "integer": "integer", "int": "integer", "long": "integer", "int32": "integer", "int64": "integer",
    "number": "number", "float": "number", "double": "number", "decimal": "number", "numeric": "number",
    "boolean": "boolean", "bool": "boolean",
    "array": "array", "list": "array", "tuple": "array", "set": "array", "sequence": "array",
    "object": "object", "dict": "object", "dictionary": "object", "map": "object",
    "mapping": "object", "hashmap": "object",
    "null": "null", "none": "null", "nonetype": "null",
}  # fmt: skip
_GENERIC = re.compile(r"(?:typing\.)?([a-z]+)\s*[\[(<].*[\])>]", re.DOTALL)
_LONGEST_NAME = 200
_JAVASCRIPT_ARRAY = re.compile(r"[a-z]+\[\]")


def json_types(name: str) -> list[str] | None:
    """The JSON types that a type's name stands for; None when it is unknown or stands for anything."""
    plain = name.strip().lower()
    if len(plain) > _LONGEST_NAME:
        return None
    if plain in _TYPES:
        return [_TYPES[plain]]
    if _JAVASCRIPT_ARRAY.fullmatch(plain):
        return ["array"]
    if optional := re.fullmatch(r"(?:typing\.)?optional\[(.*)\]", plain, re.DOTALL):
        inner = json_types(optional[1])
        return None if inner is None else [*inner, "null"]
    if union := re.fullmatch(r"(?:typing\.)?union\[(.*)\]", plain, re.DOTALL):
        return json_types(union[1].replace(",", "|")) if "[" not in union[1] else None
    if "|" in plain and "[" not in plain:
        parts = [json_types(part) for part in plain.split("|")]
        return None if any(part is None for part in parts) else [one for part in parts if part for one in part]
    generic = _GENERIC.fullmatch(plain)
    return [_TYPES[generic[1]]] if generic and generic[1] in _TYPES else None


def as_list(value: JsonValue) -> list[JsonValue]:
    """A keyword that may be one value or a list of them, as a list."""
    if value is None or isinstance(value, bool):
        return []
    return list(value) if isinstance(value, list) else [value]


def is_of(value: JsonValue, types: JsonValue) -> bool:
    """Whether a value is of one of the JSON types; null, which says that there is none, is of every type."""
    if types is None:
        return True
    names = as_list(types)
    if isinstance(value, bool):
        return "boolean" in names
    if isinstance(value, int | float):
        return "number" in names or ("integer" in names and (isinstance(value, int) or value.is_integer()))
    if value is None:
        return True
    kind = {str: "string", list: "array", dict: "object"}[type(value)]
    return kind in names


def other_spellings(choices: list[JsonValue]) -> list[JsonValue]:
    """The numbers and truth values that texts spell, and the texts that numbers and truth values have."""
    spelt: list[JsonValue] = []
    for one in choices:
        if isinstance(one, str):
            lowered = one.strip().lower()
            if lowered in ("true", "false"):
                spelt.append(lowered == "true")
            else:
                try:
                    spelt.append(float(lowered))
                except ValueError:
                    continue
        elif isinstance(one, bool):
            spelt += ["true", "True"] if one else ["false", "False"]
        elif isinstance(one, int | float):
            spelt.append(str(one))
    return spelt
