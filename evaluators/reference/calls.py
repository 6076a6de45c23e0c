"""Calls as they are compared: those a run made and those that were expected, in one shape.

In: a `Run` and a `Reference`.  Out: two sequences of `Call`.  Ids are for telling which call is meant and never count.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import orjson

from evaluators.cases import Arguments, JsonValue, ReferenceCall, Run, ToolCall

MAX_CALLS = 2_000
MAX_PAIRS = 100_000
MAX_DEPTH = 100
_NOT_JSON = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A call on either side.

    `arguments` None: not given, which isn't the empty object. Text that is no JSON object stands under an empty key, so
    that it equals nothing but itself.  `told` is what came of it, as it was captured.
    The rest is known of calls that were made: `truncated` where a part of the arguments was cut off, `from_model` False
    where they are the tool's own account, to which frameworks add.
    """

    name: str
    arguments: Mapping[str, JsonValue] | None = None
    told: JsonValue = None
    id: str | None = None
    ref: str | None = None
    failed: bool = False
    truncated: bool = False
    from_model: bool = True

    @property
    def output(self) -> JsonValue:
        """What came of it: the JSON value that a text holds, else the text. Read anew each time, as few look at it."""
        held = _held(self.told)
        return self.told if is_deep(held) else held


def made_calls(run: Run, expected: Sequence[ReferenceCall] = ()) -> tuple[Call, ...]:
    """The calls of a run, in order.

    Hand-offs and output tools are no tool use, unless the reference expects them by name. Calls of an earlier run that
    are known from the conversation alone were judged there.
    """
    named = {call.name for call in expected}
    return tuple(_made(call) for call in run.calls if not call.earlier and (not call.is_handoff or call.name in named))


def expected_calls(calls: Iterable[ReferenceCall]) -> tuple[Call, ...]:
    """Expected calls in the shape of made ones."""
    return tuple(Call(name=one.name, arguments=one.arguments, told=one.output) for one in calls)


def too_large(made: Sequence[Call], expected: Sequence[Call]) -> str | None:
    """Why these are too many or too deep to compare, in a sentence; None when they aren't."""
    most = max(len(made), len(expected))
    if most > MAX_CALLS or len(made) * len(expected) > MAX_PAIRS:
        return f"{len(made)} calls against {len(expected)} expected ones are too many to compare."
    if any(is_deep(call.arguments) or is_deep(call.told) for call in (*made, *expected)):
        return f"Arguments or results are nested more than {MAX_DEPTH} levels deep."
    return None


def _made(call: ToolCall) -> Call:
    result = call.result
    told = None if result is None else result.content if result.content is not None else result.error
    return Call(
        name=call.name,
        arguments=_as_object(call.arguments),
        told=told,
        id=call.id,
        ref=call.ref,
        failed=result is not None and result.failed,
        truncated=call.truncated,
        from_model=call.from_model,
    )


def _as_object(arguments: Arguments) -> Mapping[str, JsonValue] | None:
    if not isinstance(arguments, str):
        return arguments
    held = _held(arguments)
    return held if isinstance(held, dict) else {_NOT_JSON: arguments}


def _held(value: JsonValue) -> JsonValue:
    """The JSON value that a text holds; anything else as it is."""
    if not isinstance(value, str):
        return value
    try:
        parsed: JsonValue = orjson.loads(value)
    except ValueError:
        return value
    return parsed


def is_deep(value: object, most_levels: int = MAX_DEPTH) -> bool:
    """Whether a JSON value is nested so deeply that to compare it could fail."""
    level: list[object] = [value]
    for _ in range(most_levels):
        level = [
            inner
            for one in level
            if isinstance(one, Mapping | list)
            for inner in (one.values() if isinstance(one, Mapping) else one)
        ]
        if not level:
            return False
    return True
