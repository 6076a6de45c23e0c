"""Attributes that were taken apart → the keys and values that the instrumentation wrote.

Backends keep dotted keys as nested objects ({"llm": {"model_name": …}}), and decode some of the JSON texts in them.
Here objects become dotted keys again, lists of objects dotted keys with places, and what conventions define as JSON
text becomes text.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from collector.receivers.formats.plain_span import json_of

_JSON_TEXTS = (
    "document.metadata",
    "tool.parameters",
    "tool.json_schema",
    "function.arguments",
    "llm.invocation_parameters",
    "llm.prompt_template.variables",
    "llm.function_call",
    "input.value",
    "output.value",
    "gen_ai.input.messages",
    "gen_ai.output.messages",
    "gen_ai.system_instructions",
    "gen_ai.tool.definitions",
    "gen_ai.tool.call.arguments",
    "gen_ai.tool.call.result",
)
"""Ends of keys whose values are JSON in text, in OpenInference and in the GenAI semantic conventions."""
_MAX_DEPTH = 24
_METADATA = "metadata"  # JSON in text where it stands alone


def restored(attributes: Mapping[str, object]) -> dict[str, object]:
    """Flat attributes as they are on a span. Nulls are left out."""
    flat: dict[str, object] = {}
    for key, value in attributes.items():
        if isinstance(value, dict | list):
            flat.update(_flat(key, value, 0))
        elif value is not None:
            flat[key] = value
    return flat


def _flat(key: str, value: object, depth: int) -> Iterator[tuple[str, object]]:
    if not isinstance(value, dict | list):
        if value is not None:
            yield key, value
    elif _is_json_text(key) or depth > _MAX_DEPTH:
        yield key, json_of(value)
    elif isinstance(value, dict):
        for name, item in value.items():
            yield from _flat(f"{key}.{name}", item, depth + 1)
    elif any(isinstance(item, dict) for item in value):
        for place, item in enumerate(value):
            yield from _flat(f"{key}.{place}", item, depth + 1)
    elif any(isinstance(item, list) for item in value):
        yield key, json_of(value)
    else:
        yield key, value


def _is_json_text(key: str) -> bool:
    return key == _METADATA or any(key == end or key.endswith(f".{end}") for end in _JSON_TEXTS)
