"""Mastra: `mastra.span.type`, `mastra.<type>.input`, `mastra.<type>.output`, beside the GenAI conventions.

A `model_generation` holds a `model_step` per model call, which has messages and calls, and that a `model_inference`,
which the conventions tell of without them.  In histories calls and results are placeholders after the text, which name
the tool and no more (`[tool: find_book]`): what was asked and came back stands on the spans of the step and the tool.
"""

from __future__ import annotations

import re

from evaluators.cases import JsonValue, Role
from processors.conventions.decoding.values import as_object, first_at, parsed, text_at
from processors.conventions.facts import Kind
from processors.conventions.steps import Step, StepReader
from processors.otlp import Span

TYPE = "mastra.span.type"
AGENT_NAME = "gen_ai.agent.name"
CLIENT_ARGUMENTS = "mastra.metadata.args"
"""Of a call that is left to the application, which is how the framework takes calls of tools that it doesn't know."""

_CHUNK = "model_chunk"
_PLACEHOLDER = re.compile(r"\[tool(?:-result)?: ([^\[\]]*)\]")
_KINDS = {
    "agent_run": Kind.AGENT,
    "workflow_run": Kind.WORKFLOW,
    "model_step": Kind.LLM,
    "tool_call": Kind.TOOL,
    "mcp_tool_call": Kind.TOOL,
    "client_tool_call": Kind.TOOL,
    "provider_tool_call": Kind.TOOL,
    _CHUNK: Kind.BOOKKEEPING,
}


class Mastra(StepReader):
    """The reader of Mastra's own attributes."""

    name = "mastra"
    marks: tuple[bytes, ...] = (b"mastra.span.type",)
    keys = (TYPE,)

    def step(self, span: Span) -> Step:
        """The step that the span is of."""
        attributes = span.attributes
        named = text_at(attributes, TYPE) or ""
        kind = _KINDS.get(named, Kind.CHAIN)
        given = first_at(attributes, f"mastra.{named}.input", CLIENT_ARGUMENTS)
        answered = attributes.get(f"mastra.{named}.output")
        if kind is Kind.LLM:
            given, answered = _messages(given), _message(answered)
        elif kind is Kind.AGENT:
            given, answered = {"messages": parsed(given)}, first_at(as_object(answered), "text")
        name = text_at(attributes, AGENT_NAME) if kind is Kind.AGENT else span.name.removeprefix(f"{named} ")
        return Step(kind=kind, name=name, given=given, answered=answered)


def _message(answered: JsonValue) -> JsonValue:
    """The answer of a model, which is written without a role."""
    found = as_object(answered)
    if not found:
        return answered
    return {"role": "assistant", "content": found.get("text"), "toolCalls": found.get("toolCalls")}


def _messages(given: JsonValue) -> JsonValue:
    """The history, with calls and results in place of their placeholders."""
    decoded = parsed(given)
    return [told for item in decoded for told in _told(item)] if isinstance(decoded, list) else decoded


def _told(message: JsonValue) -> list[JsonValue]:
    content, role = as_object(message).get("content"), as_object(message).get("role")
    if not isinstance(content, str) or role not in (Role.ASSISTANT, Role.TOOL):
        return [message]
    text, names = _split(content)
    if role == Role.TOOL and names:
        return [{"role": role, "name": name, "content": None} for name in names]
    calls: list[JsonValue] = [{"name": name, "arguments": None} for name in names]
    return [{"role": role, "content": text, "tool_calls": calls}] if names else [message]


def _split(content: str) -> tuple[str, list[str]]:
    """A text, and the names in the placeholders at its end."""
    names: list[str] = []
    end = len(content)
    while (start := content.rfind("[", 0, end)) >= 0:
        found = _PLACEHOLDER.fullmatch(content, start, end)
        if found is None:
            break
        names.append(found[1])
        end = start
    return content[:end], names[::-1]
