"""Pydantic AI's own attributes, beside the GenAI conventions that its versions follow to different degrees.

Its first format keeps messages as lists of events in one attribute, and a tool's arguments and response under names of
its own; all formats keep an agent's whole conversation on the agent's span.
"""

from __future__ import annotations

from collections.abc import Mapping

from evaluators.cases import JsonValue, Role, Tool
from processors.conventions.decoding.conversations import exchanged
from processors.conventions.decoding.cut import is_cut, whole_json
from processors.conventions.decoding.definitions import distinct, tools_of
from processors.conventions.decoding.message_events import listed, told_in
from processors.conventions.decoding.values import as_list, as_object, as_text, text_at
from processors.conventions.executions import execution_on
from processors.conventions.facts import Kind, MessageFacts, SpanFacts, ToolFacts
from processors.conventions.failures import error_of, is_cancelled
from processors.conventions.reader import Reader
from processors.otlp import Span

EVENTS = "events"
ALL_EVENTS = "all_messages_events"
ALL_MESSAGES = "pydantic_ai.all_messages"
FINAL_RESULT = "final_result"
AGENT_NAME = ("gen_ai.agent.name", "agent_name")
REQUEST_PARAMETERS = "model_request_parameters"
TOOL_NAME = "gen_ai.tool.name"
TOOL_CALL_ID = "gen_ai.tool.call.id"
TOOL_ARGUMENTS = "tool_arguments"
TOOL_RESPONSE = "tool_response"

_AGENT_KEYS = (ALL_MESSAGES, ALL_EVENTS, FINAL_RESULT)
_TOOL_KEYS = (TOOL_ARGUMENTS, TOOL_RESPONSE)


class PydanticAI(Reader):
    """The reader of Pydantic AI's own attributes."""

    name = "pydantic_ai"
    marks: tuple[bytes, ...] = (b"pydantic_ai.", b"all_messages_events", b"model_request_parameters")

    def reads(self, span: Span) -> bool:
        """Whether the span has one of these attributes, beside what says that it is about a model."""
        attributes = span.attributes
        if any(key in attributes for key in (ALL_MESSAGES, ALL_EVENTS, REQUEST_PARAMETERS)):
            return True
        if FINAL_RESULT in attributes and "agent_name" in attributes:
            return True
        if TOOL_NAME in attributes and any(key in attributes for key in _TOOL_KEYS):
            return True
        return bool(EVENTS in attributes and listed(attributes[EVENTS]))

    def read(self, span: Span) -> SpanFacts:
        """What the span says."""
        attributes = span.attributes
        kind = _kind(attributes)
        given, answered = self._told(attributes)
        return SpanFacts(
            kind=kind,
            dialect=self.name,
            input=given,
            output=answered,
            output_text=as_text(attributes.get(FINAL_RESULT)) if kind is Kind.AGENT else None,
            tools=_offered(attributes.get(REQUEST_PARAMETERS)) if kind is Kind.LLM else None,
            tool=self._tool(span) if kind is Kind.TOOL else None,
            agent_name=text_at(attributes, *AGENT_NAME) if kind is Kind.AGENT else None,
            error=error_of(span),
            truncated=any(is_cut(attributes.get(key), self._limit) for key in (EVENTS, ALL_EVENTS, ALL_MESSAGES)),
            partial=is_cancelled(span),
        )

    def _told(
        self, attributes: Mapping[str, JsonValue]
    ) -> tuple[tuple[MessageFacts, ...] | None, tuple[MessageFacts, ...] | None]:
        if EVENTS in attributes:
            return told_in(listed(attributes[EVENTS]), self._messages)
        everything: tuple[MessageFacts, ...] | None = None
        if ALL_EVENTS in attributes:
            everything, last = told_in(listed(attributes[ALL_EVENTS]), self._messages)
            everything = (*(everything or ()), *(last or ()))
        elif ALL_MESSAGES in attributes:
            everything = self._messages.read(as_list(whole_json(attributes[ALL_MESSAGES])), Role.USER)
        before, after = exchanged(everything or ())
        return before or None, after or None

    def _tool(self, span: Span) -> ToolFacts:
        attributes = span.attributes
        return execution_on(
            span,
            name=text_at(attributes, TOOL_NAME),
            call_id=text_at(attributes, TOOL_CALL_ID),
            given=attributes.get(TOOL_ARGUMENTS),
            answered=attributes.get(TOOL_RESPONSE),
            limit=self._limit,
        )


def _kind(attributes: Mapping[str, JsonValue]) -> Kind:
    if any(key in attributes for key in _AGENT_KEYS):
        return Kind.AGENT
    return Kind.TOOL if any(key in attributes for key in _TOOL_KEYS) else Kind.LLM


def _offered(parameters: JsonValue) -> tuple[Tool, ...] | None:
    described = as_object(parameters)
    found = [tools_of(described.get(key)) for key in ("function_tools", "output_tools")]
    tools = distinct(tool for each in found for tool in each or ())
    return tools or None
