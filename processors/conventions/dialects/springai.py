"""Spring AI: the observations of its chat clients, advisors and tools as spans, `spring.ai.*`.

What its model calls say besides is in the GenAI conventions, and is read there; they never hold messages. Lists are
JSON texts.  A tool's own span carries its definition with the schema, of a model call only the offered names are told.
"""

from __future__ import annotations

from dataclasses import replace

from evaluators.cases import Tool
from processors.conventions.decoding.definitions import as_schema
from processors.conventions.decoding.values import text_at
from processors.conventions.facts import Kind, SpanFacts
from processors.conventions.steps import Step, StepReader
from processors.otlp import Span

KIND = "spring.ai.kind"
OFFERED = "spring.ai.model.request.tool.names"
CONVERSATION = "spring.ai.chat.client.conversation.id"
TOOL_NAME = "spring.ai.tool.definition.name"
TOOL_DESCRIPTION = "spring.ai.tool.definition.description"
TOOL_SCHEMA = "spring.ai.tool.definition.schema"
ARGUMENTS = "spring.ai.tool.call.arguments"
RESULT = "spring.ai.tool.call.result"

_KINDS = {"tool_call": Kind.TOOL, "chat_client": Kind.AGENT, "advisor": Kind.CHAIN}


class SpringAI(StepReader):
    """The reader of Spring AI's own attributes."""

    name = "spring-ai"
    marks: tuple[bytes, ...] = (b"spring.ai.",)
    keys = (KIND, OFFERED, TOOL_NAME)

    def read(self, span: Span) -> SpanFacts:
        """What the span says."""
        facts, attributes = super().read(span), span.attributes
        name, schema = text_at(attributes, TOOL_NAME), as_schema(attributes.get(TOOL_SCHEMA))
        if name is None or schema is None:
            return facts
        described = Tool(name=name, description=text_at(attributes, TOOL_DESCRIPTION), parameters=schema)
        return replace(facts, tools=(described,))

    def step(self, span: Span) -> Step:
        """The step that the span is of."""
        attributes = span.attributes
        named = text_at(attributes, KIND) or ""
        kind = _KINDS.get(named, Kind.LLM if OFFERED in attributes else Kind.OTHER)
        return Step(
            kind=kind,
            name=text_at(attributes, TOOL_NAME),
            given=attributes.get(ARGUMENTS),
            answered=attributes.get(RESULT),
            definitions=attributes.get(OFFERED),
            description=text_at(attributes, TOOL_DESCRIPTION),
        )
