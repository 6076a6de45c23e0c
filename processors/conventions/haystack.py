"""Haystack's own shapes: reprs of `ChatMessage` on the spans of pipelines and agents.

Its agent leaves no span per model call or tool; its own span holds the whole conversation, and that of the pipeline
round it holds it once more.  Which tools there were stands only in the counts of their calls, among which are those of
tools that don't exist.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from evaluators.cases import JsonValue, Role, Tool
from processors.conventions.conversations import last_words, with_conversation
from processors.conventions.facts import Kind, MessageFacts, SpanFacts
from processors.conventions.messages import Messages
from processors.conventions.openinference import INPUT, OUTPUT
from processors.conventions.values import as_object
from processors.otlp import Span

MESSAGE = "ChatMessage("
ROLE = "<ChatRole."
CALL_COUNTS = "tool_call_counts"
_UNKNOWN_TOOL = re.compile(r"Tool '([^']+)' not found")
_MOST_NESTED = 3


class Haystack:
    """What Haystack writes in shapes of its own."""

    name = "haystack"

    def __init__(self, messages: Messages) -> None:
        self._messages = messages

    def knows(self, span: Span, facts: SpanFacts) -> bool:
        """Whether the span hands on messages of Haystack."""
        values = (span.attributes.get(INPUT), span.attributes.get(OUTPUT))
        return facts.kind in (Kind.CHAIN, Kind.AGENT) and any(
            isinstance(value, str) and MESSAGE in value and ROLE in value for value in values
        )

    def refined(self, span: Span, facts: SpanFacts) -> SpanFacts:
        """The facts with what the messages say."""
        asked, answered = as_object(span.attributes.get(INPUT)), as_object(span.attributes.get(OUTPUT))
        conversation = self._listed(answered.get("messages"))
        if conversation is not None:
            told = with_conversation(facts, conversation, self._listed(asked.get("messages")))
            return replace(told, tools=_counted(answered.get(CALL_COUNTS), conversation))
        given, said = self._found(asked), self._found(answered)
        return replace(facts, input=given or facts.input, output_text=last_words(said) or facts.output_text)

    def _listed(self, value: JsonValue) -> tuple[MessageFacts, ...] | None:
        return self._messages.read(value, Role.USER) if isinstance(value, list) else None

    def _found(self, value: JsonValue, depth: int = 0) -> tuple[MessageFacts, ...]:
        """The first list of messages at any place among the inputs or outputs of a pipeline's components."""
        if isinstance(value, list) and value and isinstance(value[0], str) and value[0].startswith(MESSAGE):
            return self._messages.read(value, Role.USER) or ()
        if isinstance(value, dict) and depth < _MOST_NESTED:
            for item in value.values():
                found = self._found(item, depth + 1)
                if found:
                    return found
        return ()


def _counted(counts: JsonValue, conversation: tuple[MessageFacts, ...]) -> tuple[Tool, ...] | None:
    """The tools whose calls were counted, without those that the agent didn't have."""
    if not isinstance(counts, Mapping):
        return None
    refused = (_UNKNOWN_TOOL.match(message.text or "") for message in conversation if message.failed)
    unknown = {found.group(1) for found in refused if found is not None}
    return tuple(Tool(name=name) for name in counts if name not in unknown) or None
