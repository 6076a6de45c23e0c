"""Faults that are put into good runs: each changes one thing, and it is known who has to find it.

In: a run.  Out: the run with one fault, and the evaluator that is to find it.  Always the same run comes of the same
run; what a run has no place for isn't put into it.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

import orjson

from evaluators.cases import JsonValue, Message, Role, Run, Tool, ToolCall, ToolResult, Turn

ERROR = "503 Service Unavailable: the request was not carried out"
_NUMBER = re.compile(r"(?<![\w.,:/-])\d{2,}(?![\w.,:/-]*\d)")
_LEAST_TEXT = 3


class Fault(StrEnum):
    """What is wrong with a run into which a fault was put."""

    SIBLING_TOOL = "sibling tool"
    DROPPED_ARGUMENT = "dropped argument"
    CHANGED_VALUE = "changed value"
    CHANGED_ANSWER = "changed number in the answer"
    ERROR_AS_SUCCESS = "error told as success"


@dataclass(frozen=True, slots=True, kw_only=True)
class Injected:
    """A run with a fault. `evaluator` has to find it, in what was asked for or answered at the turn `turn`."""

    run: Run
    fault: Fault
    evaluator: str
    turn: int


@dataclass(frozen=True, slots=True)
class _Place:
    turn: Turn
    call: ToolCall


def inject(run: Run, fault: Fault) -> Injected | None:
    """The run with this fault at one of the places that it has for it; None if it has none."""
    found = list(_WAYS[fault](run))
    return found[_choice(run, fault, len(found))] if found else None


def _sibling_tool(run: Run) -> Iterator[Injected]:
    """Another tool that was offered, with the same arguments."""
    for place in _places(run):
        others = [tool for tool in place.turn.tools or () if tool.name != place.call.name]
        if others:
            other = others[_choice(run, place.call.id, len(others))]
            changed = _with_call(run, place, replace(place.call, name=other.name))
            yield Injected(run=changed, fault=Fault.SIBLING_TOOL, evaluator="tool_selection", turn=place.turn.index)


def _dropped_argument(run: Run) -> Iterator[Injected]:
    """A call without an argument that its schema requires."""
    for place in _places(run):
        arguments = _arguments(place.call)
        for name in _required(place.turn.tools, place.call.name):
            if name in arguments:
                left = {key: value for key, value in arguments.items() if key != name}
                changed = _with_call(run, place, replace(place.call, arguments=left))
                yield _of_call(changed, Fault.DROPPED_ARGUMENT, place)


def _changed_value(run: Run) -> Iterator[Injected]:
    """A call with another value than the one that the user said."""
    for place in _places(run):
        arguments = _arguments(place.call)
        said = "\n".join(run.user_inputs or ())
        for name, value in arguments.items():
            other = _other(value, said)
            if other is not None:
                changed = _with_call(run, place, replace(place.call, arguments={**arguments, name: other}))
                yield _of_call(changed, Fault.CHANGED_VALUE, place)


def _changed_answer(run: Run) -> Iterator[Injected]:
    """An answer with another number than the one in the result that it is from."""
    for turn, results in _answers(run):
        known = " ".join(result.content or "" for result in results)
        for found in _NUMBER.finditer(turn.text or ""):
            if found[0] in known:
                text = turn.text or ""
                told = text[: found.start()] + _next_number(found[0]) + text[found.end() :]
                yield Injected(
                    run=_with_turn(run, replace(turn, text=told)),
                    fault=Fault.CHANGED_ANSWER,
                    evaluator="tool_response_handling",
                    turn=turn.index,
                )


def _error_as_success(run: Run) -> Iterator[Injected]:
    """A call that failed after all, while what is said of it stays as it was."""
    failed = ToolResult(error=ERROR, content=ERROR)
    for turn, results in _answers(run):
        if not turn.calls and all(not result.failed for result in results):
            changed = run
            for call_id in turn.answers:
                changed = _with_result(changed, call_id, failed)
            yield Injected(
                run=changed, fault=Fault.ERROR_AS_SUCCESS, evaluator="tool_response_handling", turn=turn.index
            )


_WAYS: Mapping[Fault, Callable[[Run], Iterator[Injected]]] = {
    Fault.SIBLING_TOOL: _sibling_tool,
    Fault.DROPPED_ARGUMENT: _dropped_argument,
    Fault.CHANGED_VALUE: _changed_value,
    Fault.CHANGED_ANSWER: _changed_answer,
    Fault.ERROR_AS_SUCCESS: _error_as_success,
}
FAULTS: Sequence[Fault] = tuple(_WAYS)


def _places(run: Run) -> Iterator[_Place]:
    """Calls that tell what they were made with, and that are uses of tools."""
    for turn in run.turns:
        for call in turn.calls:
            if not call.is_handoff and not call.provider_executed and not call.truncated and _arguments(call):
                yield _Place(turn, call)


def _answers(run: Run) -> Iterator[tuple[Turn, list[ToolResult]]]:
    """Turns that say something after results, with these results, all of which were captured."""
    calls = {call.id: call for call in run.calls}
    for turn in run.turns:
        results = [calls[call_id].result for call_id in turn.answers if call_id in calls]
        known = [result for result in results if result is not None and not result.truncated]
        if turn.text and results and len(known) == len(turn.answers):
            yield turn, known


def _arguments(call: ToolCall) -> Mapping[str, JsonValue]:
    return call.arguments if isinstance(call.arguments, Mapping) else {}


def _required(tools: Sequence[Tool] | None, name: str) -> list[str]:
    for tool in tools or ():
        required = (tool.parameters or {}).get("required") if tool.name == name else None
        if isinstance(required, list):
            return [one for one in required if isinstance(one, str)]
    return []


def _other(value: JsonValue, said: str) -> JsonValue:
    """Another value of the same kind, where the value is one that the user said; else None."""
    match value:
        case bool():
            return None
        case int() if re.search(rf"(?<!\d){value}(?!\d)", said):
            return value + 7
        case str() if len(value) >= _LEAST_TEXT and value in said:
            return _other_text(value)
        case _:
            return None


def _other_text(value: str) -> str | None:
    numbers = list(re.finditer(r"\d+", value))
    if numbers:
        last = numbers[-1]
        return value[: last.start()] + _next_number(last[0]) + value[last.end() :]
    # The letters in another order name nothing that was said, and look like a name all the same.
    letters = value[::-1].capitalize() if value[:1].isupper() else value[::-1]
    return letters if letters != value else None


def _next_number(digits: str) -> str:
    """Another number of as many digits."""
    last = int(digits[-1])
    return digits[:-1] + str((last + 3) % 10)


def _of_call(run: Run, fault: Fault, place: _Place) -> Injected:
    return Injected(run=run, fault=fault, evaluator="tool_invocation", turn=place.turn.index)


def _with_call(run: Run, place: _Place, call: ToolCall) -> Run:
    calls = tuple(call if one is place.call else one for one in place.turn.calls)
    changed = _with_turn(run, replace(place.turn, calls=calls))
    return replace(changed, turns=tuple(_retold(turn, call) for turn in changed.turns))


def _with_turn(run: Run, turn: Turn) -> Run:
    before = run.turns[turn.index]
    turns = tuple(turn if one is before else one for one in run.turns)
    answer = turn.text if run.final_answer is not None and run.final_answer == before.text else run.final_answer
    return replace(run, turns=turns, final_answer=answer)


def _with_result(run: Run, call_id: str, result: ToolResult) -> Run:
    def changed(call: ToolCall) -> ToolCall:
        return (
            replace(call, result=replace(result, ref=call.result.ref if call.result else None))
            if call.id == call_id
            else call
        )

    def seen(message: Message) -> Message:
        if message.role is Role.TOOL and message.call_id == call_id:
            return replace(message, text=result.content)
        return replace(message, calls=tuple(map(changed, message.calls))) if message.calls else message

    turns = tuple(
        replace(
            turn,
            calls=tuple(map(changed, turn.calls)),
            context=None if turn.context is None else tuple(map(seen, turn.context)),
        )
        for turn in run.turns
    )
    return replace(run, turns=turns, loose_calls=tuple(map(changed, run.loose_calls)))


def _retold(turn: Turn, call: ToolCall) -> Turn:
    """The turn with the changed call in the history that it saw."""
    if not any(one.id == call.id for message in turn.context or () for one in message.calls):
        return turn
    context = tuple(
        replace(message, calls=tuple(call if one.id == call.id else one for one in message.calls))
        for message in turn.context or ()
    )
    return replace(turn, context=context)


def _choice(run: Run, about: str, of: int) -> int:
    told = orjson.dumps([run.ref, run.user_inputs, about])
    return int.from_bytes(hashlib.blake2b(told, digest_size=8).digest()) % of
