"""Whole conversations that stand on the span of an agent, and what of them the agent was given and gave.

Frameworks without spans of model calls may still tell everything on the agent's own span.  In goes such a conversation,
out come the messages before the agent's first answer and those from there on, results of its calls included.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from evaluators.cases import Role
from processors.conventions.facts import Kind, MessageFacts, SpanFacts

Conversation = tuple[MessageFacts, ...]


def exchanged(conversation: Conversation, given: Conversation | None = None) -> tuple[Conversation, Conversation]:
    """What an agent was given, and what it said and got back.

    Args:
        conversation: all messages, oldest first.
        given: those that it was called with, where they are known; else all up to the user's last words count.
    """
    if given:
        start = next((at for at, message in enumerate(conversation) if message == given[0]), None)
        if start is not None and conversation[start : start + len(given)] == given:
            return conversation[: start + len(given)], conversation[start + len(given) :]
    said = [at for at, message in enumerate(conversation) if message.role is Role.USER]
    end = said[-1] + 1 if said else len(_opening(conversation))
    return conversation[:end], conversation[end:]


def with_conversation(facts: SpanFacts, conversation: Conversation, given: Conversation | None = None) -> SpanFacts:
    """The facts of an agent's span that holds a conversation."""
    before, after = exchanged(conversation, given)
    return replace(facts, kind=Kind.AGENT, input=before or facts.input, output=after or None, whole=True)


def last_words(messages: Sequence[MessageFacts]) -> str | None:
    """The text that the assistant said last, unless it asked for calls along with it."""
    last = messages[-1] if messages else None
    return last.text if last is not None and last.role is Role.ASSISTANT and not last.calls and last.text else None


def _opening(conversation: Conversation) -> Conversation:
    end = next((at for at, message in enumerate(conversation) if message.role is not Role.SYSTEM), len(conversation))
    return conversation[:end]
