"""smolagents' own shapes: its memory as text, its agents' tools as names, its tools' arguments in a wrapper.

The model is shown its own earlier calls as text (`Calling tools:` and a Python list) and results in the user's role,
several messages of one role as one.  Agents that an agent may call
are offered to the model as tools, but stand on the agent's span alone.  An agent that writes code leaves no calls with
the model's answers; what its code executed has spans.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from evaluators.cases import JsonValue, Role, Tool
from processors.conventions.decoding.calls import call_of
from processors.conventions.decoding.definitions import distinct
from processors.conventions.decoding.messages import Messages
from processors.conventions.decoding.values import as_object, data, flattened, text_at
from processors.conventions.dialects.openinference import INPUT, TOOL_PARAMETERS
from processors.conventions.facts import CallFacts, Kind, MessageFacts, SpanFacts
from processors.conventions.frameworks.framework import Framework
from processors.otlp import Span

PREFIX = "smolagents."
TOOL_NAMES = "smolagents.tools_names"
MANAGED_AGENTS = "smolagents.managed_agents."
CODE = "python_interpreter"
_CALLING, _TASK, _OBSERVED, _FAILED = "Calling tools:\n", "New task:\n", "Observation:\n", "Error:\n"
_WRAPPER = "sanitize_inputs_outputs"


class Smolagents(Framework):
    """What smolagents writes in shapes of its own."""

    def __init__(self, messages: Messages) -> None:
        super().__init__(messages)
        self._memory: dict[tuple[str, Role], tuple[MessageFacts, ...]] = {}

    def knows(self, span: Span, facts: SpanFacts) -> bool:
        """Whether the span is an agent's or a tool's of smolagents, or a model call that is shown its memory."""
        if facts.kind is Kind.LLM:
            return any(_is_memory(message) for message in facts.input or ())
        if facts.kind is Kind.TOOL:
            given = span.attributes.get(INPUT)
            return isinstance(given, str) and _WRAPPER in given
        return facts.kind is Kind.AGENT and any(key.startswith(PREFIX) for key in span.attributes)

    def refined(self, span: Span, facts: SpanFacts) -> SpanFacts:
        """The facts with calls, tools and arguments."""
        if facts.kind is Kind.LLM:
            given = facts.input or ()
            recalled = tuple(part for message in given for part in self._recalled(message))
            return replace(facts, input=recalled, in_code=any(_ran_code(message) for message in given))
        if facts.kind is Kind.TOOL and facts.tool is not None:
            return replace(facts, tool=replace(facts.tool, arguments=_arguments(span.attributes, facts.tool.arguments)))
        return replace(
            facts,
            agent_name=facts.agent_name or span.name.removesuffix(".run"),
            tools=distinct(_offered(span.attributes)) or facts.tools,
        )

    def _recalled(self, message: MessageFacts) -> tuple[MessageFacts, ...]:
        if message.calls or not message.text or message.role is Role.SYSTEM:
            return (message,)
        key = (message.text, message.role)
        known = self._memory.get(key)
        if known is None:
            known = self._memory[key] = _steps(message, message.text)
        return known


def _is_memory(message: MessageFacts) -> bool:
    text = message.text or ""
    if message.role is Role.ASSISTANT:
        return not message.calls and _CALLING in text
    return message.role is not Role.SYSTEM and text.startswith((_TASK, _OBSERVED, _FAILED))


def _ran_code(message: MessageFacts) -> bool:
    """Whether the framework remembers having executed what the model wrote."""
    _, marked, listed = (message.text or "").partition(_CALLING)
    return bool(marked) and message.role is Role.ASSISTANT and f"'name': '{CODE}'" in listed


def _steps(message: MessageFacts, text: str) -> tuple[MessageFacts, ...]:
    """A message of an agent's memory as what it was made of; several of one role may have been made one."""
    if message.role is Role.ASSISTANT:
        said, marked, listed = text.partition(_CALLING)
        calls = tuple(_called(data(listed.strip()))) if marked else ()
        return (replace(message, text=said.strip(), calls=calls),) if calls else (message,)
    if message.role is Role.TOOL:
        return (replace(message, text=text.removeprefix(_OBSERVED)),)
    task, failed, told = text.partition(f"\n{_FAILED}")
    if text.startswith(_OBSERVED):
        return (replace(message, role=Role.TOOL, text=text.removeprefix(_OBSERVED)),)
    if text.startswith(_FAILED):
        return (replace(message, role=Role.TOOL, text=text.removeprefix(_FAILED), failed=True),)
    if failed and text.startswith(_TASK):
        return (replace(message, text=task), MessageFacts(role=Role.TOOL, text=told, failed=True))
    return (message,)


def _called(listed: JsonValue) -> Iterable[CallFacts]:
    """The calls in a list of them; code to run is what the model said already, and no call that it asked for."""
    calls = (call_of(item) for item in listed if isinstance(item, dict)) if isinstance(listed, list) else ()
    return (call for call in calls if call.name and call.name != CODE)


def _offered(attributes: Mapping[str, JsonValue]) -> Iterable[Tool]:
    names = data(attributes.get(TOOL_NAMES))
    yield from (Tool(name=name) for name in names or () if isinstance(name, str)) if isinstance(names, list) else ()
    for agent in flattened(attributes, MANAGED_AGENTS):
        name = text_at(agent, "name")
        if name is not None:
            yield Tool(name=name, description=text_at(agent, "description"))


def _arguments(attributes: Mapping[str, JsonValue], arguments: JsonValue) -> JsonValue:
    """Arguments by name: those given by place take the names that the tool's inputs have in order."""
    given = as_object(attributes.get(INPUT))
    places, named = given.get("args"), given.get("kwargs")
    names = list(as_object(attributes.get(TOOL_PARAMETERS)))
    if not isinstance(places, list) or not places or len(names) < len(places):
        return arguments
    return {**dict(zip(names, places, strict=False)), **(named if isinstance(named, dict) else {})}
