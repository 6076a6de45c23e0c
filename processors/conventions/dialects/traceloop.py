"""Traceloop / OpenLLMetry: `traceloop.span.kind`, `traceloop.entity.name`, `.input`, `.output`.

Its spans of workflows, agents, tasks and tools.  What its instrumentations say of model calls is in the GenAI
conventions, old or new, and is read there; that it is one, older versions say in `llm.request.type` alone.

Things seen in the wild that this reader knows: the output is a JSON text, so a tool that returns JSON is encoded twice;
the input of a decorated function is `{"args": [...], "kwargs": {...}}`, that of a LangChain tool holds the repr of its
arguments; hand-offs are a kind of span of their own; names end with the kind (`get_weather.tool`); executions told as
tasks go by the class of the tool, so that only the message they returned names it.
"""

from __future__ import annotations

from processors.conventions.decoding.values import text_at
from processors.conventions.facts import Kind
from processors.conventions.steps import Step, StepReader
from processors.otlp import Span

SPAN_KIND = "traceloop.span.kind"
ENTITY_NAME = "traceloop.entity.name"
ENTITY_INPUT = "traceloop.entity.input"
ENTITY_OUTPUT = "traceloop.entity.output"
REQUEST_TYPE = "llm.request.type"

OPERATION = "gen_ai.operation.name"

_CALLED = '{"args": ['
"""How the input of a decorated function begins; frameworks' own tasks have other inputs."""
_MODEL_REQUESTS = ("chat", "completion", "response", "responses")
_KINDS = {
    "workflow": Kind.WORKFLOW,
    "agent": Kind.AGENT,
    "task": Kind.CHAIN,
    "tool": Kind.TOOL,
    "handoff": Kind.HANDOFF,
    "llm": Kind.LLM,
}


class Traceloop(StepReader):
    """The reader of Traceloop's own attributes."""

    name = "traceloop"
    marks: tuple[bytes, ...] = (b"traceloop.",)
    keys = (SPAN_KIND, ENTITY_INPUT, ENTITY_OUTPUT, REQUEST_TYPE)

    def step(self, span: Span) -> Step:
        """The step that the span is of."""
        attributes = span.attributes
        named = text_at(attributes, SPAN_KIND) or ""
        kind = _KINDS.get(named.lower(), Kind.OTHER)
        if attributes.get(REQUEST_TYPE) in _MODEL_REQUESTS:
            kind = Kind.LLM
        elif attributes.get(OPERATION) == "execute_tool":
            kind = Kind.TOOL
        given = attributes.get(ENTITY_INPUT)
        name = text_at(attributes, ENTITY_NAME) or span.name.removesuffix(f".{named}")
        return Step(
            kind=kind,
            name="" if kind is Kind.TOOL and named == "task" else name,
            given=given,
            answered=attributes.get(ENTITY_OUTPUT),
            is_function=kind is Kind.CHAIN and isinstance(given, str) and given.startswith(_CALLED),
        )
