"""LlamaIndex's own shapes: its messages with blocks, and the events of its agent workflows, as JSON.

Its workflow leaves a span per step, named by class.  The step that executed a call holds the call with its result, also
where the tool failed or doesn't exist and has no span of its own; the step that ended the run holds the last message.
A model call's span holds the request as LlamaIndex made it, with calls and definitions of tools that the convention's
own attributes beside it have lost.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from evaluators.cases import JsonValue, Role
from processors.conventions.decoding.bodies import request_tools
from processors.conventions.decoding.conversations import last_words
from processors.conventions.decoding.results import result_text
from processors.conventions.decoding.values import as_object, first_at, text_at
from processors.conventions.dialects.openinference import OUTPUT
from processors.conventions.dialects.traceloop import ENTITY_INPUT, ENTITY_OUTPUT
from processors.conventions.facts import Kind, MessageFacts, SpanFacts, ToolFacts
from processors.conventions.frameworks.framework import Framework
from processors.otlp import Span

_MARKS = ('"blocks"', '"tool_kwargs"')
_TOOL_OUTPUT = ('"blocks"', '"raw_output"', '"tool_name"')
_STEPS = (Kind.CHAIN, Kind.WORKFLOW, Kind.OTHER)


class LlamaIndex(Framework):
    """What LlamaIndex writes in shapes of its own."""

    def knows(self, span: Span, facts: SpanFacts) -> bool:
        """Whether the span holds a message or an event of LlamaIndex."""
        attributes = span.attributes
        if facts.kind is Kind.TOOL:
            answered = attributes.get(OUTPUT)
            return isinstance(answered, str) and all(mark in answered for mark in _TOOL_OUTPUT)
        values = (attributes.get(ENTITY_INPUT), attributes.get(ENTITY_OUTPUT))
        return facts.kind in (*_STEPS, Kind.LLM) and any(
            isinstance(value, str) and any(mark in value for mark in _MARKS) for value in values
        )

    def refined(self, span: Span, facts: SpanFacts) -> SpanFacts:
        """The facts with what message or event says."""
        if facts.kind is Kind.TOOL:
            told = _executed({}, as_object(span.attributes.get(OUTPUT)))
            return replace(facts, tool=_unwrapped(facts.tool, told)) if facts.tool is not None and told else facts
        asked, answered = as_object(span.attributes.get(ENTITY_INPUT)), as_object(span.attributes.get(ENTITY_OUTPUT))
        if facts.kind is Kind.LLM:
            return self._model_call(asked, answered, facts)
        executed = _executed(asked, answered)
        if executed is not None:
            return replace(facts, kind=Kind.TOOL, tool=executed, input_text=None, output_text=None)
        result = answered.get("result")
        said = last_words(self._said(first_at(result, "response") if isinstance(result, dict) else None))
        return replace(facts, output_text=said) if said is not None else facts

    def _model_call(
        self, asked: Mapping[str, JsonValue], answered: Mapping[str, JsonValue], facts: SpanFacts
    ) -> SpanFacts:
        given = self._messages.read(asked.get("messages"), Role.USER)
        said: tuple[MessageFacts, ...] | None = self._said(answered.get("message"))
        if not said and facts.output and not any(message.text or message.calls for message in facts.output):
            # An answer of calls alone, streamed: the convention's attributes have the message and not the calls.
            said = None
        else:
            said = said or facts.output
        return replace(
            facts,
            input=given or facts.input,
            output=said,
            tools=facts.tools or request_tools(asked.get("kwargs")),
        )

    def _said(self, message: JsonValue) -> tuple[MessageFacts, ...]:
        return (self._messages.read(message, Role.ASSISTANT) or ()) if isinstance(message, dict) else ()


def _unwrapped(tool: ToolFacts, told: ToolFacts) -> ToolFacts:
    """An execution with its result taken out of LlamaIndex's object."""
    return replace(tool, result=told.result, error=tool.error if tool.error is not None else told.error)


def _executed(asked: Mapping[str, JsonValue], answered: Mapping[str, JsonValue]) -> ToolFacts | None:
    """The execution that a step's output tells of: the event with call and result, or a tool's output by itself."""
    output = answered.get("tool_output")
    if isinstance(output, dict) and "tool_kwargs" in answered:
        return _tool(output, text_at(answered, "tool_name"), answered.get("tool_kwargs"), text_at(answered, "tool_id"))
    if "raw_output" in answered and "tool_name" in answered:
        raw = as_object(answered.get("raw_input"))
        return _tool(answered, text_at(answered, "tool_name"), first_at(asked, "kwargs") or raw.get("kwargs"), None)
    return None


def _tool(output: Mapping[str, JsonValue], name: str | None, arguments: JsonValue, call_id: str | None) -> ToolFacts:
    text, _ = result_text(first_at(output, "blocks", "content", "raw_output"))
    error = (text or "") if output.get("is_error") is True else None
    return ToolFacts(name=name, call_id=call_id, arguments=arguments, result=text, error=error)
