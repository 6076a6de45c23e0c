"""Decoding the values in which instrumentations put content: JSON in strings, Python literals, flattened lists.

Pure functions of a value; what can't be decoded comes back as the text it was.  Nothing here raises, and nothing is
evaluated: Python literals are read as literals only, and only up to a size.
"""

from __future__ import annotations

import ast
import json
import math
import re
import warnings
from collections.abc import Mapping

import orjson

from evaluators.cases import JsonValue

REDACTED = "__REDACTED__"
PLACEHOLDERS = frozenset(
    {REDACTED, "<elided>", "<redacted>", "<REDACTED>", "[REDACTED]", "[redacted]", "REDACTED"}
    | {"Function called with tools"}
)
"""What instrumentations write in place of content that they were told to hide, or have no place for."""
MAX_LITERAL_CHARS = 100_000
MAX_DEPTH = 100
_MOST_DIGITS = 18
_BITS_64 = range(-(1 << 63), 1 << 64)
_SURROGATE = re.compile("[\ud800-\udfff]")
_BETWEEN = re.compile(r"[\s,]*+")
_DECODER = json.JSONDecoder()
_LITERAL_START = ("{", "[", "(", "'")


def parsed(value: JsonValue) -> JsonValue:
    """A string that holds a JSON object, list or quoted string as what it holds; everything else as it is."""
    if not isinstance(value, str):
        return value
    text = value.strip()
    if not text or text[0] not in '{["':
        return value
    decoded = from_json(text)
    return value if decoded is None else decoded


def from_json(text: str) -> JsonValue:
    """What a JSON text holds; None when it is no JSON (or holds null)."""
    try:
        decoded: JsonValue = orjson.loads(text)
    except (orjson.JSONDecodeError, UnicodeEncodeError):
        return _from_lenient_json(text)
    if text.count("[") + text.count("{") > MAX_DEPTH:
        try:
            orjson.dumps(decoded)
        except orjson.JSONEncodeError:
            # Deeper than can be written again: what is below is nobody's content.
            return clean(decoded)
    return decoded


def _from_lenient_json(text: str) -> JsonValue:
    # Python's own encoder writes NaN and lone surrogates, which strict parsers refuse.
    if "NaN" not in text and "Infinity" not in text and "\\ud" not in text and "\\uD" not in text:
        return None
    try:
        return clean(json.loads(text))
    except (ValueError, RecursionError):
        return None


def json_in_a_row(text: str) -> list[JsonValue]:
    """The JSON values that a text consists of one after the other, commas between them or not; else an empty list."""
    found: list[JsonValue] = []
    at = 0
    while between := _BETWEEN.match(text, at):
        at = between.end()
        if at == len(text):
            return found
        try:
            value, at = _DECODER.raw_decode(text, at)
        except (ValueError, RecursionError):
            break
        found.append(clean(value))
    return []


def from_python(text: str) -> JsonValue:
    """What the repr of plain Python data holds; None when it isn't one, or is too long to be looked at."""
    if len(text) > MAX_LITERAL_CHARS or not text.startswith(_LITERAL_START):
        return None
    try:
        return literal(text)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return None


def literal(text: str) -> JsonValue:
    """What a Python literal stands for; raises what `ast.literal_eval` does."""
    with warnings.catch_warnings():
        # Python warns of needless backslashes on standard error and quotes them.
        warnings.simplefilter("ignore")
        return clean(ast.literal_eval(text))


def data(value: JsonValue) -> JsonValue:
    """`parsed`, and Python reprs as well."""
    decoded = parsed(value)
    if isinstance(decoded, str):
        literal = from_python(decoded.strip())
        return decoded if literal is None else literal
    return decoded


def clean(value: object, depth: int = 0) -> JsonValue:
    """A value as JSON can hold it: non-finite numbers and unknown types as text, lone surrogates as U+FFFD.

    Integers beyond 64 bits become what readers of JSON make of them.
    """
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        return value if value in _BITS_64 else clean(_rounded(value))
    if isinstance(value, str):
        return _SURROGATE.sub("\ufffd", value)
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if depth > MAX_DEPTH:
        return None
    if isinstance(value, Mapping):
        return {_SURROGATE.sub("\ufffd", str(key)): clean(item, depth + 1) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [clean(item, depth + 1) for item in value]
    return str(value)


def _rounded(number: int) -> float:
    try:
        return float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf


def as_object(value: JsonValue) -> dict[str, JsonValue]:
    """The object that a value is or holds as text; an empty one when it is something else."""
    decoded = parsed(value)
    return decoded if isinstance(decoded, dict) else {}


def as_list(value: JsonValue) -> list[JsonValue]:
    """The list that a value is or holds as text; an empty one when it is something else."""
    decoded = parsed(value)
    return decoded if isinstance(decoded, list) else []


def as_text(value: JsonValue) -> str | None:
    """A value as the text a model would be shown: strings as they are, other values as JSON, None as None."""
    if value is None or isinstance(value, str):
        return value
    try:
        return orjson.dumps(value).decode()
    except (orjson.JSONEncodeError, UnicodeError):
        return json.dumps(clean(value), ensure_ascii=False)


def text_at(mapping: Mapping[str, JsonValue], *keys: str) -> str | None:
    """The first non-empty string under one of `keys`."""
    for key in keys:
        value = mapping.get(key)
        if isinstance(value, str) and value:
            return value
    return None


def first_at(mapping: Mapping[str, JsonValue], *keys: str) -> JsonValue:
    """The value under the first of `keys` that is there and isn't null."""
    for key in keys:
        value = mapping.get(key)
        if value is not None:
            return value
    return None


def is_place(number: str) -> bool:
    """Whether a part of a flattened key is a place in a list, and not merely digits without end."""
    return number.isdecimal() and len(number) <= _MOST_DIGITS


def flattened(attributes: Mapping[str, JsonValue], prefix: str) -> list[dict[str, JsonValue]]:
    """The items of a list that was flattened into attributes: `prefix.N.rest` → item N with key `rest`, in order of N.

    `prefix` ends with a dot.  An item without a rest (`prefix.N`) has the key "".
    """
    items: dict[int, dict[str, JsonValue]] = {}
    start = len(prefix)
    for key, value in attributes.items():
        if key.startswith(prefix):
            number, _, rest = key[start:].partition(".")
            if is_place(number):
                items.setdefault(int(number), {})[rest] = value
    return [items[number] for number in sorted(items)]
