"""What the human said in a run, and which turns answer which of their messages.

The role "user" alone doesn't make a message a human's: tool results, retries and tasks from other agents carry it too,
and a history brings along what was said in earlier runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from evaluators.cases import Role
from processors.conventions.facts import MessageFacts
from processors.reading.drafts import Draft
from processors.reading.histories import common_length
from processors.reading.scopes import RUN, tasks_in
from processors.reading.tree import Node

_MIN_SHARE = 0.2
_MIN_CHARS = 12


def asked_by_user(drafts: Sequence[Draft], top: Node | None, agents: Sequence[Node]) -> list[str]:
    """The human's words in this run, in order; an empty list when they weren't captured.

    `agents` are the spans of its agents and workflows, outer ones first.
    """
    own = [draft for draft in drafts if draft.scope == RUN]
    found: list[str] = []
    tasks: set[str] = set()
    before: tuple[MessageFacts, ...] | None = None
    previous: Draft | None = None
    said_before: set[str] = set()
    said_by_agents: set[str] = set()
    for draft in own:
        if draft.input is not None:
            if before is None:
                found += _latest_block(draft.input)
                said_before = {message.text for message in draft.input if message.text and message.role is Role.USER}
            elif previous is None or not previous.calls:
                added = _added(before, draft.input, said_before | set(found), tasks)
                # In a team's talk, what another agent said is given to the next one in the user's role.
                found += [text for text in added if text.strip() not in said_by_agents]
            before = draft.input
        for call in draft.calls:
            tasks.update(tasks_in(call))
        if draft.text:
            said_by_agents.add(draft.text.strip())
        draft.user_turn = max(len(found) - 1, 0)
        previous = draft
    words = _told_by_top(top, agents)
    if not found or (words and _history_is_lost(own) and not _is_said(words, own)):
        return words
    asked = [_unwrapped(text, words) for text in found]
    # A run may be given several tasks, each of which opens a conversation of its own.
    return words if len(words) > len(asked) and set(asked) <= set(words) else asked


def count_user_turns(drafts: Sequence[Draft], users: Sequence[str]) -> None:
    """Number the turns of inner agents like the turn of the run's own that was under way."""
    current = 0
    for draft in drafts:
        if draft.scope == RUN:
            current = draft.user_turn
        else:
            draft.user_turn = min(current, max(len(users) - 1, 0))


def _latest_block(messages: Sequence[MessageFacts]) -> list[str]:
    """The last messages of the user in a row; what came before was answered in earlier runs."""
    block: list[str] = []
    for message in reversed(messages):
        if message.role is Role.USER:
            if message.text:
                block.append(message.text)
        elif block and message.role is not Role.SYSTEM:
            break
    return block[::-1]


def _added(
    before: tuple[MessageFacts, ...], given: tuple[MessageFacts, ...], known: set[str], tasks: set[str]
) -> list[str]:
    start = common_length(before, given)
    continued = start == len(before)
    if not continued and not _shares_talk(before, given):
        return []
    return [
        message.text
        for message in given[start:]
        if message.role is Role.USER
        and message.text
        and (continued or message.text not in known)
        and message.text.strip() not in tasks
    ]


def _shares_talk(before: tuple[MessageFacts, ...], given: tuple[MessageFacts, ...]) -> bool:
    """Whether two histories have anything in common besides instructions."""
    talk = {message.text for message in before if message.role is not Role.SYSTEM and message.text}
    return any(message.text in talk for message in given if message.role is not Role.SYSTEM)


def _history_is_lost(own: Sequence[Draft]) -> bool:
    """Whether turns after a call show neither calls nor results: some instrumentations record a conversation's opening.

    What the user said last may then be lost as well.
    """
    return any(
        earlier.calls
        and later.input is not None
        and not any(message.calls or message.role is Role.TOOL for message in later.input)
        for earlier, later in pairwise(own)
    )


def _is_said(words: Sequence[str], own: Sequence[Draft]) -> bool:
    """Whether all the words stand in messages that a model was given."""
    given = {message.text for draft in own for message in draft.input or () if message.text}
    return all(any(text.strip() in said for said in given) for text in words)


def _told_by_top(top: Node | None, agents: Sequence[Node]) -> list[str]:
    """The human's words as the run's own span, or the first agent's, has them."""
    inner = next((node for node in agents if node is not top), None)
    for node in (top, inner):
        facts = node.facts if node is not None else None
        if facts is None:
            continue
        if facts.input_text:
            return [facts.input_text]
        if facts.input:
            block = _latest_block(facts.input)
            if block:
                return block
    return []


def _unwrapped(text: str, words: Sequence[str]) -> str:
    """The human's own words where a framework has put its own round them."""
    for own in words:
        stripped = own.strip()
        if len(stripped) < _MIN_CHARS or stripped not in text:
            continue
        # Where the words are a whole sentence, a framework's own may follow on the same line.
        after = ("",) if stripped.endswith((".", "?", "!", "。", "？", "！")) else ("\n",)
        ends_line = any(f"{before}{stripped}{end}" in f"\n{text}\n" for before in ("\n", ": ") for end in after)
        if len(stripped) >= _MIN_SHARE * len(text) or ends_line:
            return own
    return text
