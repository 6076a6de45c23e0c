"""Who was told what, and what has been told already: whose words the texts of a run are.

In: a run.  Out: the agents of each system prompt, and the user's inputs that no captured context shows.
"""

from __future__ import annotations

import re

from evaluators.cases import Role, Run

_TELLING_CHARS = 12
"""So long a text doesn't stand within another one by chance."""
_EXCEPTION = re.compile(r"^(?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception): ")


def agents_by_prompt(run: Run) -> dict[str, list[str]]:
    """The agents that were given each system prompt, as far as their contexts show it."""
    given: dict[str, dict[str, None]] = {}
    seen: set[tuple[int, str]] = set()
    for turn in run.turns:
        for message in turn.context or ():
            if message.role is not Role.SYSTEM:
                break
            if turn.agent and message.text and (id(message), turn.agent) not in seen:
                seen.add((id(message), turn.agent))
                given.setdefault(message.text.strip(), {})[turn.agent] = None
    return {prompt: list(agents) for prompt, agents in given.items()}


def inputs_by_turn(run: Run) -> dict[int, list[str]]:
    """Which of the user's inputs to show at which turn: those that no captured context shows anyway.

    Some frameworks put words of their own around the user's.
    """
    inputs = run.user_inputs or ()
    in_context = {
        message.text.strip()
        for turn in run.turns
        for message in turn.context or ()
        if message.role is Role.USER and message.text is not None
    }
    first_turns: dict[int, int] = {}
    for turn in run.turns:
        first_turns.setdefault(turn.user_turn, turn.index)
    places = list(first_turns.values())
    matched = len(places) == len(inputs)
    by_turn: dict[int, list[str]] = {}
    for number, text in enumerate(inputs):
        if not any(is_told(text, said) for said in in_context):
            place = places[number] if matched else (places[0] if places else -1)
            by_turn.setdefault(place, []).append(text)
    return by_turn


def is_told(text: str, by: str) -> bool:
    """Whether a text is the same as another one, or stands in it; the class of an exception before it is no matter."""
    text = _EXCEPTION.sub("", text.strip())
    return not text or text == by.strip() or (len(text) >= _TELLING_CHARS and text in by)
