"""Haystack's own shapes: messages on the spans of pipelines and agents, as reprs or dumped field by field.

Under most instrumentations its agent leaves no span per model call or tool; its own span holds the whole conversation,
and that of the pipeline round it holds it once more.  Which tools there were then stands only in the counts of their
calls, among which are those of tools that don't exist.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from evaluators.cases import JsonValue, Role, Tool
from processors.conventions.decoding.conversations import last_words, with_conversation
from processors.conventions.decoding.values import as_object, first_at
from processors.conventions.dialects.haystack_tracing import (
    AGENT_INPUT,
    AGENT_OUTPUT,
    PIPELINE_INPUT,
    PIPELINE_OUTPUT,
    HaystackTracing,
)
from processors.conventions.dialects.openinference import INPUT, OUTPUT
from processors.conventions.dialects.traceloop import ENTITY_INPUT, ENTITY_OUTPUT
from processors.conventions.facts import Kind, MessageFacts, SpanFacts
from processors.conventions.frameworks.framework import Framework
from processors.otlp import Span

INPUTS = (INPUT, ENTITY_INPUT, AGENT_INPUT, PIPELINE_INPUT)
OUTPUTS = (OUTPUT, ENTITY_OUTPUT, AGENT_OUTPUT, PIPELINE_OUTPUT)
MESSAGE = "ChatMessage("
ROLE = "<ChatRole."
PRIVATE_ROLE = '"_role"'
CALL_COUNTS = "tool_call_counts"
_UNKNOWN_TOOL = re.compile(r"Tool '([^']+)' not found")
_AROUND = (Kind.CHAIN, Kind.AGENT, Kind.WORKFLOW)
_LOST = "replies"
"""What OpenLLMetry writes in place of an answer: the key under which Haystack has it."""
_MOST_NESTED = 4


class Haystack(Framework):
    """What Haystack writes in shapes of its own."""

    def knows(self, span: Span, facts: SpanFacts) -> bool:
        """Whether the span hands on messages of Haystack, or is a model call whose answer was lost."""
        if facts.kind is Kind.LLM:
            return not facts.input and any(message.text == _LOST for message in facts.output or ())
        values = (_value(span, INPUTS), _value(span, OUTPUTS))
        return facts.kind in _AROUND and any(
            isinstance(value, str) and (ROLE in value or PRIVATE_ROLE in value or facts.dialect == HaystackTracing.name)
            for value in values
        )

    def refined(self, span: Span, facts: SpanFacts) -> SpanFacts:
        """The facts with what the messages say."""
        if facts.kind is Kind.LLM:
            return replace(facts, output=None)
        asked, answered = as_object(_value(span, INPUTS)), as_object(_value(span, OUTPUTS))
        conversation = self._listed(answered.get("messages"))
        if conversation is not None:
            told = with_conversation(facts, conversation, self._listed(asked.get("messages")))
            return replace(told, tools=_counted(answered.get(CALL_COUNTS), conversation) or facts.tools)
        given, said = self._found(asked), self._found(answered)
        if facts.kind is Kind.WORKFLOW and any(message.calls for message in said):
            return with_conversation(facts, said, given)
        return replace(facts, input=given or facts.input, output_text=last_words(said) or facts.output_text)

    def _listed(self, value: JsonValue) -> tuple[MessageFacts, ...] | None:
        if not isinstance(value, list):
            return None
        return self._messages.read([_public(item) for item in value], Role.USER)

    def _found(self, value: JsonValue, depth: int = 0) -> tuple[MessageFacts, ...]:
        """The first list of messages at any place among the inputs or outputs of a pipeline's components."""
        if isinstance(value, list) and value and _is_message(value[0]):
            return self._listed(value) or ()
        if isinstance(value, dict) and depth < _MOST_NESTED:
            for item in value.values():
                found = self._found(item, depth + 1)
                if found:
                    return found
        return ()


def _value(span: Span, keys: tuple[str, ...]) -> JsonValue:
    return first_at(span.attributes, *keys)


def _is_message(item: JsonValue) -> bool:
    if isinstance(item, str):
        return item.startswith(MESSAGE)
    return isinstance(item, dict) and ("_role" in item or ("role" in item and "content" in item))


def _public(message: JsonValue) -> JsonValue:
    """A message that was dumped field by field, without the underscores of its private fields."""
    return {key.lstrip("_"): item for key, item in message.items()} if isinstance(message, dict) else message


def _counted(counts: JsonValue, conversation: tuple[MessageFacts, ...]) -> tuple[Tool, ...] | None:
    """The tools whose calls were counted, without those that the agent didn't have."""
    if not isinstance(counts, Mapping):
        return None
    refused = (_UNKNOWN_TOOL.match(message.text or "") for message in conversation if message.failed)
    unknown = {found.group(1) for found in refused if found is not None}
    return tuple(Tool(name=name) for name in counts if name not in unknown) or None
