"""Haystack's own tracing: `haystack.pipeline.*`, `haystack.component.*`, `haystack.agent.*`, as JSON texts.

Content is on the spans of components, agents and their steps if Haystack's content tracing is on; tools that an agent
has are there always.  Spans of components other than generators are chains.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from evaluators.cases import JsonValue
from processors.conventions.decoding.definitions import tools_of
from processors.conventions.decoding.values import as_object, text_at
from processors.conventions.facts import Kind, SpanFacts
from processors.conventions.steps import Step, StepReader
from processors.otlp import Span

PREFIX = "haystack."
PIPELINE_INPUT, PIPELINE_OUTPUT = "haystack.pipeline.input_data", "haystack.pipeline.output_data"
COMPONENT_TYPE = "haystack.component.type"
COMPONENT_INPUT, COMPONENT_OUTPUT = "haystack.component.input", "haystack.component.output"
AGENT_INPUT, AGENT_OUTPUT = "haystack.agent.input", "haystack.agent.output"
AGENT_TOOLS = "haystack.agent.tools"
LLM_INPUT, LLM_OUTPUT = "haystack.agent.step.llm.input", "haystack.agent.step.llm.output"
TOOL_INPUT, TOOL_OUTPUT = "haystack.agent.step.tool.input", "haystack.agent.step.tool.output"
TOOL_NAME, TOOL_DESCRIPTION, TOOL_FAILED = "haystack.tool.name", "haystack.tool.description", "haystack.tool.error"

_PLACES = {
    Kind.AGENT: (AGENT_INPUT, AGENT_OUTPUT),
    Kind.TOOL: (TOOL_INPUT, TOOL_OUTPUT),
    Kind.CHAIN: (PIPELINE_INPUT, PIPELINE_OUTPUT),
}


class HaystackTracing(StepReader):
    """The reader of Haystack's own spans."""

    name = "haystack"
    marks: tuple[bytes, ...] = (b"haystack.agent.", b"haystack.component.", b"haystack.pipeline.", b"haystack.tool.")

    def reads(self, span: Span) -> bool:
        """Whether the span is a pipeline's, a component's, an agent's or one of its steps'."""
        return any(key.startswith(PREFIX) for key in span.attributes)

    def step(self, span: Span) -> Step:
        """The step that the span is of."""
        attributes = span.attributes
        kind = _kind(span.name, attributes)
        if kind is Kind.LLM:
            is_step = LLM_INPUT in attributes or LLM_OUTPUT in attributes
            given, answered = (LLM_INPUT, LLM_OUTPUT) if is_step else (COMPONENT_INPUT, COMPONENT_OUTPUT)
        else:
            given, answered = _PLACES[kind]
        return Step(
            kind=kind,
            name=text_at(attributes, TOOL_NAME) if kind is Kind.TOOL else None,
            given=attributes.get(given),
            answered=attributes.get(answered),
            description=text_at(attributes, TOOL_DESCRIPTION),
            error=_failure(attributes) if kind is Kind.TOOL else None,
        )

    def read(self, span: Span) -> SpanFacts:
        """What the span says."""
        facts = super().read(span)
        if facts.kind is Kind.LLM:
            return replace(facts, hidden=facts.input is None)
        defined = span.attributes.get(AGENT_TOOLS)
        return replace(facts, tools=tools_of(defined)) if defined is not None else facts


def _kind(name: str, attributes: Mapping[str, JsonValue]) -> Kind:
    if TOOL_NAME in attributes:
        return Kind.TOOL
    if name == "haystack.agent.step.llm" or LLM_INPUT in attributes:
        return Kind.LLM
    component = text_at(attributes, COMPONENT_TYPE)
    if component is not None:
        return Kind.LLM if component.endswith("Generator") else Kind.CHAIN
    return Kind.AGENT if AGENT_TOOLS in attributes or AGENT_INPUT in attributes else Kind.CHAIN


def _failure(attributes: Mapping[str, JsonValue]) -> str | None:
    if attributes.get(TOOL_FAILED) is not True:
        return None
    return text_at(as_object(attributes.get(TOOL_OUTPUT)), "error") or ""
