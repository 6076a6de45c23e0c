"""Whether the facts that every step needs were captured at all."""

from __future__ import annotations

from evaluators.cases import Role, Run, Turn


def has_user_input(run: Run, turn: Turn | None) -> bool:
    """Whether anything the user (or the delegating agent) said is known."""
    if any(text.strip() for text in run.user_inputs or ()):
        return True
    context = turn.context if turn is not None else None
    return any(message.role is Role.USER and message.text for message in context or ())


def has_places(run: Run) -> bool:
    """Whether anything in the run has a place that a judge could name as evidence."""
    turns = (turn.ref for turn in run.turns)
    calls = (ref for call in run.calls for ref in (call.ref, call.result.ref if call.result is not None else None))
    return any(ref is not None for ref in (run.ref, *turns, *calls))
