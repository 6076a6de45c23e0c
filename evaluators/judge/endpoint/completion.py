"""What an endpoint sent back, read: a chat completion as JSON or as a stream of events.

In: the bytes of a 200 answer.  Out: a `Completion`, or the error that some gateways put into such an answer.  Streams
are put together even where none was asked for: some servers send nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import orjson

from evaluators.cases import JsonValue


@dataclass(frozen=True, slots=True, kw_only=True)
class Completion:
    """What the model said.

    `arguments` are those of the one tool call, `reasoning` what it wrote down apart from its answer.  `reasoned`:
    tokens went into reasoning, whether it is shown or not.  `finish_reason` and `model` are the endpoint's own words.
    """

    content: str | None
    arguments: str | None
    reasoning: str | None
    refused: bool
    finish_reason: str | None
    model: str | None
    prompt_tokens: int | None
    completion_tokens: int | None
    reasoned: bool


@dataclass(frozen=True, slots=True)
class ErrorInside:
    """An error in an answer with status 200. `code` is the HTTP status it stands for, if it says so."""

    error: JsonValue
    code: int | None


@dataclass(slots=True)
class _Parts:
    content: list[str] = field(default_factory=list)
    arguments: list[str] = field(default_factory=list)
    reasoning: list[str] = field(default_factory=list)
    refused: bool = False
    finish_reason: str | None = None
    model: str | None = None
    usage: Mapping[str, JsonValue] = field(default_factory=dict)
    choices: int = 0
    calls: set[str] = field(default_factory=set)


def read_completion(body: bytes) -> Completion | ErrorInside | None:
    """The completion or the error in a body; None when it is neither.

    Raises:
        ValueError: it is neither JSON nor a stream of events.
    """
    parts = _Parts()
    for value in _values(body):
        if not isinstance(value, dict):
            return None
        error = _error_in(value)
        if error is not None:
            return error
        _add(parts, value)
    if not parts.choices:
        return None
    details = parts.usage.get("completion_tokens_details")
    reasoning_tokens = _count(details, "reasoning_tokens") if isinstance(details, dict) else None
    reasoning = "".join(parts.reasoning) or None
    content = "".join(parts.content) or None
    return Completion(
        content=content,
        # Two calls where one was asked for would be two answers.
        arguments="".join(parts.arguments) if len(parts.calls) == 1 else None,
        reasoning=reasoning,
        refused=parts.refused,
        finish_reason=parts.finish_reason,
        model=parts.model,
        prompt_tokens=_count(parts.usage, "prompt_tokens"),
        completion_tokens=_count(parts.usage, "completion_tokens"),
        reasoned=bool(reasoning_tokens or reasoning or (content or "").lstrip().startswith("<think")),
    )


def _values(body: bytes) -> list[JsonValue]:
    stripped = body.lstrip()
    if not stripped.startswith((b"data:", b"event:", b"id:", b":")):
        return [orjson.loads(stripped)]
    values: list[JsonValue] = []
    # Several `data:` lines of one event belong together (WHATWG, server-sent events).
    for event in stripped.replace(b"\r\n", b"\n").split(b"\n\n"):
        data = b"\n".join(line[5:].strip() for line in event.split(b"\n") if line.startswith(b"data:"))
        if data and data != b"[DONE]":
            values.append(orjson.loads(data))
    return values


def _error_in(value: dict[str, JsonValue]) -> ErrorInside | None:
    places: list[JsonValue] = [value]
    if isinstance(choices := value.get("choices"), list):
        places += choices
    for place in places:
        error = place.get("error") if isinstance(place, dict) else None
        if error:
            said = error.get("code") if isinstance(error, dict) else None
            code = int(said) if isinstance(said, int | str) and str(said).isdecimal() else None
            return ErrorInside(error, code if code is not None and 400 <= code <= 599 else None)
    return None


def _add(parts: _Parts, value: Mapping[str, JsonValue]) -> None:
    if isinstance(model := value.get("model"), str) and model:
        parts.model = model
    if isinstance(usage := value.get("usage"), dict):
        parts.usage = usage
    choices = value.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    if not isinstance(choice, dict):
        return
    message = choice.get("message") or choice.get("delta")
    if not isinstance(message, dict):
        return
    parts.choices += 1
    if isinstance(reason := choice.get("finish_reason"), str):
        parts.finish_reason = reason
    parts.content += _texts(message.get("content"))
    parts.reasoning += _texts(message.get("reasoning_content") or message.get("reasoning"))
    parts.refused = parts.refused or bool(message.get("refusal"))
    calls = message.get("tool_calls")
    for place, call in enumerate(calls if isinstance(calls, list) else []):
        if isinstance(call, dict):
            parts.calls.add(str(call.get("index", place)))
            _add_arguments(parts, call.get("function"))


def _add_arguments(parts: _Parts, function: JsonValue) -> None:
    arguments = function.get("arguments") if isinstance(function, dict) else None
    if isinstance(arguments, str):
        parts.arguments.append(arguments)
    elif isinstance(arguments, dict):
        # Some servers send the object itself.
        parts.arguments.append(orjson.dumps(arguments).decode())


def _texts(content: JsonValue) -> list[str]:
    """The text of a content, which may come in parts."""
    if isinstance(content, str):
        return [content]
    if not isinstance(content, list):
        return []
    return [text for part in content if isinstance(part, dict) and isinstance(text := part.get("text"), str)]


def _count(usage: Mapping[str, JsonValue], name: str) -> int | None:
    count = usage.get(name)
    return count if isinstance(count, int) and not isinstance(count, bool) and count >= 0 else None
