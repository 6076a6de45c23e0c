"""VoltAgent: `entity.type`, `entity.name`, `span.type`, `agent.*`, `llm.*`, `tool.*`, `input`, `output`.

A span of type `llm` stands for all model calls of an agent's run: it has the messages of the first one and no answers.
So calls are known from the tools' own spans, and the tools with their schemas from the agent's state.  On tools' spans
`tool.parameters` is the schema, not what the tool was called with.
"""

from __future__ import annotations

from dataclasses import replace

from evaluators.cases import Role
from processors.conventions.decoding.definitions import tools_of
from processors.conventions.decoding.values import as_object, parsed, text_at
from processors.conventions.facts import Kind, SpanFacts
from processors.conventions.steps import Step, StepReader
from processors.otlp import Span

ENTITY = "entity.type"
RUN = "operation.id"
NAMES = ("subagent.name", "entity.name")
TYPE = "span.type"
CONVERSATION = "conversation.id"
INSTRUCTIONS = "agent.instructions"
MESSAGES = "agent.messages"
STATE = "agent.stateSnapshot"
TOOL_NAME = "tool.name"
TOOL_CALL_ID = "tool.call.id"
TOOL_DESCRIPTION = "tool.description"
INPUT = "input"
OUTPUT = "output"

_KINDS = {"tool": Kind.TOOL, "agent": Kind.AGENT, "workflow": Kind.WORKFLOW}


class VoltAgent(StepReader):
    """The reader of VoltAgent's attributes."""

    name = "voltagent"
    marks: tuple[bytes, ...] = (b"entity.type",)

    def reads(self, span: Span) -> bool:
        """Whether the span says which entity it is of, and in which of its runs."""
        return ENTITY in span.attributes and RUN in span.attributes

    def read(self, span: Span) -> SpanFacts:
        """What the span says."""
        facts, attributes = super().read(span), span.attributes
        facts = replace(facts, session_id=text_at(attributes, CONVERSATION) or facts.session_id)
        if facts.kind is not Kind.AGENT:
            return facts
        told = text_at(attributes, INSTRUCTIONS)
        return replace(
            facts,
            input=self._messages.read(parsed(attributes.get(MESSAGES)), Role.USER),
            system=(told,) if told else None,
            tools=tools_of(as_object(attributes.get(STATE)).get("tools")),
        )

    def step(self, span: Span) -> Step:
        """The step that the span is of."""
        attributes = span.attributes
        kind = _KINDS.get(text_at(attributes, TYPE) or "", Kind.CHAIN)
        if TYPE not in attributes:
            kind = _KINDS.get(text_at(attributes, ENTITY) or "", Kind.CHAIN)
        return Step(
            kind=kind,
            name=text_at(attributes, TOOL_NAME) if kind is Kind.TOOL else text_at(attributes, *NAMES),
            given=attributes.get(INPUT),
            answered=attributes.get(OUTPUT),
            call_id=text_at(attributes, TOOL_CALL_ID),
            description=text_at(attributes, TOOL_DESCRIPTION),
        )
