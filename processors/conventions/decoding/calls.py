"""Calls of tools and their arguments, in any of the shapes that providers and frameworks give them.

In goes a decoded object, out comes a call as the model asked for it; or the value of a tool's own span, and out come
the arguments that the tool was executed with.
"""

from __future__ import annotations

from collections.abc import Mapping

from evaluators.cases import JsonValue
from processors.conventions.decoding.cut import OpenObject, whole_json
from processors.conventions.decoding.values import as_text, data, first_at, from_json, text_at
from processors.conventions.facts import CallFacts

CALL_TYPES = frozenset(
    {"tool_call", "tool_use", "tool-call", "function_call", "custom_tool_call", "mcp_call", "server_tool_use"}
    | {"server_tool_call", "toolcall"}
)
ID_KEYS = ("call_id", "tool_call_id", "toolCallId", "tool_use_id", "toolUseId", "id", "ref")
NAME_KEYS = ("name", "toolName", "tool_name", "tool")
ARGUMENT_KEYS = ("arguments", "args", "input", "parameters", "kwargs", "tool_kwargs", "tool_args")
_WHOLE_CALL = {"name", "arguments", "id", "call_id", "type"}


def call_of(value: Mapping[str, JsonValue]) -> CallFacts:
    """A call in any shape: flat, or with the name and arguments under `function`, or wrapped in `tool_call`."""
    wrapped = value.get("tool_call")
    if isinstance(wrapped, dict):
        value = wrapped
    function = value.get("function")
    inner = function if isinstance(function, dict) else value
    kind = value.get("type")
    arguments = first_at(inner, *ARGUMENT_KEYS)
    cut = isinstance(inner, OpenObject) or isinstance(arguments, OpenObject)
    return CallFacts(
        name=text_at(inner, *NAME_KEYS) or (function if isinstance(function, str) else "") or "",
        id=text_at(value, *ID_KEYS),
        arguments=arguments_of(arguments) if arguments or not cut else None,
        truncated=cut,
        provider_executed=isinstance(kind, str) and (kind.startswith("server_tool") or kind == "mcp_call"),
    )


def is_told(call: CallFacts) -> bool:
    """Whether anything tells of a call: what a limit left of it may be less than its name, and then it is none."""
    return bool(call.name) or (call.arguments is not None and not call.truncated)


def arguments_of(value: JsonValue) -> JsonValue:
    """Arguments as a model gave them: an object where it is one however often encoded, else the text; None: unknown."""
    for _ in range(3):
        if isinstance(value, dict):
            return _as_given(value)
        if not isinstance(value, str):
            break
        text = value.strip()
        if not text or text == "null":
            return {}
        decoded = from_json(text) if text[0] in '{"' else None
        if decoded is None or not isinstance(decoded, dict | str):
            return value
        value = decoded
    return value if value is None or isinstance(value, str) else as_text(value)


def executed_arguments(value: JsonValue, name: str | None = None) -> JsonValue:
    """The arguments in what a tool's span gives as its input, without the wrappers that frameworks put round them.

    An object where it could be decoded, else the text as it was. By `name`, the tool's, a whole call is known as one.
    """
    decoded = data(value)
    if not isinstance(decoded, dict):
        left = whole_json(decoded)
        wrapped = _wrapped(left, name) if isinstance(left, OpenObject) else None
        # A wrapper may have been cut behind the arguments.
        if wrapped is not None and not isinstance(wrapped, OpenObject):
            return wrapped
        return value if value is None or isinstance(value, str) else as_text(value)
    found = _wrapped(decoded, name)
    return _as_given(decoded) if found is None else found


def _as_given(arguments: dict[str, JsonValue]) -> JsonValue:
    """Arguments that were no JSON as the text that they were, where a framework made an object of it."""
    spoilt = arguments.get("INVALID_JSON")
    return spoilt if isinstance(spoilt, str) and len(arguments) == 1 else arguments


def _wrapped(decoded: Mapping[str, JsonValue], name: str | None) -> dict[str, JsonValue] | None:
    """The arguments within a wrapper; None when there is none."""
    if name is not None and decoded.get("name") == name and decoded.keys() <= _WHOLE_CALL:
        inner = data(decoded.get("arguments"))
        if isinstance(inner, dict):
            return inner
    kwargs = data(decoded.get("kwargs"))
    if isinstance(kwargs, dict) and (kwargs or not decoded.get("args")) and _only_wrapper(decoded):
        inner = data(kwargs.get("kwargs")) if set(kwargs) == {"kwargs"} else None
        return inner if isinstance(inner, dict) else kwargs
    positional = decoded.get("args")
    if isinstance(positional, list) and len(positional) == 1 and not kwargs and _only_wrapper(decoded):
        whole = from_json(positional[0]) if isinstance(positional[0], str) else None
        if isinstance(whole, dict):
            return whole
    for key in ("input_str", "tool_args", "tool_kwargs"):
        inner = data(decoded.get(key))
        if isinstance(inner, dict):
            return inner
    return None


def _only_wrapper(decoded: Mapping[str, JsonValue]) -> bool:
    return set(decoded) <= {"args", "kwargs", "sanitize_inputs_outputs"}
