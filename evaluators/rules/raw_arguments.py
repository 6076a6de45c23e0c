"""The arguments of a call as an object, whatever an instrumentation made of them, or why there is none.

In: a call.  Out: an object, or the state it is in.  Whether text that is no JSON is the model's fault depends on who
wrote it: Python's spelling of a dictionary is an instrumentation's, a cut text is the cut's, and a call that was
executed successfully must have had arguments that could be read.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from evaluators.cases import JsonValue, ToolCall

_LONGEST_LITERAL = 100_000
# the lowest limit for the length of attributes that is in use is 128
_SHORTEST_LIMIT = 120


class ArgumentState(StrEnum):
    """What is known of a call's arguments."""

    OBJECT = "object"
    NOT_CAPTURED = "not_captured"
    NOT_JSON = "not_json"
    NOT_AN_OBJECT = "not_an_object"


@dataclass(frozen=True, slots=True)
class RawArguments:
    """The object, or the text it was not; `value` is empty unless `state` is object."""

    state: ArgumentState
    value: Mapping[str, JsonValue]
    text: str = ""


def read_arguments(call: ToolCall) -> RawArguments:
    """The arguments of `call` as an object, if they are or spell one."""
    raw = call.arguments
    if raw is None:
        return RawArguments(ArgumentState.NOT_CAPTURED, {})
    if not isinstance(raw, str):
        return RawArguments(ArgumentState.OBJECT, raw)
    parsed: JsonValue = raw
    # Encoded twice by some instrumentations.
    for _ in range(2):
        if isinstance(parsed, str):
            text = parsed.strip()
            if text in ("", "null", "None", "{}"):
                return RawArguments(ArgumentState.OBJECT, {})
            try:
                parsed = json.loads(text)
            except (ValueError, RecursionError):
                literal = _literal(text)
                if literal is not None:
                    return RawArguments(ArgumentState.OBJECT, literal)
                return RawArguments(ArgumentState.NOT_JSON, {}, raw)
    if isinstance(parsed, dict):
        return RawArguments(ArgumentState.OBJECT, parsed)
    return RawArguments(ArgumentState.NOT_AN_OBJECT, {}, raw)


def may_be_mangled(text: str) -> bool:
    """Whether an instrumentation may have spoilt arguments that were JSON: cut at its limit, or joined with others'."""
    stripped = text.strip()
    if len(stripped) >= _SHORTEST_LIMIT and not stripped.endswith(("}", "]")):
        return True
    try:
        _, end = json.JSONDecoder().raw_decode(stripped)
    except (ValueError, RecursionError):
        return False
    return stripped[end:].lstrip()[:1] == "{"


def _literal(text: str) -> dict[str, JsonValue] | None:
    if not text.startswith("{") or len(text) > _LONGEST_LITERAL:
        return None
    try:
        value = ast.literal_eval(text)
        again = json.loads(json.dumps(value))
    except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
        return None
    return again if isinstance(again, dict) else None
