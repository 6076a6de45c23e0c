"""What the Agent Development Kit says to a model in the user's name.

An agent that took over is told in messages of role user what the agents before it said and did, and requests that would
end otherwise are closed with a sentence of the framework's.  Neither was said by the user.
"""

from __future__ import annotations

import re
from dataclasses import replace

from evaluators.cases import Role
from processors.conventions.decoding.messages import Messages
from processors.conventions.dialects.adk import PREFIX
from processors.conventions.facts import MessageFacts, SpanFacts
from processors.conventions.frameworks.framework import Framework
from processors.otlp import Span

_OF_OTHERS = re.compile(r"For context:[^\n]*\n\[")
_CLOSING = ("Handle the requests as specified in the System Instruction.", "Continue processing previous requests as ")


class AdkContext(Framework):
    """Tells the framework's words from the user's, on spans of either of the conventions it follows."""

    def __init__(self, messages: Messages) -> None:
        super().__init__(messages)
        self._known: dict[int, tuple[MessageFacts, MessageFacts]] = {}

    def knows(self, span: Span, facts: SpanFacts) -> bool:
        """Whether the span is of the framework and has messages."""
        return bool(facts.input) and any(key.startswith(PREFIX) for key in span.attributes)

    def refined(self, span: Span, facts: SpanFacts) -> SpanFacts:
        """The facts with the words of other agents as an assistant's, and the framework's own as instructions."""
        given = tuple(self._told(message) for message in facts.input or ())
        return facts if given == facts.input else replace(facts, input=given)

    def _told(self, message: MessageFacts) -> MessageFacts:
        # The same message comes back the same, so that histories stay cheap to compare.
        if message.role is not Role.USER or message.text is None:
            return message
        known = self._known.get(id(message))
        if known is None:
            known = self._known[id(message)] = (message, _rightly(message, message.text))
        return known[1]


def _rightly(message: MessageFacts, text: str) -> MessageFacts:
    if _OF_OTHERS.match(text) is not None:
        return replace(message, role=Role.ASSISTANT)
    return replace(message, role=Role.SYSTEM) if text.startswith(_CLOSING) else message
