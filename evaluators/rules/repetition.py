"""Calls by what they did: same tool, same arguments, same outcome.

In goes a run, out come its tool calls as comparable steps, in order, hand-offs and output tools left out.  Two calls
are alike when only the order of keys, the spelling of numbers or an explicit null tells them apart.  What was not
captured or was cut is equal to nothing.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from evaluators.cases import Role, Run, ToolCall, Turn
from evaluators.rules.effects import Effect, effect_of
from evaluators.rules.errors import ToolError, error_of
from evaluators.rules.fingerprint import fingerprint
from evaluators.rules.raw_arguments import ArgumentState, read_arguments
from evaluators.rules.reading import reading_of
from evaluators.rules.shell_commands import only_reads
from evaluators.rules.tool_names import is_plumbing

_SHELL = re.compile(r"bash|shell|terminal|console|command|cmd|exec|(?:^|_)sh(?:$|_)", re.IGNORECASE)
_COMMAND_KEYS = ("command", "cmd")


@dataclass(frozen=True, slots=True)
class Step:
    """One tool call of a run.

    `arguments` and `outcome` are fingerprints, None where they can't be known.  `succeeded` is None when the outcome
    isn't known.  `turn` is None for a call that no captured model turn asked for.
    """

    index: int
    call: ToolCall
    turn: Turn | None
    effect: Effect
    arguments: str | None
    outcome: str | None
    error: ToolError | None
    succeeded: bool | None

    @property
    def user_turn(self) -> int | None:
        """Which message of the user this call answers; None when not known."""
        return None if self.turn is None else self.turn.user_turn

    @property
    def agent(self) -> str | None:
        """The agent that made the call."""
        return None if self.turn is None else self.turn.agent


def steps_of(
    run: Run, *, read_tools: Collection[str] = (), write_tools: Collection[str] = (), with_earlier: bool = False
) -> list[Step]:
    """The tool calls of `run` in order, hand-offs and output tools left out.

    `with_earlier` puts calls of earlier runs first that are only known from the conversation's history.
    """
    placed: list[tuple[ToolCall, Turn | None]] = [(call, None) for call in run.loose_calls if call.earlier]
    placed += [(call, turn) for turn in run.turns for call in turn.calls]
    placed += [(call, None) for call in run.loose_calls if not call.earlier]
    steps: list[Step] = []
    hints = _hints(run)
    for call, turn in placed:
        if is_plumbing(call) or (call.earlier and not with_earlier):
            continue
        error = error_of(call.result)
        outcome = outcome_fingerprint(call)
        known = error is not None or (call.result is not None and call.result.content is not None)
        steps.append(
            Step(
                index=len(steps),
                call=call,
                turn=turn,
                effect=_effect(
                    call,
                    effect_of(
                        call.name, read_tools=read_tools, write_tools=write_tools, read_only=hints.get(call.name)
                    ),
                ),
                arguments=argument_fingerprint(call),
                outcome=outcome,
                error=error,
                succeeded=(error is None) if known else None,
            )
        )
    return steps


def _hints(run: Run) -> dict[str, bool]:
    """What the servers of offered tools say of them, by name."""
    offers = {id(tools): tools for tools in (turn.tools for turn in run.turns) if tools is not None}
    return {tool.name: tool.read_only for tools in offers.values() for tool in tools if tool.read_only is not None}


def _effect(call: ToolCall, named: Effect) -> Effect:
    """What a call does: its name says, and where it is a shell, its command line may."""
    if named is not Effect.UNKNOWN or not isinstance(call.arguments, Mapping) or _SHELL.search(call.name) is None:
        return named
    command = next((call.arguments[key] for key in _COMMAND_KEYS if key in call.arguments), None)
    return Effect.READ if isinstance(command, str) and only_reads(command) else named


def argument_fingerprint(call: ToolCall) -> str | None:
    """A short hash of the normalised arguments; None when they were cut or not captured."""
    if call.truncated:
        return None
    read = read_arguments(call)
    if read.state is ArgumentState.NOT_CAPTURED:
        return None
    if read.state is ArgumentState.OBJECT:
        return fingerprint({key: value for key, value in read.value.items() if value is not None})
    return fingerprint(" ".join(read.text.split()))


def outcome_fingerprint(call: ToolCall) -> str | None:
    """A short hash of the result or error; None when it was cut or not captured."""
    result = call.result
    if result is None or result.truncated or (result.content is None and not result.error):
        return None
    return reading_of(result.error or result.content or "").fingerprint


def user_spoke_between(one: Step, other: Step) -> bool:
    """Whether the user said something after `one` was answered and before `other` was made."""
    if one.turn is not None or not one.call.earlier:
        return one.user_turn != other.user_turn
    if other.call.earlier:
        return False  # of a history, only what follows the last message of the user is told as calls
    for message in reversed((other.turn.context if other.turn is not None else None) or ()):
        if message.call_id == one.call.id:
            return False
        if message.role is Role.USER:
            return True
    return True


def pause_s(one: Step, other: Step) -> float | None:
    """Seconds between the end of one call and the start of the other; None when they weren't measured."""
    first, second = one.call.result, other.call.result
    if first is None or second is None or first.started_s is None or second.started_s is None:
        return None
    return second.started_s - first.started_s - (first.duration_s or 0.0)


def same_call(one: Step, other: Step) -> bool:
    """Whether two steps called the same tool with the same arguments."""
    return one.call.name == other.call.name and one.arguments is not None and one.arguments == other.arguments
