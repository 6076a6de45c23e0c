"""When two accounts of a call speak of the same call."""

from __future__ import annotations

import re
from collections.abc import Mapping

import orjson

from evaluators.cases import JsonValue
from processors.conventions.decoding.values import as_text

_NOT_A_LETTER = re.compile(r"[^a-z0-9]+")


def signature(arguments: JsonValue | Mapping[str, JsonValue]) -> bytes:
    """Arguments in one spelling: keys in order, no white space; texts as they are."""
    if isinstance(arguments, str):
        return arguments.strip().encode(errors="replace")
    try:
        return orjson.dumps(arguments, option=orjson.OPT_SORT_KEYS)
    except (orjson.JSONEncodeError, UnicodeError):
        return (as_text(dict(arguments) if isinstance(arguments, Mapping) else arguments) or "").encode(
            errors="replace"
        )


def name_key(name: str | None) -> str:
    """A tool's name in one spelling: frameworks write the same tool as `Delegate work` and `delegate_work`."""
    return _NOT_A_LETTER.sub("_", (name or "").lower()).strip("_")


def call_key(name: str | None, arguments: JsonValue | Mapping[str, JsonValue]) -> tuple[str, bytes]:
    """A call by what it says, whatever id it has."""
    return name_key(name), signature(arguments)
