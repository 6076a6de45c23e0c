"""How texts are made comparable, and how a JSON object is found in one.

In: text as a model or a tool wrote it.  Out: the same with full-width forms made plain; the same without blanks and
marks, in which quotes are looked for; or the JSON object that the text is or holds.  Never raises.
"""

from __future__ import annotations

import json
import re
import unicodedata
from enum import StrEnum
from functools import lru_cache

import orjson

from evaluators.cases import JsonValue

MAX_CHARS = 200_000
_FENCED = re.compile(r"```[\w-]*[ \t]*\n(.*?)\n?[ \t]*```", re.DOTALL)
_MOST_BRACES = 8
_MARKS = str.maketrans("", "", "\"'“”‘’「」『』*_`>#|~\\")


class Shape(StrEnum):
    """How a text holds a JSON object: it is one, it holds one among other text, or it holds none."""

    BARE_JSON = "bare_json"
    JSON = "json"
    TEXT = "text"


@lru_cache(maxsize=16)
def plain(text: str) -> str:
    """The text in NFKC, with escaped line ends as line ends, its first 200,000 characters."""
    return unicodedata.normalize("NFKC", text[:MAX_CHARS]).replace("\\n", "\n").replace("\\t", " ")


def is_cut(text: str) -> bool:
    """Whether there is more of the text than is looked at."""
    return len(text) > MAX_CHARS


@lru_cache(maxsize=16)
def compact(text: str) -> str:
    """The characters of a `plain` text that aren't blanks or marks, without regard to case.

    What stands before a place of the text stands before it here as well: `len(compact(text[:at]))` is where it went.
    """
    return "".join(text.translate(_MARKS).split()).casefold()


def object_in(text: str | None) -> tuple[dict[str, JsonValue] | None, Shape]:
    """The JSON object that a text is or holds (in a code block or among words), and which of the two."""
    if text is None:
        return None, Shape.TEXT
    stripped = text.strip()
    whole = _parsed(stripped)
    if whole is not None:
        return whole, Shape.BARE_JSON
    stripped = stripped[:MAX_CHARS]
    for found in _FENCED.finditer(stripped):
        if (inner := _parsed(found.group(1).strip())) is not None:
            return inner, Shape.JSON
    end = stripped.rfind("}")
    start = stripped.find("{")
    for _ in range(_MOST_BRACES):
        if not 0 <= start < end:
            break
        if (inner := _parsed(stripped[start : end + 1])) is not None:
            return inner, Shape.JSON
        start = stripped.find("{", start + 1)
    return None, Shape.TEXT


def as_text(value: JsonValue) -> str:
    """A field's value as text to be searched: strings as they are, anything else as JSON; "" for what can't be."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    try:
        return orjson.dumps(value).decode()
    except orjson.JSONEncodeError:
        pass
    try:
        # numbers of any size and lone surrogates, which the faster one refuses
        return json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):
        return ""


def is_empty(value: JsonValue) -> bool:
    """Null, blank, without items, or with nothing but such."""
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, dict):
            waiting += one.values()
        elif isinstance(one, list):
            waiting += one
        elif one is not None and not (isinstance(one, str) and not one.strip()):
            return False
    return True


def _parsed(text: str) -> dict[str, JsonValue] | None:
    if not (text.startswith("{") and text.endswith("}")):
        return None
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError:
        return None
    return value if isinstance(value, dict) else None
