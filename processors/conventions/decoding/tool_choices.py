"""What a request says of choosing tools, in the forms of all providers: freely, one at least, none, or this one.

OpenAI (words, a function by name, `allowed_tools`), Anthropic (`type`), Bedrock (`{"any": {}}`, `{"tool": {"name"}}`)
and Gemini (`mode`, `allowedFunctionNames`).
"""

from __future__ import annotations

from collections.abc import Mapping

from evaluators.cases import JsonValue
from processors.conventions.decoding.values import first_at

_FREE = {"auto": "auto", "validated": "auto", "any": "required", "required": "required", "none": "none"}


def read_choice(choice: JsonValue) -> str | None:
    """ "auto", "none", "required" or the name of the forced tool; None when it can't be read."""
    if isinstance(choice, str):
        return _FREE.get(choice.casefold(), choice) or None
    if not isinstance(choice, dict):
        return None
    if (name := _forced(choice)) is not None:
        return name
    kind = choice.get("type")
    if kind == "allowed_tools":
        inner = choice.get("allowed_tools")
        return _mode(inner if isinstance(inner, dict) else choice)
    if isinstance(kind, str):
        return _FREE.get(kind.casefold(), kind)
    return _mode(choice) or next((_FREE[word] for word in ("auto", "any", "none") if word in choice), None)


def _forced(choice: Mapping[str, JsonValue]) -> str | None:
    for place in (choice.get("function"), choice.get("tool"), choice):
        name = first_at(place, "name", "toolName") if isinstance(place, dict) else None
        if isinstance(name, str):
            return name
    return None


def _mode(choice: Mapping[str, JsonValue]) -> str | None:
    mode = choice.get("mode")
    if not isinstance(mode, str):
        return None
    free = _FREE.get(mode.casefold())
    names = first_at(choice, "allowed_function_names", "allowedFunctionNames")
    if free == "required" and isinstance(names, list) and len(names) == 1 and isinstance(names[0], str):
        return names[0]
    return free
