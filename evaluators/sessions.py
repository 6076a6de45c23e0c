"""Several runs of one session as one case.

In: the runs in order of their beginning.  Out: a `SessionCase` whose `run` tells them one after the other, the way a
judge is shown them.  A call that a later run only knows from the conversation's history is told once, where it was
made.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from evaluators.cases import Message, Reference, Run, SessionCase, ToolCall, Turn


def session_case(runs: Sequence[Run], reference: Reference | None = None) -> SessionCase:
    """The runs as one case.

    Args:
        runs: at least one, in order of their beginning.
        reference: what should have come of the session, where that is known.

    Raises:
        ValueError: there is no run.
    """
    if not runs:
        raise ValueError("a session has at least one run")
    return SessionCase(run=_joined(runs), runs=tuple(runs), reference=reference)


def _joined(runs: Sequence[Run]) -> Run:
    if len(runs) == 1:
        return runs[0]
    turns: list[Turn] = []
    loose: list[ToolCall] = []
    made: dict[str, ToolCall] = {}
    answered = 0
    for number, run in enumerate(runs):
        told = [call for call in run.loose_calls if not (call.earlier and call.id in made)]
        new_ids = _new_ids((*(call for turn in run.turns for call in turn.calls), *told), made, number)
        messages = [answered + place for place in _places(run.turns)]
        for turn, message in zip(run.turns, messages, strict=True):
            turns.append(_renamed(replace(turn, index=len(turns), user_turn=message), new_ids))
        loose += (_renamed_call(call, new_ids) for call in told)
        answered = max(messages, default=answered - 1) + 1
        made.update({call.id: call for turn in turns[-len(run.turns) :] for call in turn.calls} if run.turns else {})
        made.update({call.id: call for call in loose})
    last = runs[-1]
    inputs = [text for run in runs for text in run.user_inputs or ()]
    return replace(
        last,
        turns=tuple(turns),
        loose_calls=tuple(loose),
        user_inputs=tuple(inputs) if any(run.user_inputs is not None for run in runs) else None,
        system_prompts=tuple(dict.fromkeys(prompt for run in runs for prompt in run.system_prompts)),
        partial=any(run.partial for run in runs),
        truncated=any(run.truncated for run in runs),
        missing=tuple(dict.fromkeys(fact for run in runs for fact in run.missing)),
    )


def _places(turns: Iterable[Turn]) -> list[int]:
    """For each turn which of the run's own messages of the user it answers, from 0."""
    numbers: dict[int, int] = {}
    return [numbers.setdefault(turn.user_turn, len(numbers)) for turn in turns]


def _new_ids(calls: Iterable[ToolCall], made: Mapping[str, ToolCall], number: int) -> dict[str, str]:
    """Other ids for calls whose ids another run gave to calls of its own, as frameworks that count from one do."""
    return {
        call.id: f"{call.id} of run {number + 1}"
        for call in calls
        if (before := made.get(call.id)) is not None
        and ((before.name, before.arguments) != (call.name, call.arguments) or not call.earlier)
    }


def _renamed(turn: Turn, new_ids: Mapping[str, str]) -> Turn:
    if not new_ids:
        return turn
    return replace(
        turn,
        calls=tuple(_renamed_call(call, new_ids) for call in turn.calls),
        answers=tuple(new_ids.get(call_id, call_id) for call_id in turn.answers),
        context=None if turn.context is None else tuple(_renamed_message(one, new_ids) for one in turn.context),
    )


def _renamed_message(message: Message, new_ids: Mapping[str, str]) -> Message:
    if not message.calls and message.call_id not in new_ids:
        return message
    return replace(
        message,
        calls=tuple(_renamed_call(call, new_ids) for call in message.calls),
        call_id=None if message.call_id is None else new_ids.get(message.call_id, message.call_id),
    )


def _renamed_call(call: ToolCall, new_ids: Mapping[str, str]) -> ToolCall:
    return replace(call, id=new_ids[call.id]) if call.id in new_ids else call
